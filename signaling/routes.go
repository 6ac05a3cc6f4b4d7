package signaling

import (
	"encoding/json"
	"errors"
	"image"
	"net/http"
	"strconv"
	"time"
)

// getHost tells the page where it stands. It is the one answer of the API that
// needs no pairing.
func (h *Handler) getHost(w http.ResponseWriter, r *http.Request) {
	v, err := h.authenticate(r)
	source := "" // is for those who may see it
	if err == nil {
		source = h.cfg.Source
		renew(w, r)
	} else if token(r) != "" {
		h.log.Warn("device not known", "addr", r.RemoteAddr, "reason", err.Error())
	}
	writeJSON(w, struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Paired  bool   `json:"paired"`
		Rights  string `json:"rights"`
		Device  string `json:"device"`
		Secure  bool   `json:"secure"`
		Source  string `json:"source"`
	}{h.cfg.Name, h.cfg.Version, err == nil, v.Rights, v.Name, r.TLS != nil, source})
}

// postPair trades a code for a cookie.
func (h *Handler) postPair(w http.ResponseWriter, r *http.Request) {
	if mediaType(r) != "application/json" {
		problem(w, r, http.StatusUnsupportedMediaType, "That content type is not understood", "Send application/json.")
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	var ask struct{ Code, Name string }
	if err := json.Unmarshal([]byte(body), &ask); err != nil || ask.Code == "" {
		problem(w, r, http.StatusBadRequest, "That is no pairing request", `Send {"code":"123-456","name":"my phone"}.`)
		return
	}
	token, _, err := h.cfg.Gate.Redeem(time.Now(), ask.Code, remote(r).Addr(), ask.Name)
	var wait *BusyError
	switch {
	case errors.As(err, &wait):
		busy(w, r, wait.RetryAfter)
	case errors.Is(err, ErrNotPaired):
		problem(w, r, http.StatusForbidden, "That code is not valid",
			"A code works once and for ten minutes. Run nearglass pair on the host for a new one.")
	case err != nil:
		h.failed(w, r, err)
	default:
		setCookie(w, r, token)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *Handler) getSources(w http.ResponseWriter, r *http.Request, _ Viewer) {
	list, err := h.cfg.Host.Sources(r.Context())
	if err != nil {
		h.failed(w, r, err)
		return
	}
	if list == nil {
		list = []Source{} // [] and not null
	}
	writeJSON(w, list)
}

// getStats answers the figures of all streams, for programs.
func (h *Handler) getStats(w http.ResponseWriter, r *http.Request, v Viewer) {
	list, err := h.cfg.Host.Streams(v)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	if list == nil {
		list = []Running{} // [] and not null
	}
	writeJSON(w, list)
}

// Bounds of a preview's width in pixels.
const (
	previewWidth    = 480
	previewWidthMin = 16
	previewWidthMax = 1920
)

// getPreview answers a still picture at most w wide and w high.
func (h *Handler) getPreview(w http.ResponseWriter, r *http.Request, _ Viewer) {
	side := previewWidth
	if s := r.URL.Query().Get("w"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < previewWidthMin || n > previewWidthMax {
			problem(w, r, http.StatusBadRequest, "That width cannot be had", "Ask for w from 16 to 1920.")
			return
		}
		side = n
	}
	jpeg, err := h.cfg.Host.Preview(r.Context(), r.PathValue("id"), image.Pt(side, side))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(jpeg)
}
