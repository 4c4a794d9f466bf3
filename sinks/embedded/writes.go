package embedded

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// This version of the engine takes a write that the disk refused (no space, an
// input/output error) for one that went well: it acknowledges the insert and
// keeps a part that cannot be read. It does count such writes, so the front looks
// at the counter before it acknowledges anything (DESIGN R1).

const refusedWrites = "SELECT sum(value) FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'"

const codeCannotWrite = 75

// guardWrites fails a statement during which the disk refused a write. before is
// the counter as it was last seen when the statement began: a write refused
// between two statements fails the second, which may then be run again. target
// is the table of an insert; what the insert left there is taken out of it.
func (e *Engine) guardWrites(c *conn, before uint64, target string) error {
	out, _, err := c.query(refusedWrites, "TSV")
	if err != nil {
		return err
	}
	now, err := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return fmt.Errorf("count the writes that the disk refused: %w", err)
	}
	for seen := e.refused.Load(); seen < now && !e.refused.CompareAndSwap(seen, now); {
		seen = e.refused.Load()
	}
	if now == before {
		return nil
	}
	e.log.Error("embedded engine: the disk refused a write: free space, and look for errors of the disk", "path", e.path, "writes", now-before)
	if target != "" {
		e.setAside(c, target)
	}
	return refuse(codeCannotWrite, "CANNOT_WRITE_TO_FILE_DESCRIPTOR", "The disk of %s refused a write: nothing of this statement counts as stored; free some space and run it again", e.path)
}

// setAside detaches the unreadable parts of inserts (level 0) from a table: they
// were never acknowledged, and with them the table could not be read. An
// unreadable part of a merge is left for the next start, which falls back on the
// parts it was made from.
func (e *Engine) setAside(c *conn, table string) {
	out, _, err := c.query("CHECK TABLE "+table+" SETTINGS check_query_single_value_result = 0", "JSONCompactEachRow")
	if err != nil {
		e.log.Error("embedded engine: check a table after a refused write", "table", table, "error", err)
		return
	}
	for line := range strings.Lines(string(out)) {
		var row []any
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) < 2 {
			e.log.Error("embedded engine: read the check of a table", "table", table, "line", line)
			continue
		}
		if fmt.Sprint(row[1]) == "1" || fmt.Sprint(row[1]) == "true" {
			continue
		}
		e.setPartAside(c, table, path.Base(strings.TrimSuffix(fmt.Sprint(row[0]), "/")))
	}
}

func (e *Engine) setPartAside(c *conn, table, part string) {
	if !strings.HasSuffix(part, "_0") {
		e.log.Error("embedded engine: a merged part cannot be read: restart to go back to the parts it was made from", "table", table, "part", part)
		return
	}
	if err := c.exec("ALTER TABLE " + table + " DETACH PART " + quoteString(part)); err != nil {
		e.log.Error("embedded engine: detach a part that cannot be read", "table", table, "part", part, "error", err)
		return
	}
	e.log.Warn("embedded engine: detached a part that was never acknowledged", "table", table, "part", part)
}
