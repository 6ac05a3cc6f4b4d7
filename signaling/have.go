package signaling

import (
	"encoding/json"
	"fmt"
)

// FramesChannel is the data channel on which a viewer says at once which pictures
// it shows: unordered, never resent, viewer to host. What is lost there is said
// again with the next picture.
const FramesChannel = "frames"

// maxHave is the most pictures that one message may name. Viewers name the last
// few.
const maxHave = 32

// DecodeHave reads one message of the frames channel: the RTP timestamps of the
// pictures that the viewer showed last. Anything malformed is an error and must
// have no effect.
func DecodeHave(data []byte) ([]uint32, error) {
	if len(data) > MaxMessageBytes {
		return nil, fmt.Errorf("message on %q has %d bytes: more than %d", FramesChannel, len(data), MaxMessageBytes)
	}
	var have struct {
		Type string   `json:"type"`
		RTP  []uint32 `json:"rtp"`
	}
	if err := json.Unmarshal(data, &have); err != nil {
		return nil, fmt.Errorf("message on %q: %w", FramesChannel, err)
	}
	if have.Type != "have" {
		return nil, fmt.Errorf("message %q on %q: %w", clip(have.Type), FramesChannel, errUnknown)
	}
	if len(have.RTP) == 0 || len(have.RTP) > maxHave {
		return nil, fmt.Errorf("message %q names %d pictures, not 1 to %d", have.Type, len(have.RTP), maxHave)
	}
	return have.RTP, nil
}
