package lab

import "time"

// SVG plots.
func (r *Result) SVG(flow int, from, to time.Duration) []byte { return nil }
