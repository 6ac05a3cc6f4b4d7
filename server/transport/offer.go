package transport

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"
)

// maxOfferBytes bounds an offer. Browsers' offers are below 10 kB.
const maxOfferBytes = 256 << 10

// codec is the H.264 that a viewer offered and we chose.
type codec struct {
	payloadType uint8
	rtx         uint8 // 0: the viewer offers no RTX for it
	fmtp        string
	profile     Profile
	dependency  bool // the viewer takes dependency descriptors
}

// readOffer checks an offer before pion sees it and chooses the codec.
func readOffer(offer string, highAllowed bool) (codec, error) {
	if len(offer) > maxOfferBytes {
		return codec{}, fmt.Errorf("%w: it has %d bytes", ErrBadOffer, len(offer))
	}
	var desc sdp.SessionDescription
	if err := desc.UnmarshalString(offer); err != nil {
		return codec{}, fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	if err := checkSecurity(&desc); err != nil {
		return codec{}, err
	}
	videos := 0
	for _, media := range desc.MediaDescriptions {
		if media.MediaName.Media != "video" || media.MediaName.Port.Value == 0 || !wantsToReceive(&desc, media) {
			continue
		}
		videos++
		if c, ok := chooseH264(media, highAllowed); ok {
			c.dependency = offersExtension(media, dependencyURI)
			return c, nil
		}
	}
	if videos == 0 {
		return codec{}, fmt.Errorf("%w: it does not ask for video; add a recvonly video transceiver", ErrBadOffer)
	}
	return codec{}, ErrNoH264
}

// checkSecurity wants what every ICE and DTLS connection needs.
func checkSecurity(desc *sdp.SessionDescription) error {
	if len(desc.MediaDescriptions) == 0 {
		return fmt.Errorf("%w: it has no media section", ErrBadOffer)
	}
	for _, key := range []string{"ice-ufrag", "ice-pwd", "fingerprint"} {
		_, found := desc.Attribute(key)
		for _, media := range desc.MediaDescriptions {
			_, here := media.Attribute(key)
			found = found || here
		}
		if !found {
			return fmt.Errorf("%w: it has no %s", ErrBadOffer, key)
		}
	}
	return nil
}

// wantsToReceive says whether a media section lets us send. The default
// without any attribute is sendrecv (RFC 8866, 6.7).
func wantsToReceive(desc *sdp.SessionDescription, media *sdp.MediaDescription) bool {
	refuses := func(attributes []sdp.Attribute) (refused, stated bool) {
		for _, a := range attributes {
			switch a.Key {
			case "sendonly", "inactive":
				return true, true
			case "recvonly", "sendrecv":
				return false, true
			}
		}
		return false, false
	}
	if refused, stated := refuses(media.Attributes); stated {
		return !refused
	}
	refused, _ := refuses(desc.Attributes)
	return !refused
}

// chooseH264 picks the best H.264 of a media section.
func chooseH264(media *sdp.MediaDescription, highAllowed bool) (codec, bool) {
	names, fmtps := payloadTypes(media)
	var best codec
	bestRank := 0
	for _, format := range media.MediaName.Formats {
		pt, err := strconv.ParseUint(format, 10, 7)
		if err != nil || !strings.EqualFold(names[uint8(pt)], "H264/90000") {
			continue
		}
		fmtp := fmtps[uint8(pt)]
		if rank := rankProfile(fmtp, highAllowed); rank > bestRank {
			best = codec{payloadType: uint8(pt), fmtp: fmtp, profile: ConstrainedBaseline}
			if rank == rankHigh {
				best.profile = High
			}
			bestRank = rank
		}
	}
	for pt, name := range names {
		apt := strconv.Itoa(int(best.payloadType))
		if strings.EqualFold(name, "rtx/90000") && fmtpValue(fmtps[pt], "apt") == apt && offered(media, pt) {
			best.rtx = pt
		}
	}
	return best, bestRank > 0
}

// offersExtension says whether a media section lets us send a header extension
// (RFC 8285, 5), and with an identifier that a one-byte header has.
func offersExtension(media *sdp.MediaDescription, uri string) bool {
	for _, a := range media.Attributes {
		fields := strings.Fields(a.Value)
		if a.Key != "extmap" || len(fields) < 2 || fields[1] != uri {
			continue
		}
		id, direction, _ := strings.Cut(fields[0], "/")
		n, err := strconv.Atoi(id)
		return err == nil && n >= 1 && n <= 14 && direction != "sendonly" && direction != "inactive"
	}
	return false
}

func offered(media *sdp.MediaDescription, pt uint8) bool {
	return slices.Contains(media.MediaName.Formats, strconv.Itoa(int(pt)))
}

// payloadTypes reads the rtpmap and fmtp attributes of a media section.
func payloadTypes(media *sdp.MediaDescription) (names, fmtps map[uint8]string) {
	names, fmtps = make(map[uint8]string), make(map[uint8]string)
	for _, a := range media.Attributes {
		into := map[string]map[uint8]string{"rtpmap": names, "fmtp": fmtps}[a.Key]
		number, rest, ok := strings.Cut(a.Value, " ")
		pt, err := strconv.ParseUint(number, 10, 7)
		if into != nil && ok && err == nil {
			into[uint8(pt)] = strings.TrimSpace(rest)
		}
	}
	return names, fmtps
}

// Ranks of profiles, the best highest. A decoder of any profile here decodes
// constrained baseline too, except that extended and 4:4:4 are left alone.
const (
	rankHighAsBaseline = iota + 1
	rankMain
	rankBaseline
	rankConstrainedBaseline
	rankHigh
)

// rankProfile ranks one offered format; 0 means that it is of no use.
func rankProfile(fmtp string, highAllowed bool) int {
	if fmtpValue(fmtp, "packetization-mode") != "1" {
		return 0
	}
	id := fmtpValue(fmtp, "profile-level-id")
	if id == "" {
		id = "420010" // the default of RFC 6184, 8.1
	}
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != 3 {
		return 0
	}
	const constraintSet1 = 0x40 // with baseline: constrained baseline
	switch {
	case b[0] == 0x64 && highAllowed:
		return rankHigh
	case b[0] == 0x64:
		return rankHighAsBaseline
	case b[0] == 0x42 && b[1]&constraintSet1 != 0:
		return rankConstrainedBaseline
	case b[0] == 0x42:
		return rankBaseline
	case b[0] == 0x4d:
		return rankMain
	}
	return 0
}

// fmtpValue finds a parameter in a format line like "a=1;b=2".
func fmtpValue(fmtp, key string) string {
	for part := range strings.SplitSeq(fmtp, ";") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

// Header extensions, by their registered or, for WebRTC's own, published URI.
const (
	transportCCURI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
	captureTimeURI = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
	playoutURI     = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
	dependencyURI  = "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
)

// mediaEngine tells pion the one codec and the header extensions to answer.
// Opus is there so that an offered sound section is answered as inactive and
// not refused, which some players take for a failure. A further extension is one
// more URI here and in writer.bind.
func mediaEngine(c codec, playout bool) (*webrtc.MediaEngine, error) {
	m := &webrtc.MediaEngine{}
	for _, v := range videoCodecs(c) {
		if err := m.RegisterCodec(v, webrtc.RTPCodecTypeVideo); err != nil {
			return nil, fmt.Errorf("register %s: %w", v.MimeType, err)
		}
	}
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}
	if err := m.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opus, PayloadType: 111},
		webrtc.RTPCodecTypeAudio); err != nil {
		return nil, fmt.Errorf("register opus: %w", err)
	}
	uris := []string{transportCCURI, captureTimeURI}
	if playout {
		uris = append(uris, playoutURI)
	}
	if c.dependency {
		uris = append(uris, dependencyURI)
	}
	for _, uri := range uris {
		extension := webrtc.RTPHeaderExtensionCapability{URI: uri}
		if err := m.RegisterHeaderExtension(extension, webrtc.RTPCodecTypeVideo); err != nil {
			return nil, fmt.Errorf("register header extension %s: %w", uri, err)
		}
	}
	return m, nil
}

// videoCodecs are the one codec, and its resends where the viewer takes them.
func videoCodecs(c codec) []webrtc.RTPCodecParameters {
	feedback := []webrtc.RTCPFeedback{
		{Type: "nack"}, {Type: "nack", Parameter: "pli"}, {Type: "ccm", Parameter: "fir"}, {Type: "transport-cc"},
	}
	video := []webrtc.RTPCodecParameters{{
		RTPCodecCapability: webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeH264, ClockRate: 90000, SDPFmtpLine: c.fmtp, RTCPFeedback: feedback,
		},
		PayloadType: webrtc.PayloadType(c.payloadType),
	}}
	if c.rtx != 0 {
		video = append(video, webrtc.RTPCodecParameters{
			RTPCodecCapability: webrtc.RTPCodecCapability{
				MimeType: webrtc.MimeTypeRTX, ClockRate: 90000, SDPFmtpLine: fmt.Sprintf("apt=%d", c.payloadType),
			},
			PayloadType: webrtc.PayloadType(c.rtx),
		})
	}
	return video
}
