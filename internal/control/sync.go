package control

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/syncer"
)

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

// Sync lets the daemon make the pass.
func (c Client) Sync(ctx context.Context, sel syncer.Selection, onProgress func(syncer.Status)) (report syncer.Report, err error) {
	pass, under := rand.Text(), false
	err = askFor(ctx, c, routeSync+"?pass="+pass, sel, func(n syncNews) (last bool) {
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
		err = &exit.InterruptedError{Next: c.goesOn(ctx, pass, under, sel)}
	}
	return report, err
}

// goesOn says what the daemon does of a pass that no one waits for any more.
func (c Client) goesOn(ctx context.Context, pass string, under bool, sel syncer.Selection) string {
	if !sel.Full {
		return goesOn(syncer.Status{}, sel)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s, err := c.StatusAfter(ctx, pass)
	if err != nil || !under { // what was not taken yet may still be
		return "whether the daemon has begun the full resync is not known: larder status shows one that is under way; if it shows none, ask for it again"
	}
	return goesOn(s, sel)
}

// goesOn says what the daemon does of a pass that is over since no one waits for it any
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
