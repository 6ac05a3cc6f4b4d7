//go:build cgo && (amd64 || 386)

package encode

import "github.com/gen2brain/x264-go/x264c"

// assemblyName names the widest instructions that x264 found, "" for none.
func assemblyName(cpu uint32) string {
	for _, level := range []struct {
		flag uint32
		name string
	}{
		{x264c.CpuAvx512, "AVX-512"}, {x264c.CpuAvx2, "AVX2"}, {x264c.CpuAvx, "AVX"},
		{x264c.CpuSse42, "SSE4.2"}, {x264c.CpuSsse3, "SSSE3"}, {x264c.CpuSse2, "SSE2"},
	} {
		if cpu&level.flag != 0 {
			return level.name
		}
	}
	return ""
}
