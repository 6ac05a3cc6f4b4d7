package desk

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fakeHost prints what the host prints and answers as its pair command does.
const fakeHost = `#!/bin/sh
case "$3" in
serve)
	test -d "$2" || exit 1
	printf '\n  Open  http://127.0.0.1:41234/     this machine\n  or    http://10.0.0.2:41234/\n'
	printf '\n  Code  123-456   once, until 12:00, to control\n\n'
	echo "args $*, display <$DISPLAY>"
	exec sleep 300 ;;
pair) echo '{"code": "654-321", "link": "http://127.0.0.1:41234/#pair=654321", "rights": "'"$5"'"}' ;;
*) echo "nearglass: no display"; exit 1 ;;
esac
`

func TestHost(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "host")
	if err := os.WriteFile(bin, []byte(fakeHost), 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := StartHost(limit(t), HostOptions{Binary: bin, Display: ":99", Args: []string{"--fps", "30"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if h.URL != "http://127.0.0.1:41234/" || h.Code != "123-456" || h.PairURL != h.URL+"#pair=123456" || h.Started <= 0 {
		t.Errorf("read %q, %q, %q, %v", h.URL, h.Code, h.PairURL, h.Started)
	}
	if _, err := h.Process.Output.Wait(limit(t), regexp.MustCompile(`serve --listen 127.0.0.1:0 --fps 30, display <:99>`)); err != nil {
		t.Error(err)
	}
	if link, err := h.Pair(t.Context(), "view"); link != h.URL+"#pair=654321" || err != nil {
		t.Errorf("paired at %q, %v", link, err)
	}
	h.Close()
	if _, err := os.Stat(h.StateDir); !os.IsNotExist(err) {
		t.Errorf("the state folder is left: %v", err)
	}
}

func TestHostThatFails(t *testing.T) {
	_, err := StartHost(limit(t), HostOptions{Binary: "sh", Prefix: []string{"sh", "-c", "echo the port is taken; exit 1", "-"}})
	if err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("error %v", err)
	}
}
