package signaling

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// recheck is how often the files are looked at for a newer certificate. Those
// of Let's Encrypt are renewed weeks before they end.
const recheck = time.Minute

// certificate is a certificate in two files, read again when one changes: a
// host runs longer than a certificate lasts.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	current *tls.Certificate
	changed [2]time.Time
	checked time.Time
}

func newCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("loading the TLS certificate: %w", err)
	}
	return c, nil
}

// get answers tls.Config.GetCertificate. While a new pair of files does not
// load, perhaps half written, the old certificate serves on.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) > recheck {
		c.checked = now
		if c.times() != c.changed {
			_ = c.load()
		}
	}
	return c.current, nil
}

func (c *certificate) load() error {
	times := c.times()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.changed, c.checked = &pair, times, time.Now()
	return nil
}

func (c *certificate) times() (t [2]time.Time) {
	for i, f := range []string{c.certFile, c.keyFile} {
		if s, err := os.Stat(f); err == nil {
			t[i] = s.ModTime()
		}
	}
	return t
}
