package transport

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// offerWith makes a plausible offer with the given video lines.
func offerWith(media string, lines ...string) string {
	head := []string{
		"v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
		media, "c=IN IP4 0.0.0.0", "a=mid:0", "a=rtcp-mux", "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuvwx",
		"a=setup:actpass",
		"a=fingerprint:sha-256 " + strings.Repeat("AB:", 31) + "AB",
	}
	return strings.Join(append(head, lines...), "\r\n") + "\r\n"
}

const videoLine = "m=video 9 UDP/TLS/RTP/SAVPF 96 102 103 104 105 106"

func h264(pt, fmtp string) []string {
	return []string{"a=rtpmap:" + pt + " H264/90000", "a=fmtp:" + pt + " " + fmtp}
}

func lines(parts ...[]string) []string {
	out := []string{"a=recvonly"}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

const mode1 = "packetization-mode=1;profile-level-id="

func TestDependencyIsTakenWhereOffered(t *testing.T) {
	for line, want := range map[string]bool{
		"a=extmap:12 " + dependencyURI:          true,
		"a=extmap:12/sendrecv " + dependencyURI: true,
		"a=extmap:12/recvonly " + dependencyURI: true,
		"a=extmap:12/inactive " + dependencyURI: false,
		"a=extmap:15 " + dependencyURI:          false, // needs a two-byte header
		"a=extmap:x " + dependencyURI:           false,
		"a=extmap:12":                           false,
		"a=extmap:12 " + playoutURI:             false,
	} {
		got, err := readOffer(offerWith(videoLine, append(lines(h264("102", mode1+"42e01f")), line)...), false)
		if err != nil || got.dependency != want {
			t.Errorf("%s: %v (%v)", line, got.dependency, err)
		}
	}
}

func TestChoiceOfCodec(t *testing.T) {
	rtx := []string{"a=rtpmap:103 rtx/90000", "a=fmtp:103 apt=102", "a=rtpmap:105 rtx/90000", "a=fmtp:105 apt=104"}
	baseline, constrained, high, main := h264("96", mode1+"42001f"), h264("102", mode1+"42e01f"), h264("104", mode1+"640c1f"), h264("106", mode1+"4d001f")
	for _, c := range []struct {
		name  string
		lines []string
		high  bool
		want  codec
	}{
		{"constrained baseline before baseline", lines(baseline, constrained, rtx), false,
			codec{102, 103, mode1 + "42e01f", ConstrainedBaseline, false}},
		{"high only when allowed", lines(constrained, high, rtx), false, codec{102, 103, mode1 + "42e01f", ConstrainedBaseline, false}},
		{"high when allowed", lines(constrained, high, rtx), true, codec{104, 105, mode1 + "640c1f", High, false}},
		{"high decoders take baseline", lines(high, rtx), false, codec{104, 105, mode1 + "640c1f", ConstrainedBaseline, false}},
		{"main decoders too", lines(main), true, codec{106, 0, mode1 + "4d001f", ConstrainedBaseline, false}},
		{"no RTX", lines(baseline), true, codec{96, 0, mode1 + "42001f", ConstrainedBaseline, false}},
		{"no profile named", lines(h264("96", "packetization-mode=1")), false, codec{96, 0, "packetization-mode=1", ConstrainedBaseline, false}},
		{"direction left open", append(lines(constrained)[1:], rtx...), false, codec{102, 103, mode1 + "42e01f", ConstrainedBaseline, false}},
	} {
		got, err := readOffer(offerWith(videoLine, c.lines...), c.high)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestRefusedOffers(t *testing.T) {
	good := lines(h264("102", mode1+"42e01f"))
	for _, c := range []struct {
		name, offer string
		want        error
		words       string
	}{
		{"empty", "", ErrBadOffer, ""},
		{"garbage", "hello", ErrBadOffer, ""},
		{"huge", strings.Repeat("a", maxOfferBytes+1), ErrBadOffer, "bytes"},
		{"no media", "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n", ErrBadOffer, "no media"},
		{"no fingerprint", strings.Replace(offerWith(videoLine, good...), "a=fingerprint", "a=x", 1), ErrBadOffer, "fingerprint"},
		{"no ICE", strings.Replace(offerWith(videoLine, good...), "a=ice-ufrag", "a=x", 1), ErrBadOffer, "ice-ufrag"},
		{"sound only", offerWith("m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=recvonly"), ErrBadOffer, "video"},
		{"a publisher", offerWith(videoLine, append([]string{"a=sendonly"}, good[1:]...)...), ErrBadOffer, "video"},
		{"VP8 only", offerWith(videoLine, "a=recvonly", "a=rtpmap:96 VP8/90000"), ErrNoH264, "H.264"},
		{"mode 0 only", offerWith(videoLine, lines(h264("102", "packetization-mode=0;profile-level-id=42e01f"))...), ErrNoH264, ""},
		{"broken profile", offerWith(videoLine, lines(h264("102", mode1+"42zz"))...), ErrNoH264, ""},
	} {
		_, err := newTestPeer(t, PeerConfig{}).Answer(context.Background(), c.offer)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestHighProfileEndToEnd(t *testing.T) {
	p := newTestPeer(t, PeerConfig{HighProfile: true, NoPlayoutDelay: true})
	v := newViewer(t, viewerConfig{fmtp: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f"})
	answer := v.negotiate(p, nil)
	waitEvent(t, p, Connected)
	if p.Profile() != High || !strings.Contains(answer, "640c1f") || strings.Contains(answer, "VP8") {
		t.Errorf("profile %v, answer:\n%s", p.Profile(), answer)
	}
	if strings.Contains(answer, playoutURI) || !strings.Contains(answer, transportCCURI) {
		t.Errorf("header extensions in the answer:\n%s", answer)
	}
	other := newViewer(t, viewerConfig{noRTX: true})
	if _, err := p.Answer(context.Background(), other.offer(nil)); !errors.Is(err, ErrBadOffer) {
		t.Errorf("an offer with another codec: %v", err)
	}
}

func TestDependencyCanBeLeftOut(t *testing.T) {
	p := newTestPeer(t, PeerConfig{NoDependency: true})
	answer := newViewer(t, viewerConfig{dependency: true}).negotiate(p, nil)
	if p.Dependency() || strings.Contains(answer, dependencyURI) {
		t.Errorf("it is taken: %v; answer:\n%s", p.Dependency(), answer)
	}
}

func TestAnswerGivesUpWithItsContext(t *testing.T) {
	v := newViewer(t, viewerConfig{})
	offer := v.offer(nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := newTestPeer(t, PeerConfig{})
	// Gathering host candidates is quick, so both outcomes are right.
	if _, err := p.Answer(ctx, offer); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzAnswer hands offers of any kind to the whole path: no panic, and an
// error or an answer.
func FuzzAnswer(f *testing.F) {
	whole := offerWith(videoLine, lines(h264("102", mode1+"42e01f"))...)
	f.Add(whole)
	f.Add(strings.Replace(whole, "a=mid:0\r\n", "", 1))
	f.Add(strings.Replace(whole, "sha-256", "md5", 1))
	f.Add(strings.ReplaceAll(whole, "m=video 9", "m=video 0"))
	f.Add(whole + "a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\na=ssrc-group:FID 1\r\na=rid:x\r\n")
	f.Add(whole + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\na=sctp-port:5000\r\n")
	f.Add(whole + "m=text 9 RTP/AVP 1\r\na=mid:2\r\n")
	e, err := Listen(Config{Addr: "127.0.0.1:0"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close() })
	f.Fuzz(func(t *testing.T, offer string) {
		p, err := e.NewPeer(PeerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		answer, err := p.Answer(ctx, offer)
		if err == nil && answer == "" {
			t.Error("an empty answer")
		}
		if err := p.Close(); err != nil {
			t.Log(err)
		}
	})
}
