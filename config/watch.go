package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Digest tells contents of a file apart. It is zero for a file that cannot be read.
type Digest [sha256.Size]byte

// emptyFile is the digest of a file without content.
var emptyFile = Digest(sha256.Sum256(nil))

// DigestOf reads a file and returns its digest.
func DigestOf(file string) Digest {
	content, err := os.ReadFile(file)
	if err != nil {
		return Digest{}
	}
	return sha256.Sum256(content)
}

// patience is how long a file must be left alone before it is read, and how much
// longer when it is empty or not there: it may be on its way.
type patience struct {
	quiet, missing time.Duration
	looked         chan<- bool // hears of every look whether it found a change; nil but in tests
}

var usualPatience = patience{quiet: 300 * time.Millisecond, missing: 2 * time.Second}

// Watch sends to changed when the file has been written and its content is another than the
// known one, until ctx ends. It notices every way of writing a file: in place, by a
// rename, through symbolic links that are exchanged, as Kubernetes does it, with the
// file or its folder missing for a while. A file that stays missing is reported too.
func Watch(ctx context.Context, file string, known func() Digest, log *slog.Logger, changed chan<- struct{}) error {
	return watch(ctx, file, known, log, changed, usualPatience)
}

func watch(ctx context.Context, file string, known func() Digest, log *slog.Logger, changed chan<- struct{}, p patience) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("watch %s: %w", file, err)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", file, err)
	}
	defer func() {
		if err := notify.Close(); err != nil {
			log.Debug("end the watch of the configuration file", "error", err)
		}
	}()
	w := &watcher{path: path, known: known, log: log, patience: p, notify: notify, changed: changed}
	if err := w.follow(); err != nil {
		return fmt.Errorf("watch %s: %w", file, err)
	}
	w.run(ctx)
	return nil
}

type watcher struct {
	path     string
	known    func() Digest
	log      *slog.Logger
	patience patience
	notify   *fsnotify.Watcher
	changed  chan<- struct{} // of room for one

	entries []string  // see entriesOf
	folders []string  // of the entries
	missing time.Time // since when the file is empty or not there; zero: it is there
}

func (w *watcher) run(ctx context.Context) {
	look := time.NewTimer(w.patience.quiet) // it may have changed since it was read
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.notify.Events:
			if w.concerns(e.Name) {
				look.Reset(w.patience.quiet)
			}
		case err := <-w.notify.Errors: // events were lost
			w.log.Debug("watch of the configuration file", "error", err)
			look.Reset(w.patience.quiet)
		case <-look.C:
			found, again := w.look()
			if again > 0 {
				look.Reset(again)
			}
			if w.patience.looked != nil {
				w.patience.looked <- found
			}
		}
	}
}

// concerns is true when an event may be about the file. Others happen in its folder.
func (w *watcher) concerns(name string) bool {
	return slices.Contains(w.entries, name) || slices.Contains(w.folders, name)
}

// look reads the file, and tells when it has changed; again is when to look once
// more, 0 at the next event.
func (w *watcher) look() (found bool, again time.Duration) {
	if err := w.follow(); err != nil {
		w.log.Warn("changes of the configuration file may go unnoticed; SIGHUP makes Larder read it", "error", err)
	}
	now, known := DigestOf(w.path), w.known()
	if now != (Digest{}) && now != emptyFile {
		w.missing = time.Time{}
	} else if now != known {
		if w.missing.IsZero() {
			w.missing = time.Now()
		}
		if left := w.patience.missing - time.Since(w.missing); left > 0 {
			return false, left
		}
	}
	if now == known {
		return false, 0
	}
	select {
	case w.changed <- struct{}{}:
	default: // a change was sent already, and not yet received
	}
	return true, 0
}

// follow watches the folders of all that decides what the file is now, and no
// others. A folder may go just as it is about to be watched: then its own is.
func (w *watcher) follow() (err error) {
	for range 5 {
		if err = w.place(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for _, dir := range w.notify.WatchList() {
		if slices.Contains(w.folders, dir) {
			continue
		}
		if gone := w.notify.Remove(dir); gone != nil && !errors.Is(gone, fsnotify.ErrNonExistentWatch) {
			w.log.Debug("end the watch of a folder", "folder", dir, "error", gone)
		}
	}
	return err
}

func (w *watcher) place() error {
	w.entries, w.folders = entriesOf(w.path), nil
	for _, e := range w.entries {
		dir := filepath.Dir(e)
		if slices.Contains(w.folders, dir) {
			continue
		}
		if err := w.notify.Add(dir); err != nil {
			return fmt.Errorf("watch folder %s: %w", dir, err)
		}
		w.folders = append(w.folders, dir)
	}
	return nil
}

// maxLinks is how many symbolic links are followed: as many as Linux follows.
const maxLinks = 40

// entriesOf returns the entries of folders that decide what opening a path finds:
// the symbolic links on the way, and the file at its end, or the first entry that
// is not there. Their folders are free of links themselves.
func entriesOf(path string) []string {
	var all []string
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, parts(path)
	for links := 0; len(rest) > 0 && links <= maxLinks; {
		if rest[0] == ".." {
			at, rest = filepath.Dir(at), rest[1:]
			continue
		}
		entry := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(entry)
		switch {
		case err != nil:
			return append(all, entry)
		case info.Mode()&fs.ModeSymlink != 0:
			all = append(all, entry)
			links++
			target, err := os.Readlink(entry)
			if err != nil {
				return all
			}
			if filepath.IsAbs(target) {
				at = root
			}
			rest = append(parts(target), rest...)
		case len(rest) == 0:
			return append(all, entry)
		default:
			at = entry
		}
	}
	return all
}

// parts are the names that a path is made of.
func parts(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return s == "" || s == "." })
}
