package warehouse

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/sinks/engine/damage"
	"github.com/larder-sync/larder/syncer/status"
)

// A walk that began before the damage has brought rows that the damage took along.
func TestAResyncThatBeganBeforeTheDamageEndsNoNotice(t *testing.T) {
	found := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	d := damage.Part{Database: "larder_raw", Table: "products", Found: found}
	stream := func(name, state string, since time.Time) status.StreamStatus {
		return status.StreamStatus{Name: name, State: state, BroughtSince: since}
	}
	history := damage.Part{Database: "larder_raw", Table: "product_history", Found: found}
	before, after, run, off := found.Add(-time.Minute), found.Add(time.Minute), status.StateRunning, status.StateOff
	for name, c := range map[string]struct {
		damage  damage.Part
		streams []status.StreamStatus
		want    bool
	}{
		"none since the start":         {d, []status.StreamStatus{stream("products", run, time.Time{})}, false},
		"began before":                 {d, []status.StreamStatus{stream("products", run, before)}, false},
		"began after":                  {d, []status.StreamStatus{stream("products", run, after)}, true},
		"another source's before":      {d, []status.StreamStatus{stream("products", run, after), stream("products", run, before)}, false},
		"another stream's before":      {d, []status.StreamStatus{stream("products", run, after), stream("categories", run, before)}, true},
		"off everywhere":               {d, []status.StreamStatus{stream("products", off, time.Time{})}, false},
		"off for one source":           {d, []status.StreamStatus{stream("products", run, after), stream("products", off, time.Time{})}, true},
		"a record, one stream before":  {history, []status.StreamStatus{stream("products", run, after), stream("categories", run, before)}, false},
		"a record, all streams after":  {history, []status.StreamStatus{stream("products", run, after), stream("categories", run, after)}, true},
		"a record, nothing is running": {history, nil, false},
	} {
		var s status.Status
		for _, st := range c.streams {
			s.Sources = append(s.Sources, status.SourceStatus{Streams: []status.StreamStatus{st}})
		}
		if got := broughtBack(c.damage, s); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A status of a thousand sources is work: none is made while nothing is damaged.
func TestWithoutDamagesNoStatusIsMade(t *testing.T) {
	folder, log := t.TempDir(), slog.New(slog.DiscardHandler)
	d := Damages{opener: &Opener{Log: log, Config: &config.Config{}}, record: damage.RecordIn(folder, log)}
	made := 0
	repaired := func() error { return d.Repaired(func() status.Status { made++; return status.Status{} }) }
	if err := repaired(); err != nil || made > 0 {
		t.Errorf("%d statuses are made without a damage: %v", made, err)
	}
	err := os.WriteFile(filepath.Join(folder, damage.FileName), []byte(`[{"table":"products"},{"table":"sales_orders"}]`), 0o600)
	if err := errors.Join(err, repaired()); err != nil || made != 1 {
		t.Errorf("%d statuses are made for two damages: %v", made, err)
	}
}
