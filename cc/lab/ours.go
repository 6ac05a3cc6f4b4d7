package lab

import "nearglass/cc"

// parts are what the ablation switches off, by what a table calls them.
var parts = []struct {
	name string
	part cc.Part
}{
	{"drain", cc.Drain}, {"share", cc.Share}, {"compete", cc.Compete}, {"loss", cc.Loss}, {"outage", cc.Outage},
	{"probes", cc.Probes}, {"recall", cc.Recall}, {"change", cc.Change}, {"calm", cc.Calm},
}

// Ours is the project's controller, with parts of it switched off.
func Ours(name string, off cc.Part) Kind {
	return Kind{Name: name, New: func(s Setup) controller {
		return cc.New(cc.Config{
			Start: s.Start, Min: s.Min, Max: s.Max, FrameInterval: s.FrameInterval, Memory: s.Memory, Off: off,
		})
	}}
}

// Ablation lists our controller without each of its parts.
func Ablation() []Kind {
	var kinds []Kind
	for _, p := range parts {
		kinds = append(kinds, Ours("no "+p.name, p.part))
	}
	return kinds
}
