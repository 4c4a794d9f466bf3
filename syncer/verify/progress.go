package verify

import (
	"time"

	"github.com/larder-sync/larder/syncer/status"
)

// locked calls f with the lock held.
func (v *verification) locked(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
}

// snapshot is the result so far.
func (v *verification) snapshot() StreamReport {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.result
	if r.Rows == 0 {
		r.Rows = v.compared
	}
	return r
}

// took counts a page of the API, until all rows have been compared.
func (v *verification) took(live int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.result.Rows > 0 {
		return
	}
	v.pages++
	v.pace.Page(time.Now())
	v.compared += uint64(live)
}

// progress is how far the comparison is, nil when it has ended; the rows to come are those
// that the mirror has.
func (v *verification) progress() *status.Progress {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := &status.Progress{Walk: status.WalkVerify, StartedAt: v.started, Pages: v.pages, Rows: v.compared, TotalRows: v.expecting, Suspects: v.waiting}
	switch {
	case v.ended:
		return nil
	case v.waiting > 0:
		p.ExpectedLeft = status.Seconds(max(time.Until(v.turns), 0))
	case p.TotalRows > 0:
		v.stream.Source.Lanes.Forecast(p, &v.pace)
	}
	return p
}
