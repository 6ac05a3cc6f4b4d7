package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"nearglass/server/transport"
)

// standPage shows one stream at its own size in the corner and nothing else.
const standPage = `<!doctype html><meta charset="utf-8"><title>bench</title>
<style>body{margin:0;background:#000}video{display:block}</style><video muted autoplay playsinline></video><script>
(async () => {
	const pc = new RTCPeerConnection();
	pc.addTransceiver("video", { direction: "recvonly" });
	pc.ontrack = (e) => { document.querySelector("video").srcObject = new MediaStream([e.track]); };
	await pc.setLocalDescription(await pc.createOffer());
	await new Promise((done) => {
		setTimeout(done, 1000);
		pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && done();
	});
	const answer = await fetch("/offer", { method: "POST", body: pc.localDescription.sdp });
	await pc.setRemoteDescription({ type: "answer", sdp: await answer.text() });
})();
</script>`

// stand is the bench's own host: our transport behind the plainest of pages,
// so that a stream can be measured from inside its sender.
type stand struct {
	url      string
	config   transport.PeerConfig
	endpoint *transport.Endpoint
	http     *http.Server
	peers    chan *transport.Peer // answered
}

// loopback is where a stand is for viewers of this machine.
const loopback = "127.0.0.1"

// newStand opens a stand on an address of this machine.
func newStand(host string, c transport.PeerConfig) (*stand, error) {
	endpoint, err := transport.Listen(transport.Config{Addr: net.JoinHostPort(host, "0")})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, errors.Join(err, endpoint.Close())
	}
	s := &stand{url: "http://" + l.Addr().String() + "/", config: c, endpoint: endpoint, peers: make(chan *transport.Peer, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, standPage)
	})
	mux.HandleFunc("POST /offer", s.offer)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

func (s *stand) close() {
	_ = s.http.Close()
	_ = s.endpoint.Close()
}

func (s *stand) offer(w http.ResponseWriter, r *http.Request) {
	offer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	peer, err := s.endpoint.NewPeer(s.config)
	if err == nil {
		var answer string
		if answer, err = peer.Answer(r.Context(), string(offer)); err == nil {
			_, _ = io.WriteString(w, answer)
			s.peers <- peer
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// viewer waits for a viewer's connection to come up.
func (s *stand) viewer(ctx context.Context) (*transport.Peer, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var peer *transport.Peer
	select {
	case peer = <-s.peers:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for an offer: %w", ctx.Err())
	}
	for {
		select {
		case e := <-peer.Events():
			if e.Kind == transport.Connected {
				return peer, nil
			}
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for a connection: %w", ctx.Err()), peer.Close())
		}
	}
}
