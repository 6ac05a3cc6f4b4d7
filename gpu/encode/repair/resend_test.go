package repair

import (
	"testing"
	"time"
)

// after is so many milliseconds after the beginning.
func after(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// flowing is a keeper whose viewer showed all pictures up to one, each 50 ms after it
// left; a picture leaves every 17 ms, from 0 on, and the newest is so many beyond that.
func flowing(shown, beyond int) (k *Keeper, now int) {
	k = New(Config{References: references, Interval: frameTime})
	k.SetRTT(40 * time.Millisecond)
	for ms := 0; ; ms++ {
		if ms%17 == 0 {
			f := uint64(ms/17 + 1)
			k.Coded(f, f-1, 4000)
			k.Left(after(ms), f)
			if int(f) == shown+beyond {
				return k, ms
			}
		}
		if f := uint64((ms-50)/17 + 1); ms >= 50 && (ms-50)%17 == 0 && int(f) <= shown {
			k.Shown(after(ms), f)
		}
	}
}

// TestNudge: where words of the viewer stop and it asks for nothing, the picture that it
// waits for leaves once more, if something was lost shortly before; once, and before the
// viewer would ask again.
func TestNudge(t *testing.T) {
	for name, c := range map[string]struct{ lossy, asks, want bool }{
		"on a clean path":      {false, false, false},
		"on a lossy path":      {true, false, true},
		"the request has come": {true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			k, now := flowing(20, 4)
			if c.lossy {
				k.askedAt = after(now - 500)
			}
			if c.asks {
				k.Missing(after(now), 21, 1100)
			}
			left, nudged := 20*17, 0
			for ms := now; ms < left+150; ms++ {
				k.Decide(after(ms))
				if f := k.Nudge(after(ms)); f > 0 {
					if nudged++; f != 21 || ms < left+50 || ms > left+100 {
						t.Errorf("picture %d left once more %d ms after the first time", f, ms-left)
					}
				}
			}
			if (nudged == 1) != c.want || nudged > 1 {
				t.Errorf("%d pictures left once more", nudged)
			}
		})
	}
}

// TestResendsBesideARepair: what was waited for in vain is sent again as long as the
// viewer asks for it, although a repair is on its way: that may be lost, too. Where a
// repair comes instead of resends, nothing else may be in its way.
func TestResendsBesideARepair(t *testing.T) {
	for name, bytes := range map[string]int{"a packet": 1100, "all": 20_000} {
		t.Run(name, func(t *testing.T) {
			much := bytes > leastWorth
			k, now := flowing(20, 4)
			k.Missing(after(now), 21, bytes)
			k.Resend(after(now), 21)
			var o Order
			for ; o.Kind == None && now < 2000; now++ {
				o = k.Decide(after(now))
			}
			if o.Kind != Reference {
				t.Fatalf("%+v", o)
			}
			k.Coded(25, o.Newest, 9000)
			k.Left(after(now), 25)
			if again := k.Resend(after(now), 21); again == much {
				t.Errorf("sent again: %v", again)
			}
			if owed := k.Needed() < 25; owed == much {
				t.Errorf("needed from %d on", k.Needed())
			}
			k.Shown(after(now+60), 25)
			if k.Needed() != 25 {
				t.Errorf("with the repair there, needed from %d on", k.Needed())
			}
		})
	}
}

// TestNoReferenceLeft: where a repair is not possible any more, what the viewer asks for
// may still come, and a key frame waits for that.
func TestNoReferenceLeft(t *testing.T) {
	for name, asks := range map[string]bool{"it asks": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			k, now := flowing(20, references+4)
			k.SetRTT(300 * time.Millisecond)
			if asks {
				k.Missing(after(now), 21, 1100)
				k.Resend(after(now), 21)
			}
			begin := now
			for ; k.Decide(after(now)).Kind != Key; now++ {
				if now > begin+5000 {
					t.Fatal("nothing helps the viewer")
				}
			}
			if waited := time.Duration(now-begin) * time.Millisecond; asks != (waited >= mostPatience) {
				t.Errorf("a key frame after %v", waited)
			}
		})
	}
}
