package engine

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Whoever looks whether a folder is held, or was held elsewhere, takes nothing: a start that
// comes in the same instant goes on.
func TestLookingAtALockTakesNothing(t *testing.T) {
	dir := t.TempDir()
	held, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(Held(dir), ErrHeld) {
		t.Error("a folder that is held looks free")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = Held(dir)
				}
			}
		})
	}
	for n := range 200 {
		held, err := lockFolder(dir)
		if err != nil {
			t.Errorf("start %d: %v", n, err)
			break
		}
		if Held(dir) == nil {
			t.Errorf("start %d: the folder looks free", n)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	looking.Wait()
	if Held(dir) != nil || Held(filepath.Join(dir, "none")) != nil {
		t.Error("what is free, or no folder, looks held")
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("looking has made a folder")
	}
}

// Root opens no folder of another user's, who could not read what root writes there.
func TestRootOpensNobodysFolder(t *testing.T) {
	dir := t.TempDir()
	if err := foreign(dir, 0); err != nil {
		t.Errorf("a folder that nobody has opened: %v", err)
	}
	held, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(foreign(dir, 0), os.Chown(filepath.Join(dir, LockName), 1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := foreign(dir, 0); !errors.Is(err, ErrForeign) {
		t.Errorf("root opens another user's folder: %v", err)
	}
	if err := foreign(dir, 1); err != nil {
		t.Errorf("a user who is not root: %v", err)
	}
}
