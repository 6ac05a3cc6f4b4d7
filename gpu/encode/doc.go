// Package encode turns pictures into H.264 access units. Open gives the best
// encoder that this build has; today that is x264.
//
// An encoder is loaded with a picture and then ordered to encode it, once or
// several times: the second time at a sharper QP is how a still screen is
// refined without another capture. Color conversion (BT.709, limited range)
// happens in Load and touches changed rows only.
//
// Build tags: a bare build compiles the slow bundled C of x264; the tags
// extlib,pkgconfig link the system's libx264, which has its assembly.
// Without cgo Open returns an error wrapping errors.ErrUnsupported.
package encode
