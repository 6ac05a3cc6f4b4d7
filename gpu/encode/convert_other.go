//go:build !cgo

package encode

import "image"

const converterName = "Go"

// convert converts a rectangle with even corners.
func convert(dst planes, src pixels, r image.Rectangle) { convertGo(dst, src, r) }
