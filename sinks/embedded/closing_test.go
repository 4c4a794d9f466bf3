package embedded

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A reader's statement that does not stop keeps the daemon from ending no longer than
// a moment; the folder is let go of when it has ended.
func TestCloseDoesNotWaitForReaders(t *testing.T) {
	o := Options{Path: t.TempDir()}
	engine, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !engine.reads.enter() {
		t.Fatal("closed")
	}
	closed := make(chan error, 1)
	go func() { closed <- engine.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still waiting")
	}
	if engine.reads.enter() || engine.work.enter() {
		t.Error("a statement began after Close")
	}
	if again, err := Open(context.Background(), o); !errors.Is(err, ErrOpen) {
		t.Fatalf("opened beside a statement that goes on: %v %v", again, err)
	}
	engine.reads.leave()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		again, err := Open(context.Background(), o)
		if err == nil {
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
