package signaling

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeCert makes a self-signed certificate for localhost with this serial.
func writeCert(t *testing.T, dir string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(serial), DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// serve runs a handler on what Listen gives and returns its address.
func serve(t *testing.T, h http.Handler, certFile, keyFile string) string {
	t.Helper()
	l, err := Listen(context.Background(), "127.0.0.1:0", certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(h, nil)
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return string(b)
}

var tells = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.TLS != nil {
		_, _ = io.WriteString(w, "tls")
		return
	}
	_, _ = io.WriteString(w, "plain")
})

func TestOnePortForBoth(t *testing.T) {
	certFile, keyFile := writeCert(t, t.TempDir(), 1)
	addr := serve(t, tells, certFile, keyFile)
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if got := get(t, "https://"+addr); got != "tls" {
		t.Errorf("HTTPS: %q", got)
	}
	if got := get(t, "http://"+addr); got != "plain" {
		t.Errorf("HTTP: %q", got)
	}
}

func TestPlainListener(t *testing.T) {
	if got := get(t, "http://"+serve(t, tells, "", "")); got != "plain" {
		t.Errorf("got %q", got)
	}
}

func TestClosedListener(t *testing.T) {
	l, err := Listen(context.Background(), "127.0.0.1:0", "", "")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if c, err := l.Accept(); err == nil {
		t.Errorf("accepted %v", c.RemoteAddr())
	}
	if _, err := Listen(context.Background(), "127.0.0.1:0", "/nonexistent", "/nonexistent"); err == nil {
		t.Error("a missing certificate was taken")
	}
}

// TestConnectionsGiveTheirPlaceBack opens more in turn than there are places.
func TestConnectionsGiveTheirPlaceBack(t *testing.T) {
	addr := serve(t, tells, "", "")
	for range maxConns + 10 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	if got := get(t, "http://"+addr); got != "plain" {
		t.Errorf("got %q", got)
	}
}

func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	c, err := newCertificate(writeCert(t, dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		pair, _ := c.get(nil)
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	later := func() {
		c.checked = time.Now().Add(-2 * recheck)
		now := time.Now().Add(time.Second) // file times can be coarse
		_ = os.Chtimes(c.certFile, now, now)
	}
	if err := os.WriteFile(c.certFile, []byte("half a certif"), 0o600); err != nil {
		t.Fatal(err)
	}
	later()
	if serial() != 1 {
		t.Fatal("a broken file replaced the certificate")
	}
	writeCert(t, dir, 2)
	later()
	if got := serial(); got != 2 {
		t.Fatalf("serial %d after the renewal", got)
	}
}
