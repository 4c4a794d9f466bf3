package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// When the process holds too much, readers' statements are stopped, and told why.
func TestReadersAreStoppedWhenTheProcessHoldsTooMuch(t *testing.T) {
	var log strings.Builder
	s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
	s.stopped, s.stop = context.WithCancel(t.Context())
	one, endOne := s.asking.under(t.Context())
	two, endTwo := s.asking.under(t.Context())
	s.watching.Go(func() { s.watchMemory(-1 << 50) }) // any process holds more
	for _, ctx := range []context.Context{one, two} {
		<-ctx.Done()
		if err := exception.As(inTime(ctx, errors.New("cut short"))); err.Code != exception.MemoryLimit {
			t.Errorf("told %v", err)
		}
	}
	endOne()
	endTwo()
	s.stop()
	s.watching.Wait()
	if !s.asking.none() || strings.Count(log.String(), "statements=2") != 1 {
		t.Errorf("log: %s", log.String())
	}
}
