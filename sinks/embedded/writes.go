package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// This version of the engine takes a write that the disk refused (no space, a
// quota, an input/output error) for one that went well: it acknowledges the
// insert and keeps a part that cannot be read. A merge does the same, and the
// parts it was made from are deleted eight minutes later. The engine does count
// such writes, so Larder looks at the counter before it acknowledges anything
// (DESIGN R1), and every few seconds for the sake of merges. Who
// reads a table between such a write and that look gets an error, never other rows.

const codeCannotWrite = 75

// watchEvery is how often the engine looks for writes that the disk refused.
const watchEvery = 5 * time.Second

// damage is what is known of writes that the disk refused.
type damage struct {
	refused atomic.Uint64 // how many, as last seen

	sync.Mutex                 // held while tables are mended
	suspect    bool            // some have not been looked into
	sound      time.Time       // until when everything written can be read
	detached   map[string]bool // tables to attach again
}

// guardWrites fails a statement during which the disk refused a write, or that was
// written into a folder that is not ours any more. before is
// the counter as it was last seen when the statement began: a write refused
// between two statements fails the second, which may then be run again.
func (e *Engine) guardWrites(c *conn, before uint64) error {
	if err := e.Admit(); err != nil {
		return err
	}
	now, err := e.countRefused(c)
	if err != nil {
		return err
	}
	if now == before {
		return nil
	}
	// What this statement has left may be younger than the last look, even where that
	// was for the very write that failed here.
	e.damage.Lock()
	e.damage.suspect = true
	e.damage.Unlock()
	e.mend(c)
	return exception.Refuse(codeCannotWrite, "CANNOT_WRITE_TO_FILE_DESCRIPTOR", "The disk of %s refused a write: nothing of this statement counts as stored; free some space and run it again", e.path)
}

// countRefused reads the counter. What is new in it makes the tables suspect.
func (e *Engine) countRefused(c *conn) (uint64, error) {
	looked := time.Now()
	now, err := c.refusedWrites()
	if err != nil {
		return 0, err
	}
	e.damage.Lock()
	defer e.damage.Unlock()
	if seen := e.damage.refused.Load(); now > seen {
		e.damage.refused.Store(now)
		e.damage.suspect = true
		e.log.Error("embedded engine: the disk refused a write: free space, and look for errors of the disk", "path", e.path, "writes", now-seen)
	}
	if !e.damage.suspect {
		e.damage.sound = looked
	}
	return now, nil
}

// refusedWrites is the counter, which counts from the start of the process, over
// all engines that it opened.
func (c *conn) refusedWrites() (uint64, error) {
	out, _, err := c.query("SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'", "TSV")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("count the writes that the disk refused: %w", err)
	}
	return n, nil
}

// trustDisk takes what is on the disk now for sound: the start has read it.
func (e *Engine) trustDisk() error {
	n, err := e.anchor.refusedWrites()
	e.damage.refused.Store(n)
	e.damage.sound, e.damage.detached = time.Now(), map[string]bool{}
	return err
}

// watchDisk looks for refused writes until the engine closes.
func (e *Engine) watchDisk() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if e.present() != nil {
				return // there is nothing left to look at
			}
			if err := e.look(); err != nil && e.stopped.Err() == nil {
				e.log.Error("embedded engine: look for writes that the disk refused", "path", e.path, "error", err)
			}
		case <-e.stopped.Done():
			return
		}
	}
}

func (e *Engine) look() error {
	return e.pool.use(e.stopped, Session{Database: "default"}, func(c *conn) error {
		if mended, err := e.mended(c); err != nil || !mended {
			return err
		}
		return e.lookForDamage(c)
	})
}

// mend takes unreadable parts out of the tables, if any are suspect. What it
// cannot do now is tried again at the next look.
func (e *Engine) mend(c *conn) {
	e.damage.Lock()
	defer e.damage.Unlock()
	if !e.damage.suspect {
		return
	}
	looked := time.Now()
	if err := e.mendTables(c); err != nil {
		e.log.Error("embedded engine: look for parts that cannot be read; tried again soon", "path", e.path, "error", err)
		return
	}
	e.damage.suspect, e.damage.sound = false, looked
}

func (e *Engine) mendTables(c *conn) (err error) {
	c.spoiled = true // of the setting
	if err := c.exec("SET lock_acquire_timeout = 10"); err != nil {
		return err
	}
	if err := e.attachAll(c); err != nil {
		return err
	}
	// A merge under way may have lost a write: it is not to end well.
	if err := c.exec("SYSTEM STOP MERGES"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.exec("SYSTEM START MERGES")) }()
	if err := e.awaitMerges(c); err != nil {
		return err
	}
	broken, err := e.brokenParts(c)
	if err != nil {
		return err
	}
	for _, p := range broken {
		if err := e.setAside(c, p); err != nil {
			return err
		}
	}
	if err := e.attachAll(c); err != nil {
		return err
	}
	return e.tellRefused(c)
}

// setAside takes a part out of its table. One of an insert (level 0) was never
// acknowledged, and is detached. A table with a part of a merge is detached whole:
// when it is attached, the parts that the merge was made from count again, as
// after a start.
func (e *Engine) setAside(c *conn, p brokenPart) error {
	switch {
	case e.damage.detached[p.table]:
		return nil
	case strings.HasSuffix(p.name, "_0"):
		e.log.Warn("embedded engine: a part that was never acknowledged cannot be read: it is detached", "table", p.table, "part", p.name)
		return c.exec("ALTER TABLE " + p.table + " DETACH PART " + sqltext.QuoteString(p.name))
	}
	e.log.Warn("embedded engine: a merged part cannot be read: back to the parts it was made from", "table", p.table, "part", p.name)
	if err := c.exec("DETACH TABLE " + p.table + " SYNC"); err != nil {
		return err
	}
	e.damage.detached[p.table] = true
	return nil
}

// attachAll attaches the tables that setAside detached.
func (e *Engine) attachAll(c *conn) error {
	for table := range e.damage.detached {
		if err := c.exec("ATTACH TABLE IF NOT EXISTS " + table); err != nil {
			return err
		}
		delete(e.damage.detached, table)
	}
	return nil
}

// awaitMerges waits until the merges that were told to stop have.
func (e *Engine) awaitMerges(c *conn) error {
	ctx, cancel := context.WithTimeout(e.stopped, 10*time.Second)
	defer cancel()
	for {
		out, _, err := c.query("SELECT count() FROM system.merges", "TSV")
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
func (e *Engine) brokenParts(c *conn) ([]brokenPart, error) {
	recent := fmt.Sprintf("SELECT database, table, name FROM system.parts WHERE active AND modification_time >= toDateTime(%d)", e.damage.sound.Add(-time.Minute).Unix())
	rows, err := c.list(recent)
	if err != nil {
		return nil, err
	}
	var broken []brokenPart
	for _, row := range rows {
		p := brokenPart{table: sqltext.QuoteIdentifier(row[0]) + "." + sqltext.QuoteIdentifier(row[1]), name: row[2]}
		sound, _, err := c.query("CHECK TABLE "+p.table+" PART "+sqltext.QuoteString(p.name)+" SETTINGS check_query_single_value_result = 1", "TSV")
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(sound)) != "1" {
			broken = append(broken, p)
		}
	}
	return broken, nil
}

// list is a query whose result is strings alone.
func (c *conn) list(sql string) ([][]string, error) {
	out, _, err := c.query(sql, "JSONCompactEachRow")
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
