//go:build cgo && extlib

package encode

const x264Origin = "system library"
