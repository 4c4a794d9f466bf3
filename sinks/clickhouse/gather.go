package clickhouse

import (
	"context"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// A statement that adds up days costs 20 ms of CPU to plan, for one restaurant or for 300. So what is asked about
// the same days within a moment is one statement.
const (
	gatherQuiet = 100 * time.Millisecond // it begins when nobody has joined for this long,
	gatherMost  = time.Second            // or this long after the first one has
	gatherDays  = 1000                   // days times restaurants, which bound its answer
)

// sums adds up the days of q for each of some restaurants or locations.
type sums func(ctx context.Context, q sinks.DayQuery, of []whose) (map[whose][]sinks.DayFigures, error)

// whose figures they are; an empty location is all of them.
type whose struct{ business, location string }

// gatherer answers what is asked about single restaurants with statements about several.
type gatherer struct {
	sum sums

	mu   sync.Mutex          // guards what follows
	open map[span]*gathering // those that may be joined
}

// span is the days of a statement, of single locations or of all together.
type span struct {
	from, to string
	located  bool
}

func newGatherer(sum sums) *gatherer { return &gatherer{sum: sum, open: map[span]*gathering{}} }

// gathering is one statement for all that wait for it.
type gathering struct {
	span    span
	of      map[whose]bool
	joined  int // how many have
	waiting int // how many still wait
	stop    context.CancelFunc
	done    chan struct{}
	answers map[whose][]sinks.DayFigures // when done is closed
	err     error
}

// figures are read after they were asked for. A statement that fails, perhaps by what one restaurant has, is made once
// more by each that waits for it.
func (g *gatherer) figures(ctx context.Context, q sinks.DayQuery) ([]sinks.DayFigures, error) {
	own := whose{q.Business, q.Location}
	if q.Source == "" && q.Locations == nil && len(q.Except) == 0 {
		b := g.join(ctx, q, own)
		select {
		case <-b.done:
		case <-ctx.Done():
			g.leave(b)
			return nil, context.Cause(ctx)
		}
		if b.err == nil || len(b.of) == 1 {
			return b.answers[own], b.err
		}
	}
	answers, err := g.sum(ctx, q, []whose{own})
	return answers[own], err
}

// join joins the gathering of the days, or begins one.
func (g *gatherer) join(ctx context.Context, q sinks.DayQuery, own whose) *gathering {
	g.mu.Lock()
	defer g.mu.Unlock()
	span := span{q.From, q.To, q.Location != ""}
	b := g.open[span]
	if b == nil || len(b.of) >= max(gatherDays/daysOf(q), 1) {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // one that leaves stops no other
		b = &gathering{span: span, of: map[whose]bool{}, stop: stop, done: make(chan struct{})}
		g.open[span] = b
		go g.answer(ctx, b, q)
	}
	b.of[own] = true
	b.joined++
	b.waiting++
	return b
}

// daysOf is how many days a query is about.
func daysOf(q sinks.DayQuery) int {
	from, _ := time.Parse(time.DateOnly, q.From)
	to, _ := time.Parse(time.DateOnly, q.To)
	return max(int(to.Sub(from)/(24*time.Hour))+1, 1)
}

// leave stops a statement that nobody waits for any more.
func (g *gatherer) leave(b *gathering) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.waiting--; b.waiting == 0 {
		b.stop()
		g.close(b)
	}
}

// close lets nobody join any more. The caller holds mu.
func (g *gatherer) close(b *gathering) {
	if g.open[b.span] == b {
		delete(g.open, b.span)
	}
}

// answer makes the statement when enough have joined.
func (g *gatherer) answer(ctx context.Context, b *gathering, q sinks.DayQuery) {
	defer close(b.done)
	defer b.stop()
	of := g.gather(ctx, b)
	b.answers, b.err = g.sum(ctx, sinks.DayQuery{From: q.From, To: q.To, Location: q.Location}, of)
}

// gather waits until nobody joins, and returns those that have.
func (g *gatherer) gather(ctx context.Context, b *gathering) (of []whose) {
	for joined, last := 0, time.Now().Add(gatherMost); ; {
		select {
		case <-time.After(gatherQuiet):
		case <-ctx.Done():
		}
		g.mu.Lock()
		if b.joined == joined || ctx.Err() != nil || !time.Now().Before(last) {
			break // with mu
		}
		joined = b.joined
		g.mu.Unlock()
	}
	defer g.mu.Unlock()
	g.close(b)
	for own := range b.of {
		of = append(of, own)
	}
	return of
}
