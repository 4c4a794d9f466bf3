package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
)

// FilesWith are the files below a folder in which a text stands, of those that the engine
// compresses also when it stands there compressed. Files that vanish meanwhile are left out.
func FilesWith(t testing.TB, folder, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !d.Type().IsRegular():
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		plain := raw
		if filepath.Ext(path) == ".bin" {
			if plain, err = io.ReadAll(compress.NewReader(bytes.NewReader(raw))); err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		if bytes.Contains(raw, []byte(text)) || bytes.Contains(plain, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
