package signaling

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	typeSDP  = "application/sdp"
	typeFrag = "application/trickle-ice-sdpfrag" // RFC 8840

	// openTime bounds how long an answer may take: gathering host candidates and
	// opening a display take well under a second.
	openTime = 20 * time.Second
)

// postOffer opens a stream: 201, the answer, and where to change or end it.
func (h *Handler) postOffer(w http.ResponseWriter, r *http.Request, v Viewer) {
	offer, ok := readSDP(w, r)
	if !ok {
		return
	}
	if !h.sessions.room(v.Device) {
		busy(w, r, 10*time.Second)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), openTime)
	defer cancel()
	s, answer, err := h.cfg.Host.Open(ctx, Request{
		Source: r.PathValue("source"), Offer: offer, Viewer: v,
		PointerInVideo: r.URL.Query().Get("pointer") != "viewer",
	})
	if err != nil {
		h.failed(w, r, err)
		return
	}
	id, tag := h.sessions.add(s, v.Device)
	renew(w, r)
	w.Header().Set("Location", "/whep/session/"+id)
	w.Header().Set("Accept-Patch", typeFrag+", "+typeSDP)
	writeSDP(w, http.StatusCreated, tag, answer)
}

// patchSession takes candidates (204) or a new offer (200 and its answer).
func (h *Handler) patchSession(w http.ResponseWriter, r *http.Request, v Viewer) {
	e := h.own(w, r, v)
	if e == nil {
		return
	}
	switch mediaType(r) {
	case typeSDP:
		h.restart(w, r, e)
	case typeFrag:
		h.trickle(w, r, e)
	default:
		problem(w, r, http.StatusUnsupportedMediaType, "That content type is not understood",
			"Send candidates as "+typeFrag+" or a new offer as "+typeSDP+".")
	}
}

func (h *Handler) restart(w http.ResponseWriter, r *http.Request, e *entry) {
	offer, ok := readSDP(w, r)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), openTime)
	defer cancel()
	answer, err := e.session.Restart(ctx, offer)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	writeSDP(w, http.StatusOK, h.sessions.retag(e), answer)
}

// trickle takes candidates for the ICE session that If-Match names. "*" asks
// for a restart (RFC 9725 calls it so for WHIP), which needs a whole offer here.
func (h *Handler) trickle(w http.ResponseWriter, r *http.Request, e *entry) {
	switch r.Header.Get("If-Match") {
	case "", h.sessions.tag(e):
	case "*":
		problem(w, r, http.StatusUnprocessableEntity, "An ICE restart needs a whole offer",
			"Send a new offer as "+typeSDP+" in a PATCH.")
		return
	default:
		problem(w, r, http.StatusPreconditionFailed, "Those candidates are for an older ICE session",
			"Use the ETag of the newest answer.")
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if !strings.Contains(body, "a=") {
		problem(w, r, http.StatusBadRequest, "That is no SDP fragment", "Send a=candidate lines as RFC 8840 has them.")
		return
	}
	if err := e.session.Trickle(body); err != nil {
		problem(w, r, http.StatusBadRequest, "The candidates cannot be used", err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) deleteSession(w http.ResponseWriter, r *http.Request, v Viewer) {
	e := h.own(w, r, v)
	if e == nil {
		return
	}
	h.sessions.remove(e.id)
	e.session.Close("the viewer left")
	w.WriteHeader(http.StatusOK)
}

// own finds the viewer's session that a request names, or answers that there is
// none. Another device's is answered alike, so that nobody can probe for it.
func (h *Handler) own(w http.ResponseWriter, r *http.Request, v Viewer) *entry {
	const title, detail = "No such session", "It has ended. Open a new one with POST /whep/{source}."
	e, foreign := h.sessions.find(r.PathValue("sid"), v.Device)
	switch {
	case foreign:
		h.refused(w, r, http.StatusNotFound, "session of another device", title, detail)
	case e == nil:
		problem(w, r, http.StatusNotFound, title, detail)
	}
	return e
}

// readSDP reads a body that must be an SDP, or answers what is wrong with it.
func readSDP(w http.ResponseWriter, r *http.Request) (string, bool) {
	if mediaType(r) != typeSDP {
		w.Header().Set("Accept-Post", typeSDP)
		problem(w, r, http.StatusUnsupportedMediaType, "An offer is needed", "Send it with Content-Type: "+typeSDP+".")
		return "", false
	}
	body, ok := readBody(w, r)
	if ok && !strings.HasPrefix(body, "v=0") {
		problem(w, r, http.StatusBadRequest, "That is no SDP", "Send the whole offer; it begins with v=0.")
		return "", false
	}
	return body, ok
}

func readBody(w http.ResponseWriter, r *http.Request) (string, bool) {
	b, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		problem(w, r, http.StatusRequestEntityTooLarge, "The request is too large", "Send at most 64 KiB.")
	case err != nil:
		problem(w, r, http.StatusBadRequest, "The request broke off", "Try again.")
	}
	return string(b), err == nil
}

func writeSDP(w http.ResponseWriter, status int, tag, sdp string) {
	w.Header().Set("Content-Type", typeSDP)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("ETag", tag)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, sdp)
}
