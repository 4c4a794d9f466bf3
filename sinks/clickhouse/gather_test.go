package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// statements counts what is summed, each statement within a second.
type statements struct {
	mu   sync.Mutex
	made [][]whose
	fail bool // those for more than one
	took time.Duration
}

func (s *statements) sum(ctx context.Context, q sinks.DayQuery, of []whose) (map[whose][]sinks.DayFigures, error) {
	s.mu.Lock()
	s.made = append(s.made, of)
	s.mu.Unlock()
	select {
	case <-time.After(s.took):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.fail && len(of) > 1 {
		return nil, errors.New("memory limit exceeded")
	}
	sums := map[whose][]sinks.DayFigures{}
	for _, own := range of {
		sums[own] = []sinks.DayFigures{{Day: q.From, Line: own.business + "/" + own.location}}
	}
	return sums, nil
}

func TestQuestionsAboutTheSameDaysAreOneStatement(t *testing.T) {
	twoDays := func(business string) sinks.DayQuery {
		return sinks.DayQuery{Business: business, From: "2026-03-01", To: "2026-03-02"}
	}
	ask := func(t *testing.T, g *gatherer, n int, query func(string) sinks.DayQuery) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				q := query(fmt.Sprint("b", i))
				time.Sleep(time.Duration(i%50) * time.Millisecond)
				answer, err := g.figures(t.Context(), q)
				if err != nil || len(answer) != 1 || answer[0].Line != q.Business+"/"+q.Location || answer[0].Day != q.From {
					t.Errorf("%+v: %+v, %v", q, answer, err)
				}
			})
		}
		all.Wait()
	}
	narrowed := func(business string) sinks.DayQuery {
		q := twoDays(business)
		q.Except = []string{"l1"}
		return q
	}
	long := func(business string) sinks.DayQuery {
		return sinks.DayQuery{Business: business, Location: "l1", From: "2026-01-01", To: "2026-04-02"}
	}
	for name, c := range map[string]struct {
		n     int
		query func(string) sinks.DayQuery
		fail  bool
		want  int
	}{
		"a group":                       {300, twoDays, false, 1},
		"one":                           {1, twoDays, false, 1},
		"a failure, and each by itself": {5, twoDays, true, 6},
		"some locations of each":        {5, narrowed, false, 5},
		"92 days, of ten at a time":     {30, long, false, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &statements{fail: c.fail, took: time.Second}
				g := newGatherer(s.sum)
				ask(t, g, c.n, c.query)
				if len(s.made) != c.want || len(g.open) > 0 {
					t.Errorf("%d statements, want %d; %d are open", len(s.made), c.want, len(g.open))
				}
			})
		})
	}
}

// TestAnAnswerIsNoOlderThanItsQuestion: a bracket relies on it. One that leaves stops no other.
func TestAnAnswerIsNoOlderThanItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &statements{took: time.Minute}
		g := newGatherer(s.sum)
		ctx, cancel := context.WithCancel(t.Context())
		q := sinks.DayQuery{Business: "b", From: "2026-03-01", To: "2026-03-01"}
		gone, kept := make(chan error, 1), make(chan error, 1)
		go func() { _, err := g.figures(ctx, q); gone <- err }()
		go func() { _, err := g.figures(t.Context(), q); kept <- err }()
		time.Sleep(10 * time.Second) // the statement is under way
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		began := time.Now()
		if _, err := g.figures(t.Context(), q); err != nil || time.Since(began) < s.took {
			t.Errorf("answered after %s, %v", time.Since(began), err)
		}
		if err := <-kept; err != nil || len(s.made) != 2 {
			t.Errorf("%d statements, %v", len(s.made), err)
		}
		last, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := g.figures(last, q) // nobody waits for the statement any more
		synctest.Wait()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
