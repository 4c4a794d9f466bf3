package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Only a lock is another command's: every other error is its own.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	write(t, filepath.Join(dir, "one", "rows"), "x")
	if left, err := Left(dir); left || err != nil {
		t.Errorf("a backup under way has left something: %v, %v", left, err)
	}
	unlock()
	if left, err := Left(dir); !left || err != nil {
		t.Errorf("a backup that was killed has left nothing: %v, %v", left, err)
	}
	if left, err := Left(filepath.Join(dir, "none")); left || err != nil {
		t.Errorf("no folder: %v, %v", left, err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := Lock(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrLocked) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// A copy of many files ends between two of them when nobody waits for it any more.
func TestCopyEndsWithItsContext(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	write(t, filepath.Join(from, "a", "b"), "content")
	if err := copyFolder(t.Context(), to, from); err != nil || Size(to) != int64(len("content")) {
		t.Errorf("a copy of %d bytes: %v", Size(to), err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(os.ErrDeadlineExceeded)
	to += " 2"
	if err := copyFolder(ctx, to, from); !errors.Is(err, os.ErrDeadlineExceeded) || Size(to) > 0 {
		t.Errorf("a copy of %d bytes after its end: %v", Size(to), err)
	}
}

func TestSizeSince(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "old"), "1")
	write(t, filepath.Join(dir, "a", "new"), "22")
	base := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a", "old"), base, base.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if since, all := SizeSince(dir, base), Size(dir); since != 2 || all != 3 {
		t.Errorf("%d of %d bytes since the base, want 2 of 3", since, all)
	}
}
