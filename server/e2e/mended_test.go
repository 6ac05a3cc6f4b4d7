package e2e

import (
	"image"
	"testing"
	"time"

	"nearglass/server/e2e/desk"
)

// mended is a board that is watched over a path that loses packets.
type mended struct {
	*board
	path    *lossy
	browser *desk.Chromium
	first   *viewer
	viewers []*viewer // all of them
}

// TestRepairsAcross: what else happens to a stream while its losses are repaired by
// reference makes no picture wrong, and costs key frames only for pictures of another
// size.
func TestRepairsAcross(t *testing.T) {
	path := newLossy(t)
	b := path.browser(t, nil)
	small := image.Pt(800, 600)
	for _, c := range []struct {
		name   string
		size   image.Point
		args   []string
		during func(*mended, *testing.T)
		scaled bool // pictures of another size are all of the board
		keys   int  // of the first viewer, at most
		sizes  int  // changes of the size of its pictures, at least
	}{
		// 16 references of 1080p take level 5.1.
		{"another way to the host", image.Pt(1920, 1080), []string{"--full-size"}, (*mended).restart, false, 0, 0},
		{"a viewer that joins late", small, []string{"--full-size"}, (*mended).late, false, 1, 0},
		{"another size of the screen", small, []string{"--full-size"}, (*mended).resize, false, 2, 1},
		{"smaller pictures", small, []string{"--bitrate", "200k"}, (*mended).narrow, true, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := startX(t, desk.Screen{Width: c.size.X, Height: c.size.Y})
			m := &mended{board: newBoard(t, x, c.size), path: path, browser: b}
			m.first = path.watch(t, b, x, c.size, c.args...)
			m.viewers = []*viewer{m.first}
			m.look(t, m.first, c.scaled)
			must(t, m.step()) // something to present
			m.waitNewest(t, m.first)
			m.measure(t, c.during, c.keys, c.sizes)
		})
	}
}

// waitNewest waits until a viewer shows the board as it is now.
func (m *mended) waitNewest(t *testing.T, v *viewer) {
	t.Helper()
	must(t, desk.Poll(within(t, patience), "the board as it is", func() (bool, error) { return m.judge(t, v).newest, nil }))
}

// tries is how often a run may be repeated that cost key frames: on a machine that is
// busy with more, a repair comes too late to be believed in. No picture of any run may
// be wrong.
const tries = 3

// measure plays while something happens, and judges what was seen of it.
func (m *mended) measure(t *testing.T, during func(*mended, *testing.T), keys, sizes int) {
	var host hostStats
	for n := range tries {
		host = m.once(t, during, sizes)
		if host.KeyFrames <= keys {
			break
		}
		t.Logf("run %d took %d key frames", n+1, host.KeyFrames)
	}
	if host.KeyFrames > keys {
		t.Errorf("%d key frames, not at most %d", host.KeyFrames, keys)
	}
	if host.Repaired == 0 {
		t.Error("nothing was repaired by reference: this shows nothing")
	}
}

// once is one run. It gives what the host counted of the first viewer.
func (m *mended) once(t *testing.T, during func(*mended, *testing.T), sizes int) hostStats {
	stop := m.play(t)
	defer stop()
	before, hostBefore := m.first.reception(t), m.first.stats(t)
	during(m, t)
	must(t, m.path.lose(loss{}))
	stop()
	for i, v := range m.viewers {
		m.waitNewest(t, v)
		s := m.judge(t, v)
		t.Logf("viewer %d: %v", i, s)
		if s.wrong > 0 {
			t.Errorf("viewer %d saw %d wrong pictures, such as %s", i, s.wrong, s.example)
		}
		if i == 0 && s.widths < sizes {
			t.Errorf("the pictures changed their size %d times: this shows nothing", s.widths)
		}
	}
	after, host := m.first.reception(t), m.first.stats(t)
	host.KeyFrames -= hostBefore.KeyFrames
	host.Repaired -= hostBefore.Repaired
	t.Logf("the host repaired %d by reference and sent %d key frames; the browser asked for %d packets and %d key frames",
		host.Repaired, host.KeyFrames, after.Nacks-before.Nacks, after.PLIs-before.PLIs)
	return host
}

// bursts lose everything for a tenth of a second so many times.
func (m *mended) bursts(t *testing.T, n int) {
	t.Helper()
	for range n {
		m.path.burst(t, 110*time.Millisecond)
		time.Sleep(450 * time.Millisecond)
	}
}

// restart has the browser look for another way to the host, as when its network
// changes. The stream's decoder lives on.
func (m *mended) restart(t *testing.T) {
	const ufrag = `newestPeer.currentRemoteDescription.sdp.match(/a=ice-ufrag:(.*)/)[1]`
	m.bursts(t, 2)
	old, err := desk.Eval[string](m.first.Page, ufrag)
	must(t, err)
	must(t, m.path.lose(loss{percent: 100}))
	must(t, m.first.Run(`window.dispatchEvent(new Event("online"))`))
	time.Sleep(110 * time.Millisecond)
	must(t, m.path.lose(loss{}))
	must(t, m.first.WaitFor(ufrag+` != "`+old+`"`, patience))
	m.bursts(t, 2)
	if n := m.first.sessions(); n != 1 {
		t.Errorf("the viewer needed %d streams, not 1", n)
	}
}

// late has a second viewer join while packets are lost at random, of either its own.
func (m *mended) late(t *testing.T) {
	must(t, m.path.lose(loss{percent: 5}))
	time.Sleep(time.Second)
	v := m.path.join(t, m.browser, m.first.x, m.size, m.first.host, newLink(t, m.first.host, "view"))
	m.look(t, v, false)
	m.viewers = append(m.viewers, v)
	time.Sleep(1500 * time.Millisecond)
	m.bursts(t, 3)
}

// resize makes the screen smaller between bursts.
func (m *mended) resize(t *testing.T) {
	m.bursts(t, 2)
	must(t, m.first.x.Resize(600, 400))
	m.bursts(t, 3)
}

// narrow goes on until the path has been found too narrow for pictures of full size.
func (m *mended) narrow(t *testing.T) {
	m.bursts(t, 3)
	m.first.waitWidth(t, "< 800")
	m.bursts(t, 3)
}
