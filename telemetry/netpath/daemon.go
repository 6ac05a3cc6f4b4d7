package netpath

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
)

// Errors of a daemon that does not tell, worded to stand in a sentence about its
// network.
var (
	// ErrAbsent says that no daemon runs on this machine.
	ErrAbsent = errors.New("its daemon does not run here")
	// ErrRefused says that one runs and this user may not ask it.
	ErrRefused = errors.New("its daemon does not answer this user")
)

var (
	errHangs   = errors.New("its daemon does not answer")
	errStrange = errors.New("its daemon answered what cannot be read")
)

// mostAnswerBytes bounds an answer. A tailnet of ten thousand machines takes
// about 10 MB.
const mostAnswerBytes = 32 << 20

// ask gets a document from a daemon.
func ask(ctx context.Context, client *http.Client, url string, dress func(*http.Request)) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	dress(r)
	answer, err := client.Do(r)
	if err != nil {
		return nil, sorted(err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return nil, fmt.Errorf("%w (%s)", ErrRefused, answer.Status)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w (%s)", errStrange, answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswerBytes+1))
	if err != nil {
		return nil, sorted(err)
	}
	if len(data) > mostAnswerBytes {
		return nil, fmt.Errorf("%w (more than %d MB)", errStrange, mostAnswerBytes>>20)
	}
	return data, nil
}

// sorted turns what went wrong into one of the errors of a daemon.
func sorted(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errHangs
	case errors.Is(err, fs.ErrPermission):
		return ErrRefused
	case errors.Is(err, fs.ErrNotExist), refusedDial(err):
		return ErrAbsent
	}
	return fmt.Errorf("%w (%v)", errStrange, err)
}

// refusedDial says whether nothing listens.
func refusedDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// errSecret is what most systems answer to a user who may not ask ZeroTier.
var errSecret = fmt.Errorf("%w: only administrators can read its token", ErrRefused)

// readSecret reads the first readable of some files with a token.
func readSecret(files []string) (string, error) {
	result := ErrAbsent
	for _, name := range files {
		data, err := os.ReadFile(name)
		switch {
		case err == nil && len(data) <= 4096:
			return strings.TrimSpace(string(data)), nil
		case errors.Is(err, fs.ErrPermission):
			result = errSecret
		}
	}
	return "", result
}
