package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"nearglass/server/access"
)

// ErrNoHost means that no host runs with this state folder.
var ErrNoHost = errors.New("no host is running")

// Control reaches the running host of a state folder through its socket.
type Control struct{ client http.Client }

// DialControl finds the running host. The error wraps ErrNoHost when there is
// none.
func DialControl(ctx context.Context, stateDir string) (*Control, error) {
	path := filepath.Join(stateDir, SocketName)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	c, err := dial(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("%w with the state folder %s", ErrNoHost, stateDir)
	}
	_ = c.Close()
	return &Control{http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// Pair opens a pairing code. Empty rights mean those of the host's own setting.
func (c *Control) Pair(ctx context.Context, rights access.Rights) (p Pairing, err error) {
	err = c.do(ctx, "POST", "/pair", map[string]any{"rights": rights}, &p)
	return p, err
}

// Status asks the host how it is.
func (c *Control) Status(ctx context.Context) (s Status, err error) {
	err = c.do(ctx, "GET", "/status", nil, &s)
	return s, err
}

// Devices lists the paired devices, without their token hashes.
func (c *Control) Devices(ctx context.Context) (list []access.Device, err error) {
	err = c.do(ctx, "GET", "/devices", nil, &list)
	return list, err
}

// Issue pairs a device without a code.
func (c *Control) Issue(ctx context.Context, name string, rights access.Rights) (i Issued, err error) {
	err = c.do(ctx, "POST", "/devices", map[string]any{"name": name, "rights": rights}, &i)
	return i, err
}

// Revoke ends a device and its streams.
func (c *Control) Revoke(ctx context.Context, id string) error {
	err := c.do(ctx, "DELETE", "/devices/"+url.PathEscape(id), nil, nil)
	var refusal *refusal
	if errors.As(err, &refusal) && refusal.status == http.StatusNotFound {
		return fmt.Errorf("%w: %q", access.ErrDevice, id)
	}
	return err
}

// refusal is the host's own word on why it did not do it.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return r.reason }

func (c *Control) do(ctx context.Context, method, path string, ask, into any) error {
	var body io.Reader
	if ask != nil {
		b, err := json.Marshal(ask)
		if err != nil {
			return fmt.Errorf("asking the host: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://host"+path, body)
	if err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err != nil {
		return fmt.Errorf("asking the host: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return &refusal{res.StatusCode, strings.TrimSpace(string(b))}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, into)
}

// DevicesFile is the paired devices of a state folder whose host is not
// running. A running host is asked through Control, so that a revoked stream
// ends at once.
type DevicesFile struct{ store *access.Store }

// OpenDevicesFile reads the devices of a state folder.
func OpenDevicesFile(stateDir string) (*DevicesFile, error) {
	store, err := access.Open(stateDir, nil)
	if err != nil {
		return nil, err
	}
	return &DevicesFile{store}, nil
}

// Devices lists the paired devices, without their token hashes.
func (f *DevicesFile) Devices(context.Context) ([]access.Device, error) {
	return withoutHashes(f.store.Devices()), nil
}

// Issue pairs a device without a code.
func (f *DevicesFile) Issue(_ context.Context, name string, rights access.Rights) (Issued, error) {
	token, d, err := f.store.Issue(time.Now(), name, or(rights, access.View))
	d.TokenHash = ""
	return Issued{token, d}, err
}

// Revoke removes a device.
func (f *DevicesFile) Revoke(_ context.Context, id string) error { return f.store.Revoke(id) }
