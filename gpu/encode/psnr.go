//go:build cgo

package encode

/*
#include "quiet.h"
*/
import "C"

import "github.com/gen2brain/x264-go/x264c"

// measurePSNR has x264 compare each picture with what it makes of it. It does so
// only while it may also talk of it, so that its words need a place to go.
func measurePSNR(p *x264c.Param) {
	p.Analyse.BPsnr = 1
	p.ILogLevel = x264c.LogInfo
	p.PfLog = (*[0]byte)(C.ng_quiet)
}
