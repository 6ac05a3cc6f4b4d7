package signaling

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// problem answers a request with an error in the form of RFC 9457. Detail says
// what to do next. A person who opened the address in a browser gets the same
// as plain text.
func problem(w http.ResponseWriter, r *http.Request, status int, title, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(title + "\n\n" + detail + "\n"))
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Status int    `json:"status"`
	}{title, detail, status})
}

// failed answers with the status that an error of the host stands for.
func (h *Handler) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, ErrNotFound):
		problem(w, r, http.StatusNotFound, "No such source", err.Error()+". Load the list of sources again.")
	case errors.Is(err, ErrUnavailable):
		w.Header().Set("Retry-After", "5")
		problem(w, r, http.StatusServiceUnavailable, "The source cannot be shown now",
			err.Error()+". On the host, nearglass doctor says what is missing.")
	case errors.Is(err, ErrNoH264):
		problem(w, r, http.StatusUnprocessableEntity, "This viewer offers no H.264",
			"This browser offers no H.264, which is what nearglass sends. Firefox needs its OpenH264 plugin (about:addons, "+
				"Plugins, fetches it); Chrome, Edge and Safari have H.264 built in.")
	case errors.Is(err, ErrRights):
		h.refused(w, r, http.StatusForbidden, err.Error(), "This device may only watch",
			"That is for devices that may control the host: pair it anew with a code of nearglass pair --rights control.")
	case errors.Is(err, ErrOffer):
		problem(w, r, http.StatusBadRequest, "The offer cannot be answered", err.Error())
	default:
		h.log.Error("request failed", "path", r.URL.Path, "addr", r.RemoteAddr, "err", err)
		problem(w, r, http.StatusInternalServerError, "Something went wrong on the host",
			"Try again; the host's log says what happened.")
	}
}

// busy answers a viewer that must wait.
func busy(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := max(1, int(wait.Round(time.Second)/time.Second))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	problem(w, r, http.StatusTooManyRequests, "Too many tries",
		"Wait "+(time.Duration(seconds)*time.Second).String()+" and try again.")
}

// refused logs and answers a request that did not pass a gate.
func (h *Handler) refused(w http.ResponseWriter, r *http.Request, status int, reason, title, detail string) {
	h.log.Warn("request refused", "reason", reason, "status", status, "addr", r.RemoteAddr,
		"method", r.Method, "path", r.URL.Path, "host", r.Host, "origin", r.Header.Get("Origin"))
	problem(w, r, status, title, detail)
}
