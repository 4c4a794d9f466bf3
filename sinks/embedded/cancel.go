package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// killAgain is when a query that should stop gets the order again: it may not have
// begun when it got it first. The pause doubles up to killSeldom, for one that
// looks at it after a long call only.
const (
	killAgain  = 50 * time.Millisecond
	killSeldom = 5 * time.Second
)

// markSetting carries the mark of a connection. It says nothing about a SELECT.
const markSetting = "insert_deduplication_token"

// stopper stops statements, from a connection of its own.
type stopper struct {
	mu     sync.Mutex
	conn   *Conn
	log    *slog.Logger
	marked atomic.Uint64 // how many statements were
}

// cancellable returns a mark to append to a statement, so that it can be found
// among those running, and stops that statement when ctx ends. Call release when
// it has returned. The engine shows a long statement cut short, and one with a
// secret rewritten, without the mark: a reader's is found by its connection's.
func (s *stopper) cancellable(ctx context.Context, c *Conn) (mark string, release func()) {
	mark = fmt.Sprintf("\n/*larder %d*/", s.marked.Add(1))
	found := "endsWith(query, " + sqltext.QuoteString(mark) + ")"
	if c.mark != "" {
		found = "Settings['" + markSetting + "'] = " + sqltext.QuoteString(c.mark)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.stopQuery(found, done)
	})
	return mark, func() {
		close(done)
		if !stop() {
			<-ended
		}
	}
}

// unmarked takes the mark out of the engine's quotations of a statement.
func unmarked(err error, mark string) error {
	var thrown *exception.Exception
	if errors.As(err, &thrown) {
		thrown.Message = strings.ReplaceAll(thrown.Message, mark, "")
	}
	return err
}

// stopQuery kills until done: the engine has no other way to end a statement
// that is being computed. SYNC would hang (DESIGN §8, pitfalls).
func (s *stopper) stopQuery(found string, done <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := killAgain; ; pause = min(2*pause, killSeldom) {
		select {
		case <-done:
			return
		case <-timer.C:
			timer.Reset(pause)
		}
		s.mu.Lock()
		_, err := s.conn.Ask("KILL QUERY WHERE "+found+" ASYNC", "Null")
		s.mu.Unlock()
		if err != nil {
			s.log.Warn("embedded engine: a query could not be stopped", "error", err)
		}
	}
}
