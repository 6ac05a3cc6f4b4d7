package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// BeforeResolve reads the config file once kong knows which command runs. That
// a missing file is fine holds for the default place alone.
func (c *cli) BeforeResolve(k *kong.Kong, ctx *kong.Context, e *env) error {
	path, asked := configPath(ctx)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the config file: %w", err)
	}
	f, err := parseConfig(path, data, settingNames(k.Model))
	if err != nil {
		return err
	}
	e.config = path
	ctx.AddResolver(f)
	return nil
}

// configPath is the file that --config or NEARGLASS_CONFIG names, or the
// default one.
func configPath(ctx *kong.Context) (path string, asked bool) {
	for _, f := range ctx.Flags() {
		if f.Name != "config" {
			continue
		}
		if s, ok := ctx.FlagValue(f).(string); ok && s != "" {
			return s, true
		}
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, "nearglass", "config.toml"), false
}

// settingNames are the flags that the file may set: those with a name in the
// environment, except the file's own.
func settingNames(app *kong.Application) map[string]bool {
	names := map[string]bool{}
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok && len(f.Envs) > 0 && f.Name != "config" {
			names[f.Name] = true
		}
		return next(nil)
	})
	return names
}

// Validate is part of kong.Resolver; parseConfig has done it.
func (f *configFile) Validate(*kong.Application) error { return nil }

// Resolve gives a flag its value from the file, unless the environment has one:
// kong by itself would let the file win.
func (f *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	s, ok := f.settings[flag.Name]
	if !ok || len(flag.Envs) == 0 || inEnvironment(flag.Envs) {
		return nil, nil
	}
	trial := reflect.New(flag.Target.Type()).Elem()
	if err := flag.Parse(kong.Scan().PushTyped(s.value, kong.FlagValueToken), trial); err != nil {
		reason := strings.TrimPrefix(err.Error(), "--"+flag.Name+": ")
		return nil, fmt.Errorf("%s:%d: %s", f.path, s.line, reason)
	}
	return s.value, nil
}

func inEnvironment(names []string) bool {
	for _, n := range names {
		if _, ok := os.LookupEnv(n); ok {
			return true
		}
	}
	return false
}
