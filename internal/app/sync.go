package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// Sync makes one pass. Beside a daemon on the same embedded warehouse, the daemon
// makes it. A remote warehouse that is down is waited for as long as wait, at the
// start and in the middle. onProgress, which may be nil, is called about every second. The report
// is filled as far as the pass came; an error in a source or stream is a
// *SyncError.
func (a *App) Sync(ctx context.Context, sel syncer.Selection, wait time.Duration, onProgress func(syncer.Status)) (report syncer.Report, err error) {
	err = a.run(ctx, task{
		sel:   sel,
		there: func(w *route) (err error) { report, err = w.askSync(ctx, sel, onProgress); return err },
		here: func(l *lifecycle, w *route, sources []syncer.Source) (err error) {
			report, err = a.syncHere(ctx, l, w, pass{"larder sync", sources, sel, wait, onProgress})
			return err
		},
	})
	unserved := a.judgeScopes(&report, sel)
	switch {
	case err != nil:
	case report.Err() != nil:
		err = &SyncError{report}
	default:
		err = unserved
	}
	return report, err
}

// syncNews are a status now and then, at the end the report. The first are empty: they say
// that the pass is under way.
type syncNews struct {
	Status *syncer.Status `json:"status,omitempty"`
	Report *reportWire    `json:"report,omitempty"`
}

func serveSync(ctx context.Context, p passer, sel syncer.Selection, tell func(syncNews)) error {
	tell(syncNews{})
	report, err := p.RunOnce(ctx, sel, func(s syncer.Status) { tell(syncNews{Status: &s}) })
	if err == nil {
		tell(syncNews{Report: toWire(report)})
	}
	return err
}

// askSync lets the process that holds the engine make the pass.
func (w *route) askSync(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (report syncer.Report, err error) {
	pass, under := rand.Text(), false
	err = askFor(ctx, w, routeSync+"?pass="+pass, sel, func(n syncNews) (last bool) {
		under = true
		switch {
		case n.Report != nil:
			report = n.Report.report()
			return true
		case n.Status != nil:
			if onProgress != nil {
				onProgress(*n.Status)
			}
		}
		return false
	})
	if errors.Is(err, context.Canceled) {
		err = &InterruptedError{w.goesOn(ctx, pass, under, sel)}
	}
	return report, err
}

// goesOn tells what the daemon does of a pass that no one waits for any more.
func (w *route) goesOn(ctx context.Context, pass string, under bool, sel syncer.Selection) string {
	if !sel.Full {
		return goesOn(syncer.Status{}, sel)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s, err := w.askStatusAfter(ctx, pass)
	if err != nil || !under { // what was not taken yet may still be
		return "whether the daemon has begun the full resync is not known: larder status shows one that is under way; if it shows none, ask for it again"
	}
	return goesOn(s, sel)
}

// goesOn tells what the daemon does of a pass that is over since no one waits for it any
// more: what has begun is its own to bring to an end, a full resync as well as a backfill.
func goesOn(s syncer.Status, sel syncer.Selection) string {
	var resyncs []string
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			if st := &s.Sources[i].Streams[j]; st.Progress != nil && st.Progress.Resync() && sel.Has(s.Sources[i].Name, st.Name) {
				resyncs = append(resyncs, s.Sources[i].Name+" "+st.Name)
			}
		}
	}
	const see = "; larder status shows how far it is"
	switch {
	case !sel.Full:
		return "the daemon goes on by itself" + see
	case len(resyncs) == 0:
		return "the daemon goes on by itself; no full resync that you asked for is under way: ask for it again"
	case sel.ConfirmSweep:
		return "the daemon goes on with the full resync of " + strings.Join(resyncs, ", ") + ", without your confirmation of its sweep" + see
	default:
		return "the daemon goes on with the full resync of " + strings.Join(resyncs, ", ") + see
	}
}

// ownOrDaemon opens the engine, or finds the daemon that holds it.
func (a *reach) ownOrDaemon(ctx context.Context, l *lifecycle) (*route, error) {
	if a.cfg.Warehouse.DSN.Embedded() && a.servedByDaemon(ctx) {
		return a.throughHolder(), nil
	}
	if a.cfg.Warehouse.DSN.Embedded() {
		if err := a.freeFolderReplaced(ctx); err != nil {
			return nil, err
		}
	}
	return a.ownEngine(ctx, l)
}

// pass is what a command asks of a pass.
type pass struct {
	command    string // that asks for it
	sources    []syncer.Source
	sel        syncer.Selection
	wait       time.Duration
	onProgress func(syncer.Status)
}

// syncHere makes the pass in this process.
func (a *App) syncHere(ctx context.Context, l *lifecycle, w *route, p pass) (syncer.Report, error) {
	y, ctx, stop, err := a.syncerHere(ctx, l, w, p)
	if err != nil {
		return syncer.Report{}, err
	}
	defer stop()
	report, err := y.RunOnce(ctx, p.sel, p.onProgress)
	if err == nil {
		err = a.repaired(w, y.Status())
	}
	return report, err
}

// syncerHere makes a syncer of this process, for one pass. The context that it
// returns ends when the warehouse has gone.
func (a *App) syncerHere(ctx context.Context, l *lifecycle, w *route, p pass) (*syncer.Syncer, context.Context, func(), error) {
	sink, err := a.openSink(ctx, l, w, prometheus.NewRegistry())
	if err != nil {
		return nil, nil, nil, err
	}
	if err := a.migrated(ctx, sink, p.wait, a.tellDown); err != nil {
		return nil, nil, nil, err
	}
	if err := a.settleDamage(ctx, w, sink); err != nil {
		return nil, nil, nil, &WarehouseError{err}
	}
	a.tellDamage(w)
	down := &outage{}
	warehouse := func() syncer.Warehouse {
		return syncer.Warehouse{Away: down.text() != "", Damaged: a.damagedStreams(w)}
	}
	y, err := a.newSyncer(l, p.sources, sink, nil, warehouse)
	if err != nil {
		return nil, nil, nil, err
	}
	if w.engine != nil {
		mount(w.server, p.command, func() syncer.Status { return a.withProblems(y.Status(), w, down.text()) }, nil, a.log)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go a.giveUp(ctx, w, sink, p.wait, down, cancel)
	return y, ctx, func() { cancel(nil) }, nil
}

// giveUp ends a pass whose warehouse has gone, or takes no rows: they would wait
// for it forever.
func (a *reach) giveUp(ctx context.Context, w *route, sink *clickhouse.Sink, wait time.Duration, down *outage, cancel context.CancelCauseFunc) {
	for pause(ctx, min(max(wait/4, 100*time.Millisecond), watchEvery)) {
		problem := a.warehouseProblem(ctx, w, sink)
		if ctx.Err() != nil {
			problem = nil
		}
		began, first := down.saw(problem)
		switch {
		case first:
			a.tellDown(problem)
		case problem != nil && time.Since(began) > wait:
			cancel(&WarehouseError{fmt.Errorf("the warehouse has taken no rows for %s; what was not written is fetched again by the next sync: %w",
				time.Since(began).Round(time.Second), problem)})
			return
		}
	}
}

// outage is since when, and why, the warehouse takes no rows of a pass.
type outage struct {
	mu      sync.Mutex
	began   time.Time
	problem string
}

// saw notes how the warehouse is now: when the outage began, and whether that was just now.
func (o *outage) saw(problem error) (began time.Time, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if problem == nil {
		o.began, o.problem = time.Time{}, ""
		return o.began, false
	}
	if first = o.began.IsZero(); first {
		o.began = time.Now()
	}
	o.problem = waiting(problem)
	return o.began, first
}

// text is the outage in words, empty while there is none.
func (o *outage) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.problem
}
