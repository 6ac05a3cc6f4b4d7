package signaling

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Logs keeps what viewers record of their streams and gives reports. Its methods
// may be called concurrently.
type Logs interface {
	// Accept stores lines of a viewer's log, the first of which is the line
	// from, and says how many lines of it are stored then. The error wraps
	// ErrNoStream or ErrLines, or is a *MissingError, where they apply.
	Accept(now time.Time, v Viewer, stream string, from int, lines []byte) (stored int, err error)
	// Report writes what is known of a stream as one zip file. When the error
	// wraps ErrNoStream nothing was written.
	Report(ctx context.Context, v Viewer, stream string, w io.Writer) error
}

// Errors by which Logs choose the status of an answer.
var (
	ErrNoStream = errors.New("this device had no such stream, or its log is gone") // 404
	ErrLines    = errors.New("that is no part of a viewer's log")                  // 400
)

// MissingError answers lines before which others are missing (409).
type MissingError struct{ Stored int }

func (e *MissingError) Error() string { return "lines before these are missing" }

// typeLines is the media type of JSON, one object a line.
const typeLines = "application/jsonl"

// postLog takes lines of a viewer's log: POST /api/streams/{id}/log?from=N.
func (h *Handler) postLog(w http.ResponseWriter, r *http.Request, v Viewer) {
	if mediaType(r) != typeLines {
		problem(w, r, http.StatusUnsupportedMediaType, "That content type is not understood", "Send "+typeLines+".")
		return
	}
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 {
		problem(w, r, http.StatusBadRequest, "That is no place in a log", "Say in from how many lines were sent before.")
		return
	}
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	stored, err := h.cfg.Logs.Accept(time.Now(), v, r.PathValue("id"), from, []byte(body))
	var missing *MissingError
	switch {
	case errors.As(err, &missing):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		writeStored(w, missing.Stored)
	case errors.Is(err, ErrLines):
		problem(w, r, http.StatusBadRequest, "That is no part of a log", err.Error())
	case err != nil:
		h.logFailed(w, r, err)
	default:
		w.Header().Set("Content-Type", "application/json")
		writeStored(w, stored)
	}
}

func writeStored(w io.Writer, n int) { _, _ = io.WriteString(w, `{"stored":`+strconv.Itoa(n)+"}\n") }

// getReport answers the report on a stream of this device.
func (h *Handler) getReport(w http.ResponseWriter, r *http.Request, v Viewer) {
	id := r.PathValue("id")
	out := &lateHeader{w: w, set: func(head http.Header) {
		head.Set("Content-Type", "application/zip")
		head.Set("Content-Disposition", `attachment; filename="nearglass-`+printable(strings.ToLower(id))+`.zip"`)
		head.Set("Cache-Control", "no-store")
	}}
	err := h.cfg.Logs.Report(r.Context(), v, id, out)
	switch {
	case err != nil && !out.begun:
		h.logFailed(w, r, err)
	case err != nil:
		h.log.Error("a report broke off", "err", err)
		panic(http.ErrAbortHandler) // the only way to tell that it is not whole
	}
}

func (h *Handler) logFailed(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, ErrNoStream) {
		problem(w, r, http.StatusNotFound, "No such stream", err.Error()+".")
		return
	}
	h.failed(w, r, err)
}

// lateHeader sets the header of an answer with its first bytes, so that an error
// before them can still be told.
type lateHeader struct {
	w     http.ResponseWriter
	set   func(http.Header)
	begun bool
}

func (l *lateHeader) Write(b []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.set(l.w.Header())
	}
	return l.w.Write(b)
}
