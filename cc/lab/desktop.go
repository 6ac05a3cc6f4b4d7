package lab

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nearglass/cc/rate"
)

// desktopText holds the sizes of pictures that the project's encoder made of
// desktop content at one quality, clip by clip; its header says how.
//
//go:embed testdata/desktop.txt
var desktopText string

// clips maps a clip's name to its pictures at 60 a second, each as a share of
// the encoder's target: rate control makes the average picture of full motion
// fill it. 0 means that nothing changed.
var clips = sync.OnceValue(func() map[string][]float64 {
	parsed, err := parseClips(desktopText)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return parsed
})

// The clips of full motion, which rate control brings to the target, each by
// itself. The rest is measured by the first.
var motionClips = []string{"scroll", "animation"}

// mostShare bounds a picture: rate control coarsens a scene change until it is
// about ten times the usual.
const mostShare = 10

// parseClips reads lines of "name size size ...". Empty ones and those that
// begin with # are comments. A clip may go on over several lines.
func parseClips(text string) (map[string][]float64, error) {
	out := map[string][]float64{}
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		for _, f := range fields[1:] {
			v, err := strconv.Atoi(f)
			if err != nil || v < 0 {
				return nil, fmt.Errorf("read clips: line %d: %q is not a size", i+1, f)
			}
			out[fields[0]] = append(out[fields[0]], float64(v))
		}
	}
	usual := average(out[motionClips[0]])
	if usual == 0 {
		return nil, fmt.Errorf("read clips: there is no clip %q", motionClips[0])
	}
	for name, sizes := range out {
		by := usual
		if slices.Contains(motionClips, name) {
			by = average(sizes)
		}
		for i := range sizes {
			sizes[i] = min(sizes[i]/by, mostShare)
		}
	}
	return out, nil
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// Recorded shows a recorded clip, from its beginning again when it ends.
type Recorded string

// frame gives the largest picture since the last look.
func (c Recorded) frame(last, now time.Duration, target rate.Rate, _ *rand.Rand) int {
	share := c.at(now)
	for t := max(last+frameInterval, now-time.Second); t < now; t += frameInterval {
		share = max(share, c.at(t))
	}
	if share == 0 {
		return 0
	}
	return max(1, int(share*float64(target.Bytes(frameInterval))))
}

// at gives the picture at a time.
func (c Recorded) at(t time.Duration) float64 {
	sizes := clips()[string(c)]
	return sizes[int(max(t, 0)/frameInterval)%len(sizes)]
}

func (c Recorded) share(from, to time.Duration) float64 {
	sum, n := 0.0, 0
	for t := from; t < to; t += frameInterval {
		sum += c.at(t)
		n++
	}
	return sum / float64(max(1, n))
}

// moves of a clip without motion is never.
func (c Recorded) moves() time.Duration {
	if slices.Contains(motionClips, string(c)) {
		return 0
	}
	return never
}

// Desktop is a spell of desktop work over a minute and more: typing, then
// scrolling and animations with a scene change before each.
func Desktop() Play {
	var p Play
	t := time.Duration(0)
	add := func(c Content, d time.Duration) {
		p = append(p, Act{t, c})
		t += d
	}
	add(Recorded("typing"), 2*time.Second)
	for range 80 {
		add(Once(mostShare), frameInterval)
		add(Recorded("scroll"), 2*time.Second)
		add(Once(mostShare), frameInterval)
		add(Recorded("animation"), 2*time.Second)
	}
	return p
}

// Once is a single picture of so many times the target's.
type Once float64

func (o Once) frame(last, _ time.Duration, target rate.Rate, _ *rand.Rand) int {
	if last >= 0 {
		return 0
	}
	return int(float64(o) * float64(target.Bytes(frameInterval)))
}

func (o Once) share(from, to time.Duration) float64 {
	if from > 0 || to <= from {
		return 0
	}
	return float64(o) * float64(frameInterval) / float64(to-from)
}

func (Once) moves() time.Duration { return 0 }
