package tailnet

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/pion/webrtc/v4"
)

// TestViewer is a viewer in the namespace that it is started in. It prints what
// the host tells it.
func TestViewer(t *testing.T) {
	if os.Getenv(roleEnv) != "viewer" {
		t.Skip("runs as a program of the other test")
	}
	pc, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	if _, err := pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}); err != nil {
		t.Fatal(err)
	}
	pc.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		go func() { // the sender's reports, without which the receiver's tell no round trip
			for {
				if _, _, err := receiver.ReadRTCP(); err != nil {
					return
				}
			}
		}()
		for buffer := make([]byte, 2000); ; {
			if _, _, err := track.Read(buffer); err != nil {
				return
			}
		}
	})
	control, err := pc.CreateDataChannel("control", nil)
	if err != nil {
		t.Fatal(err)
	}
	control.OnMessage(func(m webrtc.DataChannelMessage) { fmt.Println(string(m.Data)) })
	if err := watch(pc, os.Getenv("TAILNET_HOST"), os.Getenv("TAILNET_TOKEN")); err != nil {
		t.Fatal(err)
	}
	<-t.Context().Done() // until it is ended
}

// watch asks the host for a stream by WHEP.
func watch(pc *webrtc.PeerConnection, host, token string) error {
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	r, err := http.NewRequest(http.MethodPost, host+"/whep/pattern?pointer=viewer", strings.NewReader(pc.LocalDescription().SDP))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/sdp")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sdp, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s, %v", answer.Status, sdp, err)
	}
	return pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(sdp)})
}
