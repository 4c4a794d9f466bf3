package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/syncer"
)

// checkpointTable is the table that says where walks go on. Those that are left of it
// cannot be trusted when a part is lost, since they speak of each other: an old one that
// shows again, or one that is alone, would leave a gap that nobody sees.
const checkpointTable = "checkpoints"

// settleDamage acts, before walks begin, on damage that concerns more than rows: without
// its checkpoints, a list is walked from its beginning.
func (a *App) settleDamage(ctx context.Context, w *way, sink *clickhouse.Sink) error {
	for _, d := range a.lostCheckpoints(w) {
		if err := sink.ForgetCheckpoints(ctx); err != nil {
			return a.unreachable(err)
		}
		a.log.Warn("the checkpoints were damaged, and are dropped: every list is walked from its beginning, and nothing is missing when that has ended", "part", d.Part, "rows", d.Rows)
		if err := w.engine.Repaired(d.Database, d.Table, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// dropCheckpoints drops those that are left when a part of them was found damaged under a
// running daemon, which goes on with what it has in memory. The damage stays noted, so
// that the next start drops what was stored meanwhile, too: it may speak of what is gone.
func (a *App) dropCheckpoints(ctx context.Context, w *way, sink *clickhouse.Sink, dropped map[time.Time]bool) error {
	for _, d := range a.lostCheckpoints(w) {
		if dropped[d.Found] {
			continue
		}
		if err := sink.ForgetCheckpoints(ctx); err != nil {
			return a.unreachable(err)
		}
		dropped[d.Found] = true
	}
	return nil
}

func (a *App) lostCheckpoints(w *way) []embedded.Damage {
	if w.engine == nil {
		return nil
	}
	return slices.DeleteFunc(w.engine.Damages(), func(d embedded.Damage) bool { return d.Table != checkpointTable || !a.ours(d) })
}

// ours tells whether a damage is in the storage tables.
func (a *App) ours(d embedded.Damage) bool { return d.Database == a.cfg.Warehouse.Database+"_raw" }

// damageProblems says what is missing, and what brings it back.
func (a *App) damageProblems(w *way) []string {
	if w == nil || w.engine == nil {
		return nil
	}
	var texts []string
	for _, d := range w.engine.Damages() {
		texts = append(texts, "The embedded warehouse: "+d.String()+". "+a.remedy(d))
	}
	return texts
}

// damagedParts tells Prometheus how many there are.
func (d *daemon) damagedParts() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "larder_warehouse_damaged_parts", Help: "Parts of the embedded warehouse's tables that are damaged and set aside, their rows not brought back yet.",
	}, func() float64 { return float64(len(d.app.damageProblems(d.way))) })
}

func (a *App) remedy(d embedded.Damage) string {
	const disk = " Look at the disk, too: bytes do not change by themselves."
	switch {
	case !a.ours(d):
		return "It is no table of Larder's." + disk
	case slices.Contains(config.Streams, d.Table):
		return "larder sync --full --stream " + d.Table + " brings them back; what only that part held of removed rows does not come back." + disk
	case d.Table == checkpointTable:
		return "They say where walks go on. This daemon goes on with those in its memory; at its next start every list is walked from its beginning, in the background, and nothing is missing when that has ended." + disk
	case d.Table == "quarantine":
		return "larder sync --full finds the rows again that cannot be understood." + disk
	default:
		return "It is a record of Larder's own work, which goes on without it; larder sync --full ends this notice." + disk
	}
}

// tellDamage logs the same, for a command.
func (a *App) tellDamage(w *way) {
	for _, text := range a.damageProblems(w) {
		a.log.Warn(text)
	}
}

// repaired notes, after a full resync of all sources that went well, that what was
// missing before it has been brought back.
func (a *App) repaired(w *way, sel syncer.Selection, report syncer.Report) error {
	well := report.Err() == nil
	if w.engine == nil || !sel.Full || len(sel.Sources) > 0 || !well {
		return nil
	}
	var all []error
	for _, d := range w.engine.Damages() {
		if !slices.Contains(config.Streams, d.Table) && len(sel.Streams) > 0 || len(sel.Streams) > 0 && !slices.Contains(sel.Streams, d.Table) {
			continue
		}
		if unread(report, d.Table) {
			continue
		}
		all = append(all, w.engine.Repaired(d.Database, d.Table, report.StartedAt))
	}
	return errors.Join(all...)
}

// unread tells whether a stream was off for every source.
func unread(report syncer.Report, stream string) bool {
	known := false
	for _, s := range report.Sources {
		for _, st := range s.Streams {
			if st.Stream != stream {
				continue
			}
			if st.Off == "" {
				return false
			}
			known = true
		}
	}
	return known
}

// waiting says why rows wait. Those for a folder that is lost wait in vain.
func waiting(problem error) string {
	if errors.Is(problem, embedded.ErrFolderLost) {
		return fmt.Sprintf("No rows are stored: %v.", problem)
	}
	return fmt.Sprintf("Rows wait for the warehouse, and nothing is lost: %v", problem)
}
