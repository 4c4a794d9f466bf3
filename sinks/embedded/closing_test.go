package embedded

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/polling"
)

// waits is a log that notes of what kind the attribute "waited" is.
type waits struct{ kind atomic.Int64 }

func (*waits) Enabled(context.Context, slog.Level) bool { return true }

func (w *waits) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "waited" {
			w.kind.Store(int64(a.Value.Kind()))
		}
		return true
	})
	return nil
}

func (w *waits) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *waits) WithGroup(string) slog.Handler { return w }

// A reader's statement that does not stop keeps the daemon from ending no longer than
// a moment; the folder is let go of when it has ended.
func TestCloseDoesNotWaitForReaders(t *testing.T) {
	var told waits
	o := Options{Path: t.TempDir(), Logger: slog.New(&told)}
	engine, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	readers := engine.NewPool(PoolOptions{Places: 1, Grace: time.Second})
	begun, end := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- readers.Use(context.Background(), Session{Database: "default"}, func(c *Conn) error {
			close(begun)
			<-end
			_, err := c.Ask("SELECT 1", "TSV")
			return err
		})
	}()
	<-begun
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
	for _, p := range []*Pool{readers, engine.Pool()} {
		err := p.Use(context.Background(), Session{}, func(*Conn) error { t.Error("a statement began after Close"); return nil })
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if again, err := Open(context.Background(), o); !errors.Is(err, ErrOpen) {
		t.Fatalf("opened beside a statement that goes on: %v %v", again, err)
	}
	if told.kind.Load() != int64(slog.KindDuration) { // so that logs in JSON give seconds
		t.Errorf("how long it waited is logged as a value of kind %d", told.kind.Load())
	}
	close(end)
	if err := <-ended; err != nil {
		t.Errorf("the statement that went on: %v", err)
	}
	var again *Engine
	if !polling.For(t.Context(), func() bool { again, err = Open(context.Background(), o); return err == nil }) {
		t.Fatalf("the folder is not let go of: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
