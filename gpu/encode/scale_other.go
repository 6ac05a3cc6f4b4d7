//go:build !cgo

package encode

import "image"

// scaleRect scales a rectangle of the smaller picture that is not empty.
func scaleRect(s *Scaler, src pixels, r image.Rectangle) { scaleGo(s, src, r) }
