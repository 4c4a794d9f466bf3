package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// asking are questions to a batcher whose statements wait until they are let go.
type asking struct {
	*batcher[string, string]
	let        chan error
	mu         sync.Mutex
	statements [][]string
	calls      sync.WaitGroup
}

func newAsking() *asking {
	a := &asking{let: make(chan error)}
	a.batcher = batching(10, func(ctx context.Context, key string, questions []string) ([]string, error) {
		a.mu.Lock()
		a.statements = append(a.statements, slices.Clone(questions))
		a.mu.Unlock()
		select {
		case err := <-a.let:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		answers := make([]string, len(questions))
		for i, q := range questions {
			if q == "panic" {
				panic("of one question")
			}
			answers[i] = key + q
		}
		return answers, nil
	})
	return a
}

func (a *asking) expect(ctx context.Context, t *testing.T, key, question string, want error) {
	a.calls.Go(func() {
		got, err := a.ask(ctx, key, question)
		if want == nil && (err != nil || got != key+question) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s of %s: %q, %v, want %v", question, key, got, err, want)
		}
	})
}

// What is asked while a statement runs is answered by the next one, never by the one under way.
func TestQuestionsThatWaitAreOneStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking()
		for i := range 2*a.most + 1 {
			a.expect(t.Context(), t, "k", fmt.Sprint(i), nil)
			synctest.Wait()
		}
		a.expect(t.Context(), t, "other", "0", nil)
		synctest.Wait()
		if len(a.statements) != 2 {
			t.Fatalf("under way: %q", a.statements)
		}
		for range 4 {
			a.let <- nil
			synctest.Wait()
		}
		a.calls.Wait()
		if n := len(a.statements); n != 4 || len(a.statements[2]) != a.most || len(a.waiting) != 0 {
			t.Errorf("%d statements of %q, %d keys wait", n, a.statements, len(a.waiting))
		}
	})
}

// A caller that stops waiting stops no other; the last one stops the statement.
func TestACallerThatStopsWaitingStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking()
		one, stopOne := context.WithCancel(t.Context())
		two, stopTwo := context.WithCancel(t.Context())
		a.expect(one, t, "k", "a", context.Canceled)
		synctest.Wait()
		a.expect(one, t, "k", "b", context.Canceled)
		a.expect(two, t, "k", "c", context.Canceled)
		a.expect(t.Context(), t, "k", "d", nil)
		synctest.Wait()
		stopOne()
		synctest.Wait()
		if len(a.statements) != 2 || len(a.statements[1]) != 2 {
			t.Fatalf("%q: the first has no caller any more", a.statements)
		}
		stopTwo()
		synctest.Wait()
		a.let <- nil
		a.calls.Wait()
	})
}

// A statement that fails for several is made for each alone, unless nobody is there to answer it.
func TestAStatementThatFailsForOneFailsForNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsking()
		refused := errors.New("too much memory")
		a.expect(t.Context(), t, "k", "a", nil)
		synctest.Wait()
		a.expect(t.Context(), t, "k", "b", refused)
		synctest.Wait()
		a.expect(t.Context(), t, "k", "c", nil)
		synctest.Wait()
		for _, err := range []error{nil, refused, refused, nil} {
			a.let <- err
			synctest.Wait()
		}
		a.expect(t.Context(), t, "k", "d", sinks.ErrUnreachable)
		synctest.Wait()
		a.expect(t.Context(), t, "k", "e", sinks.ErrUnreachable)
		a.expect(t.Context(), t, "k", "f", sinks.ErrUnreachable)
		synctest.Wait()
		a.let <- sinks.ErrUnreachable
		synctest.Wait()
		a.let <- sinks.ErrUnreachable
		a.calls.Wait()
		a.calls.Go(func() {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, "of one question") || !strings.Contains(text, "batch_test.go") {
					t.Errorf("a panic of a statement is not its caller's, with its stack: %v", text)
				}
			}()
			answer, err := a.ask(t.Context(), "k", "panic")
			t.Errorf("a panic has answered %q, %v", answer, err)
		})
		synctest.Wait()
		a.let <- nil
		a.calls.Wait()
	})
}

// Sums wait for those that are about to come, and many days are of few restaurants.
func TestSumsOfTheSameDaysAreOneStatement(t *testing.T) {
	for name, c := range map[string]struct {
		to      string
		n       int
		patient bool
		within  time.Duration
		want    int
	}{
		"a group": {"2026-03-02", 300, false, 50 * time.Millisecond, 1}, "one": {"2026-03-02", 1, false, time.Millisecond, 1},
		"92 days, of 108 at a time": {"2026-05-31", 300, false, 50 * time.Millisecond, 3},
		"within a second":           {"2026-05-31", 100, false, 900 * time.Millisecond, 4},
		"that have a second":        {"2026-05-31", 100, true, 900 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				statements := 0
				days := batching(10_000, func(_ context.Context, _ string, queries []sinks.DayQuery) ([][]sinks.DayFigures, error) {
					statements++
					sums := map[whose][]sinks.DayFigures{}
					for _, q := range queries {
						sums[whose{q.Business, q.Location}] = []sinks.DayFigures{{Day: q.From, Line: q.Business}}
					}
					return answers(queries, sums), nil
				})
				days.weight, days.gather = daysOf, gathersSums
				var all sync.WaitGroup
				for i := range c.n {
					all.Go(func() {
						q := sinks.DayQuery{Business: fmt.Sprint("b", i), From: "2026-03-01", To: c.to, Patient: c.patient}
						time.Sleep(time.Duration(i) * c.within / time.Duration(c.n))
						answer, err := days.ask(t.Context(), spanOf(q), q)
						if err != nil || len(answer) != 1 || answer[0].Line != q.Business {
							t.Errorf("%+v: %+v, %v", q, answer, err)
						}
					})
				}
				all.Wait()
				if statements != c.want {
					t.Errorf("%d statements, want %d", statements, c.want)
				}
			})
		})
	}
}

// One statement answers only what is asked of the same days and in the same way.
func TestTheKeyOfASum(t *testing.T) {
	q := sinks.DayQuery{Business: "b", From: "2026-03-01", To: "2026-03-02"}
	keys := map[string]bool{spanOf(q): true}
	for _, edit := range []func(*sinks.DayQuery){
		func(q *sinks.DayQuery) { q.From = "2026-02-28" }, func(q *sinks.DayQuery) { q.To = "2026-03-03" },
		func(q *sinks.DayQuery) { q.Location = "l" }, func(q *sinks.DayQuery) { q.Source = "s" },
		func(q *sinks.DayQuery) { q.Locations = []string{"a", "b"} }, func(q *sinks.DayQuery) { q.Locations = []string{`a" "b`} },
		func(q *sinks.DayQuery) { q.Except = []string{"a", "b"} }, func(q *sinks.DayQuery) { q.Locations = []string{} },
		func(q *sinks.DayQuery) { q.Patient = true },
	} {
		other := q
		edit(&other)
		if keys[spanOf(other)] && other.Locations == nil {
			t.Errorf("%+v has the key of another query", other)
		}
		keys[spanOf(other)] = true
	}
	other := q
	other.Business = "c"
	if !keys[spanOf(other)] {
		t.Error("another restaurant has a key of its own")
	}
}
