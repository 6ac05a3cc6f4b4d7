package lab

import (
	"slices"

	"nearglass/cc"
	"nearglass/cc/rate"
)

// Kinds lists the controllers that can be run anywhere.
func Kinds() []Kind {
	return append([]Kind{Ours("ours", 0), AIMD, Fixed(9 * rate.Mbps)}, Ablation()...)
}

// KindOf finds a kind by name.
func KindOf(name string) (Kind, bool) {
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

// Fixed makes the controller of a fixed rate, to check the lab itself with.
func Fixed(target rate.Rate) Kind {
	return Kind{Name: "fixed", New: func(Setup) controller {
		c, err := cc.NewConstant(cc.ConstantConfig{Target: target})
		if err != nil {
			panic(err) // a mistake in a scenario
		}
		return c
	}}
}
