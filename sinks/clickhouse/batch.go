package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// manyRows is how many questions one statement answers whose answers may have many rows each, as the
// lines of 92 days of a restaurant.
const manyRows = 40

// batcher answers questions of one kind with few statements: those that come while a statement for the
// same key runs are answered by the next one, together. No answer was read before its question came.
type batcher[Q, A any] struct {
	most int // questions of one statement, by their weight: it bounds the memory of its answer
	// read answers each of the questions, in their order. Callers share what equal questions have as
	// their answer, so none changes it.
	read func(ctx context.Context, key string, questions []Q) ([]A, error)
	// weight is what a question counts for, the same for all of a key; nil: one.
	weight func(Q) int
	// gather is how long a statement waits for questions that are about to come, the same for all of a key; nil: not.
	gather func(Q) time.Duration

	mu      sync.Mutex
	waiting map[string][]*question[Q, A] // by key, for as long as statements for it run
}

type question[Q, A any] struct {
	ctx      context.Context // its caller's
	is       Q
	answered chan struct{}
	answer   A
	err      error
	panicked string // with its stack
}

func batching[Q, A any](most int, read func(context.Context, string, []Q) ([]A, error)) *batcher[Q, A] {
	return &batcher[Q, A]{most: most, read: read, waiting: map[string][]*question[Q, A]{}}
}

// ask returns the answer to a question.
func (g *batcher[Q, A]) ask(ctx context.Context, key string, is Q) (A, error) {
	q := &question[Q, A]{ctx: ctx, is: is, answered: make(chan struct{})}
	g.mu.Lock()
	waiting, running := g.waiting[key]
	g.waiting[key] = append(waiting, q)
	g.mu.Unlock()
	if !running {
		go g.run(key)
	}
	select {
	case <-q.answered:
		if q.panicked != "" {
			panic(q.panicked) // in its caller's goroutine, which knows whose it is
		}
		return q.answer, q.err
	case <-ctx.Done():
		var none A
		return none, context.Cause(ctx)
	}
}

// run answers the questions of a key until none is left.
func (g *batcher[Q, A]) run(key string) {
	for {
		g.mu.Lock()
		if len(g.waiting[key]) == 0 {
			delete(g.waiting, key)
			g.mu.Unlock()
			return
		}
		first := g.waiting[key][0].is
		g.mu.Unlock()
		if g.gather != nil {
			time.Sleep(g.gather(first))
		}
		g.answer(key, g.take(key))
	}
}

// take takes the questions of the next statement from those that wait, unless nobody waits for them any more.
func (g *batcher[Q, A]) take(key string) []*question[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	all, n := slices.DeleteFunc(g.waiting[key], func(q *question[Q, A]) bool { return q.ctx.Err() != nil }), g.most
	if g.weight != nil && len(all) > 0 {
		n = max(1, n/g.weight(all[0].is))
	}
	n = min(n, len(all))
	g.waiting[key] = all[n:]
	return all[:n:n]
}

// answer answers questions with one statement. Where it fails, each has one of its own: the data of one
// of them may be why.
func (g *batcher[Q, A]) answer(key string, all []*question[Q, A]) {
	if len(all) == 0 {
		return
	}
	answers, panicked, err := g.statement(key, all)
	if (err != nil || panicked != "") && len(all) > 1 && !errors.Is(err, sinks.ErrUnreachable) {
		for i, q := range all {
			if q.ctx.Err() == nil { // else nobody waits for it
				g.answer(key, all[i:i+1])
			}
		}
		return
	}
	for i, q := range all {
		if q.err, q.panicked = err, panicked; err == nil && panicked == "" {
			q.answer = answers[i]
		}
		close(q.answered)
	}
}

// statement runs until it is done or no caller waits for it any more.
func (g *batcher[Q, A]) statement(key string, all []*question[Q, A]) (answers []A, panicked string, err error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprintf("%v\n\n%s", r, debug.Stack())
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var left atomic.Int64
	left.Store(int64(len(all)))
	questions := make([]Q, len(all))
	for i, q := range all {
		questions[i] = q.is
		defer context.AfterFunc(q.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})()
	}
	answers, err = g.read(ctx, key, questions)
	return answers, "", err
}
