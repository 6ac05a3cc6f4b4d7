package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// Firefox is a running headless Firefox with one page, driven by WebDriver
// BiDi (https://www.w3.org/TR/webdriver-bidi/). It is not safe for concurrent
// use.
type Firefox struct {
	proc    *Process
	profile string
	conn    *websocket.Conn
	ctx     context.Context // of StartFirefox
	page    string          // the browsing context
	last    int             // number of the last command
}

// firefoxPrefs keep a fresh profile quiet, let media play without a gesture and
// let it reach a host that listens on loopback alone.
const firefoxPrefs = `user_pref("app.update.enabled", false);
user_pref("app.normandy.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("media.autoplay.default", 0);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("media.gmp-manager.updateEnabled", false);
user_pref("media.peerconnection.ice.loopback", true);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`

var bidiLine = regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)

// StartFirefox starts Firefox with a fresh profile; log may be nil. It ends
// with ctx or Close.
func StartFirefox(ctx context.Context, log io.Writer) (*Firefox, error) {
	name := "firefox-esr"
	if Need(name) != nil {
		name = "firefox"
	}
	if err := Need(name); err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "firefox-")
	if err != nil {
		return nil, err
	}
	f := &Firefox{profile: profile, ctx: ctx}
	if err := f.start(name, log); err != nil {
		f.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return f, nil
}

func (f *Firefox) start(name string, log io.Writer) error {
	if err := os.WriteFile(filepath.Join(f.profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return err
	}
	var err error
	f.proc, err = Start(f.ctx, Command{Name: name, Log: log, Env: []string{"HOME=" + f.profile, "MOZ_CRASHREPORTER_DISABLE=1"},
		Args: []string{"--headless", "--no-remote", "--profile", f.profile, "--remote-debugging-port", "0", "about:blank"}})
	if err != nil {
		return err
	}
	limit, cancel := context.WithTimeoutCause(f.ctx, 60*time.Second, errors.New("nothing within 60 s"))
	defer cancel()
	match, err := f.proc.Output.Wait(limit, bidiLine)
	if err != nil {
		return err
	}
	f.conn, _, err = websocket.Dial(limit, match[1]+"/session", nil)
	if err != nil {
		return err
	}
	f.conn.SetReadLimit(64 << 20)
	if err := f.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil); err != nil {
		return err
	}
	var tree struct{ Contexts []struct{ Context string } }
	if err := f.call("browsingContext.getTree", map[string]any{}, &tree); err != nil {
		return err
	}
	if len(tree.Contexts) == 0 {
		return errors.New("it has no page")
	}
	f.page = tree.Contexts[0].Context
	return nil
}

// call sends one command and waits for its answer; events in between are
// dropped, since none are asked for.
func (f *Firefox) call(method string, params any, result any) error {
	ctx, cancel := context.WithTimeout(f.ctx, 2*callTime)
	defer cancel()
	f.last++
	if err := wsjson.Write(ctx, f.conn, map[string]any{"id": f.last, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		var answer struct {
			ID             int
			Type           string
			Error, Message string
			Result         json.RawMessage
		}
		if err := wsjson.Read(ctx, f.conn, &answer); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case answer.ID != f.last:
			continue
		case answer.Type == "error":
			return fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		case result == nil:
			return nil
		}
		return json.Unmarshal(answer.Result, result)
	}
}

// Open loads an address and waits until the page has loaded.
func (f *Firefox) Open(url string) error {
	return f.call("browsingContext.navigate", map[string]any{"context": f.page, "url": url, "wait": "complete"}, nil)
}

// EvalFirefox evaluates an expression in the page, waits for it when it is a
// promise, and decodes its value, which must be JSON's.
func EvalFirefox[T any](f *Firefox, expression string) (T, error) {
	var value T
	var answer struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	err := f.call("script.evaluate", map[string]any{
		"expression":   "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()",
		"target":       map[string]any{"context": f.page},
		"awaitPromise": true,
	}, &answer)
	if err == nil && answer.Type == "exception" {
		err = errors.New(answer.ExceptionDetails.Text)
	}
	if err == nil {
		err = json.NewDecoder(strings.NewReader(answer.Result.Value)).Decode(&value)
	}
	if err != nil {
		return value, fmt.Errorf("evaluate %s in Firefox: %w", brief(expression), err)
	}
	return value, nil
}

// Close ends the browser and removes its profile.
func (f *Firefox) Close() {
	if f.conn != nil {
		_ = f.conn.CloseNow()
	}
	if f.proc != nil {
		f.proc.Stop()
	}
	_ = os.RemoveAll(f.profile)
}
