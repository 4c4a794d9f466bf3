package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// killAgain is when a query that should stop gets the order again: it may not have
// begun when it got it first. The pause doubles up to killSeldom, for one that
// looks at it after a long call only.
const (
	killAgain  = 50 * time.Millisecond
	killSeldom = 5 * time.Second
)

// markSetting carries the mark of a connection, by which its statement is found among those
// that run. It means nothing unless a statement asks for the cache of results.
const markSetting = "query_cache_tag"

// stopper stops statements, from a connection of its own.
type stopper struct {
	log *slog.Logger

	mu   sync.Mutex
	conn *Conn // nil when it is closed
}

// ask runs a short statement beside all that are under way, however many they are.
func (s *stopper) ask(sql string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return ErrClosed
	}
	_, err := s.conn.Ask(sql, "Null")
	return err
}

func (s *stopper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn.close()
	s.conn = nil
}

// cancellable stops the statement of a connection when ctx ends. Call release when it has
// returned.
func (s *stopper) cancellable(ctx context.Context, c *Conn) (release func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.stopQuery(c.mark, done)
	})
	return func() {
		close(done)
		if !stop() {
			<-ended
		}
	}
}

// stopQuery kills until done: the engine has no other way to end a statement
// that is being computed. SYNC would hang (docs/architecture/engine.md).
func (s *stopper) stopQuery(mark string, done <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := killAgain; ; pause = min(2*pause, killSeldom) {
		select {
		case <-done:
			return
		case <-timer.C:
			timer.Reset(pause)
		}
		if err := s.ask("KILL QUERY WHERE Settings['" + markSetting + "'] = " + sqltext.QuoteString(mark) + " ASYNC"); err != nil {
			s.log.Warn("embedded engine: a query could not be stopped", "error", err)
		}
	}
}
