package damage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// This version of the engine takes a write that the disk refused (no space, a
// quota, an input/output error) for one that went well: it acknowledges the
// insert and keeps a part that cannot be read. A merge does the same, and the
// parts it was made from are deleted eight minutes later. The engine does count
// such writes, so Larder looks at the counter before it acknowledges anything
// (docs/rules.md R1), and every few seconds for the sake of merges. Who reads a table
// between such a write and that look gets an error, never other rows.
//
// One look for all INSERTs of a flush would be too late: what says that rows are
// stored, as their checkpoint does, must not be stored before they are.

const codeCannotWrite = 75

// Writes is what is known of writes that the disk refused.
type Writes struct {
	path    string // of the data folder
	log     *slog.Logger
	stopped context.Context // ends with the engine
	refused atomic.Uint64   // how many, as last seen

	mu       sync.Mutex      // held while tables are mended
	suspect  bool            // some have not been looked into
	sound    time.Time       // until when everything written can be read
	detached map[string]bool // tables to attach again
}

// Refused is how many writes the disk has refused, as last seen.
func (w *Writes) Refused() uint64 { return w.refused.Load() }

// CheckRefused fails a statement during which the disk refused a write. before is
// the counter as it was last seen when the statement began: a write refused
// between two statements fails the second, which may then be run again.
func (w *Writes) CheckRefused(c Conn, before uint64) error {
	now, err := w.countRefused(c)
	if err != nil {
		return err
	}
	if now == before {
		return nil
	}
	// What this statement has left may be younger than the last look, even where that
	// was for the very write that failed here.
	w.mu.Lock()
	w.suspect = true
	w.mu.Unlock()
	w.mend(c)
	return exception.Refuse(codeCannotWrite, "CANNOT_WRITE_TO_FILE_DESCRIPTOR", "The disk of %s refused a write: nothing of this statement counts as stored; free some space and run it again", w.path)
}

// Mended is true when no write that the disk refused is waiting for its repair.
func (w *Writes) Mended(c Conn) (bool, error) {
	if _, err := w.countRefused(c); err != nil {
		return false, err
	}
	w.mend(c)
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.suspect, nil
}

// countRefused reads the counter. What is new in it makes the tables suspect.
func (w *Writes) countRefused(c Conn) (uint64, error) {
	looked := time.Now()
	now, err := refusedWrites(c)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen := w.refused.Load(); now > seen {
		w.refused.Store(now)
		w.suspect = true
		w.log.Error("embedded engine: the disk refused a write: free space, and look for errors of the disk", "path", w.path, "writes", now-seen)
	}
	if !w.suspect {
		w.sound = looked
	}
	return now, nil
}

// refusedWrites is the counter, which counts from the start of the process, over
// all engines that it opened.
func refusedWrites(c Conn) (uint64, error) {
	out, err := c.Ask("SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'", "TSV")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("count the writes that the disk refused: %w", err)
	}
	return n, nil
}

// TrustDisk takes what is on the disk now for sound: the start has read it.
func (w *Writes) TrustDisk(c Conn) error {
	n, err := refusedWrites(c)
	w.refused.Store(n)
	w.sound, w.detached = time.Now(), map[string]bool{}
	return err
}

// mend takes unreadable parts out of the tables, if any are suspect. What it
// cannot do now is tried again at the next look.
func (w *Writes) mend(c Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.suspect {
		return
	}
	looked := time.Now()
	if err := w.mendTables(c); err != nil {
		w.log.Error("embedded engine: look for parts that cannot be read; tried again soon", "path", w.path, "error", err)
		return
	}
	w.suspect, w.sound = false, looked
}

func (w *Writes) mendTables(c Conn) (err error) {
	c.Spoil() // of the setting
	if err := exec(c, "SET lock_acquire_timeout = 10"); err != nil {
		return err
	}
	if err := w.attachAll(c); err != nil {
		return err
	}
	// A merge under way may have lost a write: it is not to end well.
	if err := exec(c, "SYSTEM STOP MERGES"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exec(c, "SYSTEM START MERGES")) }()
	if err := w.awaitMerges(c); err != nil {
		return err
	}
	broken, err := w.brokenParts(c)
	if err != nil {
		return err
	}
	for _, p := range broken {
		if err := w.setAside(c, p); err != nil {
			return err
		}
	}
	if err := w.attachAll(c); err != nil {
		return err
	}
	return tellRefused(c)
}

// setAside takes a part out of its table. One of an insert (level 0) was never
// acknowledged, and is detached. A table with a part of a merge is detached whole:
// when it is attached, the parts that the merge was made from count again, as
// after a start.
func (w *Writes) setAside(c Conn, p brokenPart) error {
	switch {
	case w.detached[p.table]:
		return nil
	case strings.HasSuffix(p.name, "_0"):
		w.log.Warn("embedded engine: a part that was never acknowledged cannot be read: it is detached", "table", p.table, "part", p.name)
		return exec(c, "ALTER TABLE "+p.table+" DETACH PART "+sqltext.QuoteString(p.name))
	}
	w.log.Warn("embedded engine: a merged part cannot be read: back to the parts it was made from", "table", p.table, "part", p.name)
	if err := exec(c, "DETACH TABLE "+p.table+" SYNC"); err != nil {
		return err
	}
	w.detached[p.table] = true
	return nil
}

// attachAll attaches the tables that setAside detached.
func (w *Writes) attachAll(c Conn) error {
	for table := range w.detached {
		if err := exec(c, "ATTACH TABLE IF NOT EXISTS "+table); err != nil {
			return err
		}
		delete(w.detached, table)
	}
	return nil
}

// awaitMerges waits until the merges that were asked to stop have stopped.
func (w *Writes) awaitMerges(c Conn) error {
	ctx, cancel := context.WithTimeout(w.stopped, 10*time.Second)
	defer cancel()
	for {
		out, err := c.Ask("SELECT count() FROM system.merges", "TSV")
		if err != nil {
			return err
		}
		if strings.TrimSpace(string(out)) == "0" {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for merges to stop: %w", ctx.Err())
		}
	}
}

// brokenPart is a part of a table that cannot be read.
type brokenPart struct{ table, name string }

// brokenParts checks what was written since the tables were last known to be
// sound, with a margin for clocks that step.
func (w *Writes) brokenParts(c Conn) ([]brokenPart, error) {
	recent := fmt.Sprintf("SELECT database, table, name FROM system.parts WHERE active AND modification_time >= toDateTime(%d)", w.sound.Add(-time.Minute).Unix())
	rows, err := list(c, recent)
	if err != nil {
		return nil, err
	}
	var broken []brokenPart
	for _, row := range rows {
		p := brokenPart{table: sqltext.QuoteIdentifier(row[0]) + "." + sqltext.QuoteIdentifier(row[1]), name: row[2]}
		sound, err := c.Ask("CHECK TABLE "+p.table+" PART "+sqltext.QuoteString(p.name)+" SETTINGS check_query_single_value_result = 1", "TSV")
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(sound)) != "1" {
			broken = append(broken, p)
		}
	}
	return broken, nil
}
