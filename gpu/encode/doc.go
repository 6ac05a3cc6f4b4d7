// Package encode turns pictures into H.264 access units. Open gives the best
// encoder that this build has; today that is x264.
//
// An encoder is loaded with a picture and then ordered to encode it, once or
// several times: the second time at a sharper QP is how a still screen is
// refined without another capture, and how a picture that came out too large
// for the link is encoded again after Drop took it back. Color conversion
// (BT.709, limited range) happens in Load and touches the rows and the columns of
// macroblocks that changed; other threads help with large pictures.
//
// The converter is our own: libyuv goes from BGRA only to BT.601, and in one
// run with its conversion to that (1.1 ms a 1080p picture) ours with AVX2 took
// 1.25, without vectors 3.0.
//
// Build tags: a bare build compiles the slow bundled C of x264; the tags
// extlib,pkgconfig link the system's libx264, which has its assembly.
// Without cgo Open returns an error wrapping errors.ErrUnsupported.
package encode
