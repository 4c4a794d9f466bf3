package dashboards

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed ro/*.json en/*.json
var generated embed.FS

// Files are the dashboards as they were generated: ro/*.json and en/*.json.
func Files() fs.FS { return generated }

// Export writes the dashboards into dir/ro and dir/en and returns the files' names. What
// stands there under their names is replaced, each file as a whole; other files stay.
func Export(dir string) ([]string, error) {
	var written []string
	err := fs.WalkDir(generated, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := generated.ReadFile(name)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := replace(file, b); err != nil {
			return err
		}
		written = append(written, file)
		return nil
	})
	if err != nil {
		return written, fmt.Errorf("write the dashboards to %s: %w", dir, err)
	}
	return written, nil
}

// replace writes a file beside its place first, so that a Grafana that watches the
// folder never reads half of one.
func replace(file string, b []byte) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // Grafana reads it as another user
		return err
	}
	beside, err := os.CreateTemp(folder, ".larder-*")
	if err != nil {
		return err
	}
	defer os.Remove(beside.Name()) // when it did not get there
	_, err = beside.Write(b)
	if failed := beside.Chmod(0o644); err == nil {
		err = failed
	}
	if failed := beside.Close(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return os.Rename(beside.Name(), file)
}
