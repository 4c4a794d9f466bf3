package list

import (
	"context"
	"fmt"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// The pages of one walk that may be asked for and not yet be durable: what a
// crash makes the walk fetch again (docs/rules.md R1). A slow walk keeps few, of which
// the last waits for its turn in the budget; a fast one as many as the sink gathers.
// With two, waiting for the warehouse costs a twentieth of the limits.
const (
	minWindow = 3
	maxWindow = 256
)

// window holds the receipts of a walk's pages until they are durable, oldest
// first; commits become durable in the order of Write.
type window struct {
	flush    time.Duration // how long the sink gathers
	patience time.Duration // how long after another the flush of what is waited for may be
	receipts []*sinks.Receipt
	pace     time.Duration // from wanting the last page to having it
}

// limit is how many pages arrive within a flush at the present pace.
func (w *window) limit() int {
	if w.pace <= 0 {
		return maxWindow
	}
	return int(min(max(w.flush/w.pace, minWindow), maxWindow))
}

// wait waits until at most so many pages are not durable.
func (w *window) wait(ctx context.Context, most int) error {
	for len(w.receipts) > most {
		if err := w.receipts[0].WaitPatiently(ctx, w.patience); err != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
		w.receipts = w.receipts[1:]
	}
	return nil
}
