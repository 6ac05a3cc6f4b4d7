package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// room is a folder and what the packages in it may import of ours. What is not
// listed is banned, and why says why. The longest matching folder counts.
type room struct {
	dir string
	may []string // folders; one that ends in /... means all below it as well
	why string
}

// rooms is the import table of the house: imports point down only.
var rooms = []room{
	{"cmd/nearglass", []string{"server", "client/native", "telemetry/...", "gpu/capture", "gpu/encode", "server/access", "cc/rate"},
		"a command reads its flags and calls one of these; sources, doctor and pair ask capture, encode and access directly because they must work while no host runs"},
	{"cmd/bench", []string{"cmd/bench/wire", "cmd/bench/encodelab", "cmd/bench/losslab", "server/...", "gpu/...", "cc/...", "pacing/...", "telemetry/..."},
		"a bench measures the parts and drives the whole from outside; the viewers are programs of their own to it"},
	{"cmd/bench/wire", []string{"cc/sim"}, "a link between real programs knows neither them nor any controller: all meet the same link"},
	{"cmd/logschema", nil, "it reads the definition as text, so that it also runs while the packages do not build"},
	{"cmd/bench/encodelab", []string{"gpu", "gpu/encode", "gpu/encode/ratecontrol", "cc/rate", "pacing/packetize"},
		"what judges an encoder's control knows the encoder and the way into packets, and neither a session nor congestion control"},
	{"cmd/bench/losslab", []string{"gpu", "gpu/capture", "gpu/encode", "cc", "cc/rate", "cc/sim", "pacing", "server/session", "telemetry"},
		"it streams by the host's own session between a simulated link and a model of a viewer, and knows no transport, so that time can be virtual"},
	{"cmd/screenshots", []string{"server/e2e/desk"}, "it looks at the host from outside, as a person does"},
	{"cmd/testreport", nil, "it must build and run whatever is broken elsewhere"},
	{"server", []string{
		"server/session", "server/transport", "server/access", "server/cursor", "server/input", "server/clipboard", "server/audio", "server/timer",
		"gpu", "gpu/capture", "gpu/encode", "gpu/encode/h264", "cc/rate", "signaling", "telemetry/...", "client/web"},
		"server joins the parts, and hands the negotiated profile to the encoder; pacing and congestion control are the session's alone, or a number would be decided in two places"},
	{"server/session", []string{"gpu", "gpu/encode/...", "cc", "cc/rate", "pacing/...", "telemetry/..."},
		"a session knows the socket, capture, input and access only through its own small interfaces, so that it runs in tests under virtual time"},
	{"server/transport", []string{"pacing/...", "cc", "cc/rate", "gpu/encode/h264"},
		"transport writes packets that others decided on and hands feedback up; it decides nothing"},
	{"server/access", nil, "who may do what is decided here, away from everything that asks"},
	{"server/cursor", []string{"gpu/xconn"}, "a side service is a leaf, but for the way to open an X connection"},
	{"server/input", []string{"gpu/xconn"}, "a side service is a leaf, but for the way to open an X connection"},
	{"server/clipboard", nil, "a side service is a leaf"},
	{"server/audio", nil, "a side service is a leaf"},
	{"server/timer", nil, "asking the system for fine timers is a leaf"},
	{"server/e2e", []string{"server/...", "gpu/...", "cc/...", "pacing/...", "telemetry/...", "signaling"},
		"the end-to-end tests use the built programs, and the packages only to judge what those did"},
	{"server/e2e/tailnet", nil, "it is a module of its own, and sees the host from outside"},
	{"server/e2e/desk", nil, "the harness sees the host from outside, as a person does"},
	{"gpu", nil, "a frame knows nothing of what is done with it"},
	{"gpu/xconn", nil, "opening an X connection safely is a leaf"},
	{"gpu/capture", []string{"gpu", "gpu/xconn"}, "capture fills a ring and knows nobody who reads it"},
	{"gpu/encode", []string{"gpu", "cc/rate", "gpu/encode/..."}, "an encoder turns a frame into an access unit; what it is for is not its concern"},
	{"gpu/encode/h264", nil, "bitstream syntax is a leaf"},
	{"gpu/encode/ratecontrol", []string{"cc/rate"}, "rate control is pure arithmetic on sizes and rates"},
	{"gpu/encode/repair", nil, "what a picture may refer to follows from what was sent and what the viewer says; who encodes and who sends is nothing to it"},
	{"pacing", []string{"cc/rate"}, "cc and pacing never meet: server/session/control.go is the only line between estimate and rate"},
	{"pacing/packetize", nil, "cutting an access unit into payloads needs nothing else"},
	{"cc", []string{"cc/rate"}, "cc and pacing never meet: server/session/control.go is the only line between estimate and rate"},
	{"cc/rate", nil, "a unit is a leaf"},
	{"cc/sim", []string{"cc/rate"}, "a simulated link knows no controller, so that every controller meets the same link"},
	{"cc/lab", []string{"cc/...", "pacing/..."}, "the lab joins cc, pacing, links and baselines, and is imported by nobody"},
	{"signaling", nil, "signaling knows the host through its own small interfaces"},
	{"telemetry", []string{"telemetry/..."}, "what is reported must not depend on what reports it"},
	{"telemetry/doctor", []string{"telemetry"}, "a diagnosis rests on the logs alone, so that it is the same wherever and whenever they are read"},
	{"telemetry/netpath", nil, "which road packets take is found out by asking the system and the daemons, and whose packets they are is nothing to it"},
	{"client/web", []string{"client/web/..."}, "the viewer is files and nothing else"},
	{"client/native", []string{"telemetry/...", "cc/rate", "gpu/encode/h264"}, "the desktop viewer shares no state with the host"},
}

// guarded is a module of somebody else's that only some folders may import.
type guarded struct {
	prefix string
	dirs   []string
	why    string
}

var guards = []guarded{
	{"github.com/pion/", []string{"server/transport", "client/native", "cc/lab"},
		"pion stays behind one door a side, so that pacing and feedback are ours and it can be replaced"},
	{"github.com/gen2brain/x264-go", []string{"gpu/encode", "cmd/bench/encodelab"}, "an encoder is chosen by capability behind gpu/encode; its bench sets x264 beside it"},
	{"github.com/jezek/xgb", []string{"gpu/xconn", "gpu/capture", "server/input", "server/cursor", "server/clipboard", "server/e2e", "cmd/bench"},
		"X is one of several systems; what speaks it lies behind a platform file"},
	{"github.com/alecthomas/kong", []string{"cmd"}, "flags are a command's matter; a package takes a Config"},
	{"github.com/chromedp/", []string{"server/e2e", "cmd/bench", "cmd/screenshots"}, "a browser belongs to tests, benches and pictures, never to the host"},
	{"tailscale.com", []string{"server/e2e/tailnet"}, "a tailnet of its own belongs to a test; the host asks the daemon that is there, over its local socket"},
	{"github.com/evanw/esbuild", []string{"client/web"}, "bundling happens before the build, not in the host"},
	{"testing", nil, "test helpers have no place in shipped code"},
}

// pure lists the folders whose shipped code is arithmetic on its parameters.
var pure = []string{"telemetry/doctor", "cc", "cc/rate", "cc/sim", "pacing", "pacing/packetize", "gpu/encode/ratecontrol", "gpu/encode/repair"}

// roomOf finds the table's line for a folder.
func roomOf(dir string) (room, bool) {
	best, found := room{}, false
	for _, r := range rooms {
		if under(dir, r.dir) && len(r.dir) >= len(best.dir) {
			best, found = r, true
		}
	}
	return best, found
}

// mayImport says whether the room's list holds the folder dep. A package may
// always import what lies below it in the same room.
func (r room) mayImport(dir, dep string) bool {
	if depRoom, _ := roomOf(dep); depRoom.dir == r.dir && under(dep, dir) {
		return true
	}
	return slices.ContainsFunc(r.may, func(m string) bool {
		base, deep := strings.CutSuffix(m, "/...")
		return dep == m || deep && under(dep, base)
	})
}

// importRule holds shipped code to the table of rooms.
func importRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, shipped) {
		r, found := roomOf(s.dir())
		if !found {
			problems = append(problems, s.path+": this folder is not in the import table; give it a line with what it may import and why")
			continue
		}
		for _, imp := range s.imports() {
			dep, ours := strings.CutPrefix(imp, module+"/")
			if ours && !r.mayImport(s.dir(), dep) {
				problems = append(problems, fmt.Sprintf("%s imports %s: %s", s.path, dep, r.why))
			}
		}
	}
	return problems
}

// guardRule holds everything to the list of guarded modules; tests are free
// to use testing, and the end-to-end tests may be any kind of viewer.
func guardRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(*source) bool { return true }) {
		for _, imp := range s.imports() {
			for _, g := range guards {
				if !strings.HasPrefix(imp, g.prefix) || s.isTest() && g.prefix == "testing" {
					continue
				}
				if s.isTest() && under(s.dir(), "server/e2e") {
					continue
				}
				if !slices.ContainsFunc(g.dirs, func(d string) bool { return under(s.dir(), d) }) {
					problems = append(problems, fmt.Sprintf("%s imports %s: %s", s.path, imp, g.why))
				}
			}
		}
	}
	return problems
}

// strangersRule holds the two that never meet apart in their tests as well,
// and the lab out of everything.
func strangersRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(*source) bool { return true }) {
		for _, imp := range s.imports() {
			dep := strings.TrimPrefix(imp, module+"/")
			cc := under(s.dir(), "cc") && !under(s.dir(), "cc/lab")
			switch {
			case cc && under(dep, "pacing"), under(s.dir(), "pacing") && under(dep, "cc") && dep != "cc/rate":
				problems = append(problems, fmt.Sprintf("%s imports %s: cc and pacing never meet, not even in a test", s.path, dep))
			case dep == "cc/lab" && !under(s.dir(), "cc/lab") && !under(s.dir(), "cmd/bench"):
				problems = append(problems, s.path+" imports cc/lab: only its bench may, because it drags in the baselines")
			}
		}
	}
	return problems
}

// pureImportRule: the standard library, cc/rate and what the table allows of
// ours, nothing of anybody else's.
func pureImportRule(all []*source) []string {
	var problems []string
	for _, s := range goSources(all, func(s *source) bool { return shipped(s) && slices.Contains(pure, s.dir()) }) {
		for _, imp := range s.imports() {
			first, _, _ := strings.Cut(imp, "/")
			if strings.Contains(first, ".") {
				problems = append(problems, fmt.Sprintf("%s imports %s: a pure package imports the standard library and cc/rate only, so that it can be read and trusted alone", s.path, imp))
			}
		}
	}
	return problems
}

func TestImports(t *testing.T)     { hold(t, importRule) }
func TestGuards(t *testing.T)      { hold(t, guardRule) }
func TestStrangers(t *testing.T)   { hold(t, strangersRule) }
func TestPureImports(t *testing.T) { hold(t, pureImportRule) }

// TestRoomsHaveReasons keeps the table honest: a reason for each ban, and no
// folder twice.
func TestRoomsHaveReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms {
		if r.why == "" || seen[r.dir] {
			t.Errorf("%s: no reason, or twice in the table", r.dir)
		}
		seen[r.dir] = true
	}
	for _, g := range guards {
		if g.why == "" {
			t.Errorf("%s: no reason", g.prefix)
		}
	}
}

func TestImportRulesCanFail(t *testing.T) {
	breaks(t, importRule, "not in the import table", "attic/a.go\npackage attic\n")
	breaks(t, importRule, "never meet",
		"cc/a.go\npackage cc\nimport \"nearglass/pacing\"\n",
		"pacing/a.go\npackage pacing\nimport _ \"nearglass/cc\"\n")
	breaks(t, importRule, "imports",
		"gpu/capture/a.go\npackage capture\nimport \"nearglass/gpu/encode\"\n",
		"gpu/a.go\npackage gpu\nimport \"nearglass/gpu/capture\"\n",
		"server/session/a.go\npackage session\nimport \"nearglass/server/transport\"\n",
		"server/a.go\npackage server\nimport \"nearglass/cc\"\n",
		"telemetry/a.go\npackage telemetry\nimport \"nearglass/server\"\n")
	allows(t, importRule,
		"cc/a.go\npackage cc\nimport \"nearglass/cc/rate\"\n",
		"server/a.go\npackage server\nimport \"nearglass/server/session\"\n",
		"gpu/a_test.go\npackage gpu\nimport \"nearglass/gpu/capture\"\n")
	breaks(t, guardRule, "pion", "server/session/a.go\npackage a\nimport \"github.com/pion/rtp\"\n", "cc/a_test.go\npackage a\nimport \"github.com/pion/rtp\"\n")
	breaks(t, guardRule, "testing", "server/a.go\npackage a\nimport \"testing\"\n")
	allows(t, guardRule, "server/transport/a.go\npackage a\nimport \"github.com/pion/rtp\"\n", "cc/lab/a.go\npackage a\nimport \"github.com/pion/interceptor\"\n")
	breaks(t, strangersRule, "never meet", "cc/a_test.go\npackage cc\nimport \"nearglass/pacing\"\n", "pacing/a_test.go\npackage pacing\nimport \"nearglass/cc\"\n")
	breaks(t, strangersRule, "only its bench", "server/a.go\npackage a\nimport \"nearglass/cc/lab\"\n")
	allows(t, strangersRule, "pacing/a.go\npackage pacing\nimport \"nearglass/cc/rate\"\n", "cc/lab/a.go\npackage lab\nimport \"nearglass/pacing\"\n")
	breaks(t, pureImportRule, "standard library", "pacing/a.go\npackage pacing\nimport \"golang.org/x/time/rate\"\n")
	allows(t, pureImportRule, "pacing/a.go\npackage pacing\nimport (\n\"time\"\n\"nearglass/cc/rate\"\n)\n")
}
