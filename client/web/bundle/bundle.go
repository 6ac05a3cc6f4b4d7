// Package bundle turns the viewer's TypeScript and CSS into the files that
// package web embeds. It calls esbuild as a library, so building the viewer
// needs Go alone. Only the build command and the tests import it; the nearglass
// binary carries the result and not the bundler.
package bundle

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// targets are the oldest browsers with requestVideoFrameCallback, which the
// viewer uses to count pictures (Firefox gained it last, in version 132).
var targets = []api.Engine{
	{Name: api.EngineChrome, Version: "111"},
	{Name: api.EngineFirefox, Version: "132"},
	{Name: api.EngineSafari, Version: "16.4"},
}

// static lists the files of src that are copied as they are.
var static = []string{"icon.svg", "manifest.webmanifest"}

// Build bundles the viewer whose sources lie in dir/src and returns the files
// of the page by their slash-separated name: index.html, the script and the
// style sheet under names that carry a hash of their content, and the static
// files. The result depends on the sources alone, so it can be compared.
func Build(dir string) (map[string][]byte, error) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     dir,
		EntryPoints:       []string{"src/main.ts", "src/css/main.css"},
		Outdir:            "dist",
		Outbase:           "src",
		EntryNames:        "assets/[name]-[hash]",
		Bundle:            true,
		Write:             false,
		Metafile:          false,
		Format:            api.FormatESModule,
		Platform:          api.PlatformBrowser,
		Engines:           targets,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsNone,
		Charset:           api.CharsetUTF8,
		LogLevel:          api.LogLevelSilent,
		TsconfigRaw:       "{}",
	})
	if err := failure("bundle the viewer", result.Errors); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	var script, style string
	for _, f := range result.OutputFiles {
		name := path.Join("assets", filepath.Base(f.Path))
		files[name] = f.Contents
		switch path.Ext(name) {
		case ".js":
			script = name
		case ".css":
			style = name
		}
	}
	if err := addStatic(files, dir); err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(dir, "src", "index.html"))
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	fill := strings.NewReplacer("{{script}}", "/"+script, "{{style}}", "/"+style)
	files["index.html"] = []byte(fill.Replace(string(page)))
	return files, nil
}

// Tests bundles every dir/test/*.test.ts for node, each into one file, and
// writes them to out. It returns the paths written.
func Tests(dir, out string) ([]string, error) {
	entries, err := filepath.Glob(filepath.Join(dir, "test", "*.test.ts"))
	if err != nil || len(entries) == 0 {
		return nil, fmt.Errorf("find the viewer's tests in %s: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   entries,
		Outdir:        out,
		OutExtension:  map[string]string{".js": ".mjs"},
		Bundle:        true,
		Write:         true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformNode,
		Sourcemap:     api.SourceMapInline,
		LogLevel:      api.LogLevelSilent,
		TsconfigRaw:   "{}",
	})
	if err := failure("bundle the viewer's tests", result.Errors); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range result.OutputFiles {
		paths = append(paths, f.Path)
	}
	return paths, nil
}

func addStatic(files map[string][]byte, dir string) error {
	for _, name := range static {
		data, err := os.ReadFile(filepath.Join(dir, "src", name))
		if err != nil {
			return fmt.Errorf("read a static file of the page: %w", err)
		}
		files[name] = data
	}
	return nil
}

func failure(doing string, messages []api.Message) error {
	if len(messages) == 0 {
		return nil
	}
	lines := api.FormatMessages(messages, api.FormatMessagesOptions{Kind: api.ErrorMessage})
	return fmt.Errorf("%s: %s", doing, strings.TrimSpace(strings.Join(lines, "\n")))
}
