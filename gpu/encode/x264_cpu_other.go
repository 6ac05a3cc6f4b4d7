//go:build cgo && !amd64 && !386

package encode

// assemblyName says whether x264 found vector instructions, "" for none.
func assemblyName(cpu uint32) string {
	if cpu == 0 {
		return ""
	}
	return "vector instructions"
}
