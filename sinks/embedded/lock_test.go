package embedded

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
