package losslab

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nearglass/server/session"
)

// What bench loss wants of the matrix.
var (
	lossFile   = flag.String("loss", "", "write what became of the streams to this file")
	lossLength = flag.Duration("loss-length", 6*time.Second, "length of each stream")
	lossRounds = flag.Int("loss-rounds", 1, "streams of each sender on each path")
	lossOnly   = flag.String("loss-only", "", "losses, round trips, rates and senders, with commas between; what names none of a kind leaves all of it in")
)

// stream is one of the matrix.
type stream struct {
	cell   Cell
	repair session.Repair
	seed   uint64
}

// chosen lists the streams that only leaves in.
func chosen(only []string) (list []stream) {
	for _, c := range Chosen(only) {
		for _, r := range session.Repairs {
			for seed := range *lossRounds {
				if Wanted(only, string(r), Senders()) {
					list = append(list, stream{c, r, uint64(seed + 1)})
				}
			}
		}
	}
	return list
}

// play streams in virtual time and decodes in real time.
func (s stream) play(t *testing.T) Figures {
	t.Helper()
	var r *Recording
	var err error
	synctest.Test(t, func(*testing.T) { r, err = Play(s.cell, s.repair, *lossLength, s.seed) })
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Judge(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s by %s, %d: %+v", s.cell, s.repair, s.seed, f)
	return f
}

// TestMatrix streams over all paths for bench loss, which runs this with -loss. As a
// test it plays a few, and wants that nothing is wrong and that no loss costs our
// host a key frame.
func TestMatrix(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	list := chosen(strings.Split(*lossOnly, ","))
	if *lossFile == "" {
		list = chosen([]string{"5%", "burst10", "80ms", "2M", "auto", "rtx"})
	}
	all := make([]Figures, len(list))
	t.Run("streams", func(t *testing.T) {
		for i, s := range list {
			t.Run(fmt.Sprint(s.cell, s.repair, s.seed), func(t *testing.T) {
				t.Parallel()
				all[i] = s.play(t)
			})
		}
	})
	if t.Failed() {
		return
	}
	if *lossFile == "" {
		for _, f := range all {
			if f.Wrong > 0 || f.Shown < f.Of/2 || f.Sender == string(session.RepairAuto) && f.Keys > 0 {
				t.Errorf("%+v", f)
			}
		}
		return
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*lossFile, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
