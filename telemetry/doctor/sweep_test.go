package doctor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"nearglass/telemetry/doctor"
)

// TestUnseen plays severities and pairs that no case has, drawn by chance.
func TestUnseen(t *testing.T) {
	if !*thorough {
		t.Skip("it takes minutes; -thorough plays it")
	}
	const pairs = 100
	r := rand.New(rand.NewPCG(424242, 3))
	draw := func() (doctor.Fault, scene) {
		name := all[r.IntN(len(all))]
		c := load[faultCase](t, string(name)+".json")
		least, most := c.Amounts[0], c.Amounts[len(c.Amounts)-1]
		return name, c.Scenes[r.IntN(len(c.Scenes))].with(least * math.Pow(most/least, r.Float64()))
	}
	for i := range pairs {
		a, first := draw()
		b, second := draw()
		if a == b {
			second = scene{} // one alone
		}
		s := first.and(second)
		if found := diagnose(s, uint64(1000+i)); len(found) == 0 || found[0].Fault != a && found[0].Fault != b {
			t.Errorf("%s and %s (%s) %v: found%s", a, b, s.Source, s.Faults, names(found))
		}
	}
}
