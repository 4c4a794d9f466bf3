package stream

import (
	"context"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/syncer/status"
)

// Lanes are the ways of a source's streams to the API, one for each lane of its budget
// (docs/rules.md B4).
type Lanes struct {
	Key       *budget.Key
	Fresh     *api.Client // incremental walks and snapshots
	Reconcile *api.Client // totals of yesterday and today, and what heals
	Deep      *api.Client // totals of many days
	Backfill  *api.Client // all that takes long
}

// AwaitDeep waits until the limits have room for a question of a deep run.
func (l *Lanes) AwaitDeep(ctx context.Context) error { return l.Key.Await(ctx, budget.Deep, true) }

// Forecast adds to the progress of a walk of a whole list how many pages are still to come, and how
// long they take. The pages to come are expected to hold as many rows that count as those that came.
func (l *Lanes) Forecast(p *status.Progress, pace *Pace) {
	left := p.TotalRows - min(p.Rows, p.TotalRows)
	if p.RequestsLeft = (left + api.PageLimit - 1) / api.PageLimit; p.Rows > 0 {
		p.RequestsLeft = (left*p.Pages + p.Rows - 1) / p.Rows
	}
	p.RequestsLeft = max(p.RequestsLeft, 1) // the page that says it is the last
	p.ExpectedLeft = status.Seconds(max(l.Key.Forecast(int(p.RequestsLeft), budget.Backfill, false), pace.Left(p.RequestsLeft)))
}

// ExpectDeep is how long so many questions of a deep run will take.
func (l *Lanes) ExpectDeep(questions int) time.Duration {
	return l.Key.Forecast(questions, budget.Deep, true)
}
