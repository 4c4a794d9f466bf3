package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// watched is a file under watch, in a folder of its own below dir.
type watched struct {
	t     *testing.T
	dir   string // the folder of the file as it is configured
	file  string
	watch Watch
	known Digest
}

func watchFile(t *testing.T, file string) *watched {
	t.Helper()
	w := &watched{t: t, dir: filepath.Dir(file), file: file, watch: Watch{File: file}, known: DigestOf(file)}
	w.unmoved("the beginning")
	return w
}

// must ends the test on an error of preparing it.
func (w *watched) must(errs ...error) {
	w.t.Helper()
	for _, err := range errs {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *watched) write(content string) {
	w.t.Helper()
	w.must(os.WriteFile(w.file, []byte(content), 0o600))
}

// reportsWithin reports whether a change is reported in a number of looks.
func (w *watched) reportsWithin(looks int) bool {
	for range looks {
		if w.watch.Changed(w.known) {
			return true
		}
	}
	return false
}

// reports expects that a change is reported, and takes the file as it is for known.
func (w *watched) reports(what string) {
	w.t.Helper()
	if !w.reportsWithin(5) {
		w.t.Errorf("%s: not noticed", what)
	}
	w.known = DigestOf(w.file)
}

// unmoved expects that nothing is reported.
func (w *watched) unmoved(what string) {
	w.t.Helper()
	if w.reportsWithin(5) {
		w.t.Errorf("%s: reported as a change", what)
	}
}

func newFile(t *testing.T) *watched {
	t.Helper()
	file := filepath.Join(t.TempDir(), "larder.yaml")
	if err := os.WriteFile(file, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	return watchFile(t, file)
}

func TestWatchNoticesEveryWayOfWriting(t *testing.T) {
	for name, write := range map[string]func(w *watched, content string) error{
		"in place": func(w *watched, content string) error { return os.WriteFile(w.file, []byte(content), 0o600) },
		"renamed over it": func(w *watched, content string) error {
			tmp := filepath.Join(w.dir, ".larder.yaml.swp")
			w.must(os.WriteFile(tmp, []byte(content), 0o600))
			return os.Rename(tmp, w.file)
		},
		"renamed away, then written": func(w *watched, content string) error {
			w.must(os.Rename(w.file, w.file+"~"))
			return os.WriteFile(w.file, []byte(content), 0o600)
		},
		"removed, then written": func(w *watched, content string) error {
			w.must(os.Remove(w.file))
			return os.WriteFile(w.file, []byte(content), 0o600)
		},
		"emptied, then written bit by bit": func(w *watched, content string) error {
			f, err := os.Create(w.file)
			w.must(err)
			for _, b := range []byte(content) {
				_, err := f.Write([]byte{b})
				w.must(err, f.Sync())
			}
			return f.Close()
		},
		"a hard link to another": func(w *watched, content string) error {
			other := filepath.Join(w.dir, "other")
			_ = os.Remove(other) // of the turn before
			w.must(os.WriteFile(other, []byte(content), 0o600), os.Remove(w.file))
			return os.Link(other, w.file)
		},
		"the folder exchanged": func(w *watched, content string) error {
			next := w.dir + "-next"
			w.must(os.Mkdir(next, 0o700), os.WriteFile(filepath.Join(next, "larder.yaml"), []byte(content), 0o600))
			w.must(os.Rename(w.dir, w.dir+"-"+content))
			return os.Rename(next, w.dir)
		},
		"the folder removed and made": func(w *watched, content string) error {
			w.must(os.RemoveAll(w.dir), os.Mkdir(w.dir, 0o700))
			return os.WriteFile(w.file, []byte(content), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFile(t)
			for _, content := range []string{"second", "third", "fourth"} {
				w.must(write(w, content))
				w.reports(content)
			}
		})
	}
}

// kubernetes writes a volume as its AtomicWriter does: a folder with a new name, a
// link to it that is renamed into place, and the old folder removed.
func kubernetes(t *testing.T, dir, generation, content string) {
	t.Helper()
	old, _ := os.Readlink(filepath.Join(dir, "..data")) // none yet: ""
	folder := filepath.Join(dir, "..2026_"+generation)
	for _, err := range []error{
		os.Mkdir(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "larder.yaml"), []byte(content), 0o600),
		os.Symlink(filepath.Base(folder), filepath.Join(dir, "..data_tmp")),
		os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.Symlink("..data/larder.yaml", filepath.Join(dir, "larder.yaml")); err != nil {
		t.Fatal(err)
	}
}

func TestWatchNoticesAConfigMap(t *testing.T) {
	dir := t.TempDir()
	kubernetes(t, dir, "1", "first")
	w := watchFile(t, filepath.Join(dir, "larder.yaml"))
	kubernetes(t, dir, "2", "second")
	w.reports("second")
	kubernetes(t, dir, "3", "second") // another key of the map has changed
	kubernetes(t, dir, "4", "third")
	w.reports("third")
	kubernetes(t, dir, "5", "fourth")
	w.reports("fourth")
}

func TestWatchNoticesExchangedLinks(t *testing.T) {
	dir := t.TempDir()
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	put := func(folder, content string) {
		must(os.MkdirAll(filepath.Join(dir, folder, "deep"), 0o700), os.WriteFile(filepath.Join(dir, folder, "deep", "real.yaml"), []byte(content), 0o600))
	}
	link := func(target, name string) {
		tmp := filepath.Join(dir, "tmp")
		must(os.Symlink(target, tmp), os.Rename(tmp, filepath.Join(dir, name)))
	}
	put("one", "1")
	put("two", "2")
	must(os.Mkdir(filepath.Join(dir, "etc"), 0o700))
	link(filepath.Join(dir, "one"), "current")           // absolute
	link("../current/deep/real.yaml", "etc/larder.yaml") // relative, through the other one
	w := watchFile(t, filepath.Join(dir, "etc", "larder.yaml"))
	link("two", "current")
	w.reports("the link in the middle")
	put("two", "3")
	w.reports("the file itself")
	link("../one/deep/real.yaml", "etc/larder.yaml")
	w.reports("the link at the end")
	put("two", "4") // not the file any more
	put("one", "5")
	w.reports("the file of the other link")
	w.unmoved("the same again")
}

func TestWatchReportsNothingWhenTheContentIsTheSame(t *testing.T) {
	w := newFile(t)
	at := time.Now().Add(time.Hour)
	w.must(os.Chtimes(w.file, at, at))
	w.unmoved("a touch")
	w.write("first")
	w.unmoved("the same written anew")
	w.must(os.Rename(w.file, w.file+"~"), os.Rename(w.file+"~", w.file))
	w.unmoved("away for a moment")
	w.must(os.Rename(w.file, w.file+"~"))
	w.known = DigestOf(w.file) // read while it was away
	w.must(os.Rename(w.file+"~", w.file))
	w.reports("back with what it held before")
	w.write("second")
	w.reports("a change after all")
}

func TestWatchReportsThatAFileStaysAway(t *testing.T) {
	w := newFile(t)
	w.must(os.Remove(w.file))
	w.reports("gone")
	w.write("first")
	w.reports("back")
	w.must(os.Truncate(w.file, 0))
	w.reports("empty")
	w.must(os.RemoveAll(w.dir))
	w.reports("the folder gone")
	w.must(os.MkdirAll(w.dir, 0o700))
	w.write("second")
	w.reports("the folder back")
}

func TestWatchWaitsForAFileOnItsWay(t *testing.T) {
	w := newFile(t)
	w.must(os.Remove(w.file))
	if w.reportsWithin(3) {
		t.Error("away")
	}
	w.write("")
	if w.reportsWithin(3) {
		t.Error("empty")
	}
	for _, part := range []string{"s", "se", "sec"} {
		w.write(part)
		if w.reportsWithin(1) {
			t.Errorf("%q is reported while it is written", part)
		}
	}
	w.write("second")
	if w.reportsWithin(3) || !w.reportsWithin(1) {
		t.Error("not reported when it was found alike for the fourth time")
	}
}

func TestWatchReportsWhatChangedBeforeIt(t *testing.T) {
	w := newFile(t)
	w.known = Digest{1}
	w.reports("another than the one that was read")
}
