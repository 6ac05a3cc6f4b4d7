package access

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FileName is the name of the devices file inside the state folder.
const FileName = "devices.json"

const fileVersion = 1

// maxFileBytes bounds what is read: 256 devices take about 90 KB.
const maxFileBytes = 1 << 20

type file struct {
	Version int      `json:"version"`
	Devices []Device `json:"devices"`
}

// load reads the devices file of a state folder; a missing one holds no devices.
func load(dir string) (path string, devices []Device, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("making the state folder: %w (name another with --state)", err)
	}
	path = filepath.Join(dir, FileName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("opening the devices file: %w (name another folder with --state)", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", nil, fmt.Errorf("reading the devices file: %w", err)
	}
	devices, err = parse(data)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %s: %w (put a backup in its place, or move it away and pair each device again)",
			ErrCorrupt, path, err)
	}
	return path, devices, nil
}

// parse reads a whole devices file and believes nothing in it that add could
// not have written.
func parse(data []byte) ([]Device, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it goes on after its end")
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("its version is %d and this program reads %d", f.Version, fileVersion)
	}
	seen := map[string]bool{}
	for i, d := range f.Devices {
		if err := d.check(); err != nil {
			return nil, fmt.Errorf("device %d: %w", i+1, err)
		}
		if seen[d.ID] {
			return nil, fmt.Errorf("device %d: id %q stands there twice", i+1, d.ID)
		}
		seen[d.ID] = true
	}
	return f.Devices, nil
}

func (d Device) check() error {
	if d.ID == "" {
		return errors.New("it has no id")
	}
	if _, err := ParseRights(string(d.Rights)); err != nil {
		return err
	}
	if raw, err := hex.DecodeString(d.TokenHash); err != nil || len(raw) != 32 {
		return errors.New("its token hash is not 64 hexadecimal digits")
	}
	return nil
}

// save replaces the devices file as a whole: a crash at any point leaves the
// old file or the new one.
func save(path string, devices []Device) error {
	data, err := json.MarshalIndent(file{fileVersion, devices}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the devices file: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), FileName+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("writing the devices file: %w", err)
	}
	defer os.Remove(tmp.Name()) // fails once it is renamed
	_, err = tmp.Write(append(data, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing the devices file: %w", err)
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes the rename itself durable. Where folders cannot be synced
// (Windows) the rename is as durable as the system makes it.
func syncFolder(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	_ = d.Sync()
}
