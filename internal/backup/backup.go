// Package backup keeps the folders that backups of an embedded warehouse consist of.
//
// Contents: which folders are backups, the chain of an incremental one, where the engine writes
// one, and how a folder is put in its place.
package backup

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

const (
	manifestName = "larder-backup.json" // written last
	claimsName   = "checkpoints"
	rowsName     = "rows"
	metadata     = ".backup" // the engine's list of a backup's files
)

// Manifest describes a finished backup.
type Manifest struct {
	MadeAt   time.Time `json:"made_at"`
	Larder   string    `json:"larder"`
	Database string    `json:"database"`
	Rows     uint64    `json:"rows"`
	Bytes    int64     `json:"bytes"` // in this folder
	// Base is the backup that has what did not change, which was made at BaseMadeAt.
	Base       string    `json:"base,omitempty"`
	BaseMadeAt time.Time `json:"base_made_at,omitzero"`
}

// Read returns the manifest of a finished backup.
func Read(dir string) (m Manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(Unfinished(dir)):
		return m, fmt.Errorf("the backup %s was not finished (%s is what there is of it): use another one, or make it again", dir, Unfinished(dir))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return m, fmt.Errorf("%s is no finished backup: it has no %s", dir, manifestName)
	case err != nil:
		return m, fmt.Errorf("read the backup %s: %w", dir, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
	}
	return m, nil
}

// Unfinished is where a folder is until it is complete: hidden, beside its place.
func Unfinished(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".unfinished")
}

// Place returns the absolute path of a new backup, or why there can be none.
func Place(dir, data string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil || strings.TrimSpace(dir) == "" {
		return "", errors.Join(errors.New("a folder for the backup is needed"), err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return "", fmt.Errorf("the folder for %s is not there: %w; create it first", filepath.Base(absolute), err)
	}
	if hidden := filepath.Base(absolute); strings.HasPrefix(hidden, ".") && strings.HasSuffix(hidden, ".unfinished") {
		return "", fmt.Errorf("%s is the name of a backup that is not finished, and may be removed: choose another one", hidden)
	}
	if _, err := os.Lstat(absolute); err == nil {
		return "", fmt.Errorf("there is something at %s already: each backup needs a folder of its own, which it creates", absolute)
	}
	if data, err = filepath.Abs(data); err == nil {
		if real, err := filepath.EvalSymlinks(data); err == nil {
			data = real
		}
		if within, err := filepath.Rel(data, filepath.Join(parent, filepath.Base(absolute))); err == nil && within != ".." && !strings.HasPrefix(within, "../") {
			return "", fmt.Errorf("%s is in the data folder %s, and would be lost with it: name another place", absolute, data)
		}
	}
	return filepath.Join(parent, filepath.Base(absolute)), nil
}

// chain returns a backup and the ones that it is based on, the oldest last.
func chain(dir string) (dirs []string, err error) {
	for dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		if slices.Contains(dirs, dir) {
			return nil, fmt.Errorf("the backup %s is its own base", dir)
		}
		m, err := Read(dir)
		if err != nil {
			if len(dirs) > 0 {
				return nil, fmt.Errorf("the backup %s needs its base: %w", dirs[len(dirs)-1], err)
			}
			return nil, err
		}
		dirs = append(dirs, dir)
		if beside := filepath.Join(filepath.Dir(dir), filepath.Base(m.Base)); m.Base != "" && !m.isBase(m.Base) && m.isBase(beside) {
			m.Base = beside // all of them were moved
		}
		if m.Base != "" && exists(m.Base) && !m.isBase(m.Base) {
			return nil, fmt.Errorf("the backup %s needs its base, made at %s: %s is not that one", dir, m.BaseMadeAt.Format(time.RFC3339), m.Base)
		}
		dir = m.Base
	}
	return dirs, nil
}

// isBase is true of the folder of the backup that m is based on.
func (m Manifest) isBase(dir string) bool {
	base, err := Read(dir)
	return err == nil && base.MadeAt.Equal(m.BaseMadeAt)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var baseElement = regexp.MustCompile(`<base_backup>[^<]*</base_backup>`)

// Stage makes a backup and its bases readable for an engine, which reads below one folder
// only: links to the files, and the engine's lists with the bases' paths as they are there.
func Stage(dir, into string) (clickhouse.BackupFolders, error) {
	dirs, err := chain(dir)
	if err != nil {
		return clickhouse.BackupFolders{}, err
	}
	folder := func(i int) string { return filepath.Join(into, "from"+strconv.Itoa(i)) }
	for i, from := range dirs {
		if err := stage(filepath.Join(from, rowsName), folder(i), folder(i+1)); err != nil {
			return clickhouse.BackupFolders{}, fmt.Errorf("read the backup %s: %w", from, err)
		}
	}
	claims := filepath.Join(into, "claims")
	err = stage(filepath.Join(dirs[0], claimsName), claims, "")
	return clickhouse.BackupFolders{Claims: claims, Rows: folder(0)}, err
}

func stage(from, to, base string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != metadata {
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	list, err := os.ReadFile(filepath.Join(from, metadata))
	if err != nil {
		return err
	}
	var escaped strings.Builder
	if err := xml.EscapeText(&escaped, []byte("File("+schema.Literal(base)+")")); err != nil {
		return err
	}
	list = baseElement.ReplaceAllLiteral(list, []byte("<base_backup>"+escaped.String()+"</base_backup>"))
	return os.WriteFile(filepath.Join(to, metadata), list, 0o600)
}

// Publish moves the two parts that the engine has written to the place of the backup.
func Publish(ctx context.Context, parts clickhouse.BackupFolders, m Manifest, dir string) (Manifest, error) {
	hidden := Unfinished(dir)
	if err := os.Mkdir(hidden, 0o700); err != nil {
		return m, err
	}
	for _, part := range [][2]string{{parts.Claims, claimsName}, {parts.Rows, rowsName}} {
		err := os.Rename(part[0], filepath.Join(hidden, part[1]))
		if errors.Is(err, syscall.EXDEV) { // another disk, or another mount of the same
			if err := NeedFree(filepath.Dir(dir), uint64(Size(part[0]))+LeftFree); err != nil {
				return m, fmt.Errorf("copy %s there: %w", part[0], err)
			}
			err = copyFolder(ctx, filepath.Join(hidden, part[1]), part[0])
		}
		if err != nil {
			return m, err
		}
	}
	m.Bytes = Size(hidden)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	if err := os.WriteFile(filepath.Join(hidden, manifestName), append(text, '\n'), 0o600); err != nil {
		return m, err
	}
	if err := syncAll(hidden); err != nil {
		return m, err
	}
	if err := os.Rename(hidden, dir); err != nil {
		return m, err
	}
	return m, sync(filepath.Dir(dir))
}

// copyFolder copies a folder until ctx ends.
func copyFolder(ctx context.Context, to, from string) error {
	return os.CopyFS(to, openFunc(func(name string) (fs.File, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return os.DirFS(from).Open(name)
	}))
}

// openFunc is a file system of which nothing but Open is known.
type openFunc func(name string) (fs.File, error)

func (f openFunc) Open(name string) (fs.File, error) { return f(name) }

// Lift moves the content of a complete folder into its parent, when the disk has all of it.
func Lift(hidden string) error {
	entries, err := os.ReadDir(hidden)
	if err = errors.Join(err, syncAll(hidden)); err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(hidden, e.Name()), filepath.Join(filepath.Dir(hidden), e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(sync(filepath.Dir(hidden)), os.Remove(hidden))
}

// Free is how many bytes the disk of a folder has for this user.
func Free(dir string) (float64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, fmt.Errorf("look how much space %s has: %w", dir, err)
	}
	return float64(disk.Bavail) * float64(disk.Bsize), nil
}

// LeftFree is what a backup leaves to others of a disk that it is written to, in bytes.
const LeftFree = 256 << 20

// NeedFree refuses a disk that has not so many bytes free.
func NeedFree(dir string, needed uint64) error {
	free, err := Free(dir)
	if err == nil && free < float64(needed) {
		err = fmt.Errorf("the disk of %s has %s free, and the backup may need %s there: free some space, or write only what is new with --base, on a recent backup",
			dir, config.Size(int64(free)), config.Size(int64(needed)))
	}
	return err
}

func syncAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		return sync(path)
	})
}

func sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Size is how many bytes the files of a folder have; those that vanish do not count.
func Size(dir string) int64 { return int64(SizeSince(dir, time.Time{})) }

// SizeSince is the size of the files of a folder that were not written before since. Of the
// engine's files, which it never changes, they are those that an earlier backup lacks.
func SizeSince(dir string, since time.Time) (bytes uint64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil && !info.ModTime().Before(since) {
				bytes += uint64(info.Size())
			}
		}
		return nil
	})
	return bytes
}
