package warehouse

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine/damage"
	"github.com/larder-sync/larder/syncer/status"
)

// checkpointTable is the table that says where walks go on. Those that are left of it
// cannot be trusted when a part is lost, since they speak of each other: an old one that
// shows again, or one that is alone, would leave a gap that nobody sees.
const checkpointTable = "checkpoints"

const quarantineTable = "quarantine"

// Damages reads the record of damaged parts of an embedded warehouse's tables.
type Damages struct {
	opener *Opener
	record *damage.Record // nil: it is remote
}

// Damages returns the damages of the warehouse that a route leads to.
func (a *Opener) Damages(w *Route) Damages {
	d := Damages{opener: a}
	if w.engine != nil {
		d.record = damage.RecordIn(a.Config.Warehouse.DSN.Dir(), a.Log)
	}
	return d
}

// all returns the damaged parts that the record in the data folder names.
func (a Damages) all() []damage.Part {
	if a.record == nil {
		return nil
	}
	all, err := a.record.All()
	if err != nil {
		a.opener.Log.Error("embedded engine", "error", err)
	}
	return all
}

// Settle acts on damage that concerns more than rows, before walks begin: without its checkpoints, a
// list is walked from its beginning.
func (a Damages) Settle(ctx context.Context, sink *clickhouse.Sink) error {
	dropped := map[time.Time]bool{}
	if err := a.DropCheckpoints(ctx, sink, dropped); err != nil || len(dropped) == 0 {
		return err
	}
	a.opener.Log.Warn("the checkpoints were damaged, and are dropped: every list is walked from its beginning, and nothing is missing when that has ended", "parts", len(dropped))
	return a.record.Repaired(a.opener.Config.Warehouse.Database+"_raw", checkpointTable, time.Now())
}

// DropCheckpoints drops what is stored of the checkpoints, once for each damage of theirs, which dropped
// keeps. A running daemon goes on with what it has in memory. The damage stays noted, so that the
// next start drops what was stored meanwhile, too: it may speak of what is gone.
func (a Damages) DropCheckpoints(ctx context.Context, sink *clickhouse.Sink, dropped map[time.Time]bool) error {
	for _, d := range a.all() {
		if d.Table != checkpointTable || !a.inStorage(d) || dropped[d.Found] {
			continue
		}
		if err := sink.ForgetCheckpoints(ctx); err != nil {
			return a.opener.Unreachable(err)
		}
		dropped[d.Found] = true
	}
	return nil
}

// inStorage reports whether a damage is in the storage tables.
func (a Damages) inStorage(d damage.Part) bool {
	return d.Database == a.opener.Config.Warehouse.Database+"_raw"
}

// Problems says what is missing, and what brings it back.
func (a Damages) Problems() []string {
	var texts []string
	for _, d := range a.all() {
		texts = append(texts, "The embedded warehouse: "+d.String()+". "+a.remedy(d))
	}
	return texts
}

// Streams are the streams of which rows are missing: not of those whose past states
// are lost, nor when a record of Larder's own work is.
func (a Damages) Streams() (streams []string) {
	for _, d := range a.all() {
		if a.inStorage(d) && slices.Contains(config.Streams, d.Table) {
			streams = append(streams, d.Table)
		}
	}
	return streams
}

func (a Damages) remedy(d damage.Part) string {
	const disk = " Look at the disk, too: bytes do not change by themselves."
	const ends = " larder sync --full ends this notice." + disk
	switch {
	case a.inStorage(d) && slices.Contains(config.Streams, d.Table):
		return "larder sync --full --stream " + d.Table + " brings them back; what only that part held of removed rows does not come back." + disk
	case a.inStorage(d) && d.Table == checkpointTable:
		return "They say where walks go on. This daemon goes on with those in its memory; at its next start every list is walked from its beginning, in the background, and nothing is missing when that has ended." + disk
	case a.inStorage(d) && d.Table == quarantineTable:
		return "larder sync --full finds the rows again that cannot be understood." + disk
	case a.inStorage(d) && d.Table == "proofs":
		return "They say which days add up: those days count as not compared. larder reconcile compares them again." + ends
	default:
		return "The API does not know what a table of past states or of Larder's own work holds: what only this part held is lost, unless a backup of the data folder has it." + ends
	}
}

// Repaired ends the notices of damages that came before what a syncer has brought anew:
// in a pass that was asked for, or by its schedule.
func (a Damages) Repaired(now func() status.Status) error {
	damaged := a.all()
	if len(damaged) == 0 {
		return nil
	}
	s := now()
	var all []error
	for _, d := range damaged {
		if d.Table == checkpointTable || !broughtBack(d, s) {
			continue
		}
		over := a.record.GivenUp
		if a.inStorage(d) && (d.Table == quarantineTable || slices.Contains(config.Streams, d.Table)) {
			over = a.record.Repaired
		}
		all = append(all, over(d.Database, d.Table, d.Found.Add(1)))
	}
	return errors.Join(all...)
}

// broughtBack reports whether every row that a damage may have cost has been written since,
// as far as the API has it: a walk that began before may have brought rows that were lost
// with the rest. For what is of no single stream, all streams count.
func broughtBack(d damage.Part, s status.Status) bool {
	one, any := slices.Contains(config.Streams, d.Table), false
	for i := range s.Sources {
		for j := range s.Sources[i].Streams {
			st := &s.Sources[i].Streams[j]
			// What is switched off at the restaurant is brought by nobody: only damage to it waits for that.
			off := st.State == status.StateOff || st.State == status.StateAPIDisabled && !one
			if off || one && st.Name != d.Table {
				continue
			}
			if !st.BroughtSince.After(d.Found) {
				return false
			}
			any = true
		}
	}
	return any
}
