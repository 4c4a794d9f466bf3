package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// A part whose bytes have changed on the disk fails every read that touches it, and
// every merge, while nobody says which rows are affected. The engine counts such errors;
// a part that CHECK TABLE finds damaged is detached, so that the rest of the table can be
// read, and what was in it is told and remembered until someone has brought it back.

// Damage is a part of a table that could not be read and was set aside. Its rows are
// missing; its files are in the table's folder for detached parts.
type Damage struct {
	Database string    `json:"database"`
	Table    string    `json:"table"`
	Part     string    `json:"part"`
	Rows     uint64    `json:"rows"`           // 0: not known
	Key      string    `json:"key,omitempty"`  // the columns of From and To
	From     string    `json:"from,omitempty"` // the first of its rows, in order of the key; empty: not known
	To       string    `json:"to,omitempty"`   // the last
	Found    time.Time `json:"found"`
}

// String says which table, and which rows.
func (d Damage) String() string {
	rows := "rows that cannot be counted"
	if d.Rows > 0 {
		rows = strconv.FormatUint(d.Rows, 10) + " rows"
	}
	text := fmt.Sprintf("part %s of table %s.%s was damaged on the disk and is set aside: %s are missing", d.Part, d.Database, d.Table, rows)
	if d.From != "" {
		text += fmt.Sprintf(", %s from %s to %s", d.Key, d.From, d.To)
	}
	return text
}

const damageName = "larder-damage.json"

// damages are those not brought back yet. They are kept in the data folder, beside the
// parts, so that a restart does not forget them.
type damages struct {
	file string

	looking sync.Mutex         // held while parts are looked at
	found   uint64             // errors that the engine has counted, as last seen
	sound   map[part]time.Time // parts that an error was about and that were sound, and when

	mu  sync.Mutex
	all []Damage
}

// part is one of a table.
type part struct{ database, table, name string }

// recheck is how long a part that was sound is not looked at again, so that nobody can
// keep the engine busy with errors of his own making.
const recheck = 10 * time.Minute

func (d *damages) load() error {
	text, err := os.ReadFile(d.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, &d.all)
	}
	if err != nil {
		return fmt.Errorf("read which parts were damaged: %s: %w; remove the file if it cannot be mended, and run larder sync --full", d.file, err)
	}
	return nil
}

// store replaces the file; the caller holds mu.
func (d *damages) store() error {
	if len(d.all) == 0 {
		if err := os.Remove(d.file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(d.all, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(d.file), ".damage-")
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), d.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Damages are the parts that were set aside and whose rows have not been brought back.
func (e *Engine) Damages() []Damage {
	e.damages.mu.Lock()
	defer e.damages.mu.Unlock()
	return slices.Clone(e.damages.all)
}

// Repaired forgets what was found in a table before an instant: its rows have been
// brought back since.
func (e *Engine) Repaired(database, table string, before time.Time) error {
	forgotten, err := e.forget(database, table, before)
	if forgotten {
		e.log.Info("embedded engine: what was missing has been brought back", "table", database+"."+table)
	}
	return err
}

// damageCodes are the engine's for what it cannot read back: a checksum that does not
// match, a block, mark or file of the wrong size or kind, a file that is not there.
var damageCodes = []int{32, 33, 39, 40, 87, 89, 91, 107, 128, 131, 226, 228, 246, 271, 361, 432, 740}

// readingPart finds the part in the engine's words about what it was reading.
var readingPart = regexp.MustCompile("\\(while reading from part [^\n]{1,999}?/([A-Za-z0-9_-]{1,256})/ in table `?([A-Za-z0-9_]{1,64})`?\\.`?([A-Za-z0-9_]{1,64})`? \\([0-9a-f-]{36}\\) located on disk ")

// quotesStatement finds where an error goes on with what somebody has asked: names and
// texts of the statement, which can be made to look like the engine's words.
var quotesStatement = regexp.MustCompile("(?i)in scope|while (executing|processing) ['f]")

// damagedPart is the part of ours that an error of reading is about. It is a hint: only
// the part itself tells whether it is damaged.
func (e *Engine) damagedPart(code int, message string) (p part, ok bool) {
	if !slices.Contains(damageCodes, code) {
		return part{}, false
	}
	if at := quotesStatement.FindStringIndex(message); at != nil {
		message = message[:at[0]]
	}
	m := readingPart.FindStringSubmatch(message)
	if m == nil || !e.owns(m[2]) {
		return part{}, false
	}
	return part{database: m[2], table: m[3], name: m[1]}, true
}

// SetAside takes damaged parts out of their tables when an error of reading tells of one.
// It is true when the statement may now be run again.
func (e *Engine) SetAside(ctx context.Context, err error) bool {
	var thrown *exception.Exception
	if !errors.As(err, &thrown) {
		return false
	}
	p, ok := e.damagedPart(thrown.Code, thrown.Message)
	if !ok {
		return false
	}
	// Held before a place is taken, so that however many readers meet a damage, they take
	// one of the daemon's own.
	e.damages.looking.Lock()
	defer e.damages.looking.Unlock()
	gone := false
	failed := e.pool.use(ctx, Session{Database: "default"}, func(c *conn) (err error) {
		// A part that the disk refused is no damage: its rows are in others, or were never
		// acknowledged.
		if mended, err := e.mended(c); err != nil || !mended {
			return err
		}
		gone, err = e.examine(c, p)
		return err
	})
	if failed != nil && !errors.Is(failed, ErrClosed) {
		e.log.Error("embedded engine: look for damaged parts", "table", p.database+"."+p.table, "error", failed)
	}
	return gone
}

// mended tells whether nothing is left of writes that the disk refused.
func (e *Engine) mended(c *conn) (bool, error) {
	if _, err := e.countRefused(c); err != nil {
		return false, err
	}
	e.mend(c)
	e.damage.Lock()
	defer e.damage.Unlock()
	return !e.damage.suspect, nil
}

// lookForDamage sets damaged parts aside that merges or reads have met.
func (e *Engine) lookForDamage(c *conn) error {
	rows, err := c.list(fmt.Sprintf("SELECT toString(code), toString(value), last_error_message FROM system.errors WHERE code IN (%s)", joined(damageCodes)))
	if err != nil {
		return err
	}
	counted := uint64(0)
	for _, row := range rows {
		n, err := strconv.ParseUint(row[1], 10, 64)
		if err != nil {
			return fmt.Errorf("count the errors of reading parts: %w", err)
		}
		counted += n
	}
	e.damages.looking.Lock()
	defer e.damages.looking.Unlock()
	before := e.damages.found
	e.damages.found = counted
	if counted <= before {
		return nil
	}
	for _, row := range rows {
		code, err := strconv.Atoi(row[0])
		if err != nil {
			return err
		}
		if p, ok := e.damagedPart(code, row[2]); ok {
			if _, err := e.examine(c, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func joined(codes []int) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = strconv.Itoa(code)
	}
	return strings.Join(texts, ", ")
}

// examine looks at a part that an error was about, and at all of its table when that one
// is damaged. gone says that the part is no longer in the table. The caller holds
// damages.looking.
func (e *Engine) examine(c *conn, p part) (gone bool, err error) {
	if err := e.present(); err != nil {
		return false, err
	}
	if time.Since(e.damages.sound[p]) < recheck {
		return false, nil
	}
	parts, err := c.activeParts(p.database, p.table)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(parts, func(row []string) bool { return row[0] == p.name }) {
		return true, nil // merged since, or set aside for another reader
	}
	sound, err := c.sound(p.database, p.table, p.name)
	if err != nil {
		return false, err
	}
	if !sound {
		return true, e.checkTable(c, p.database, p.table)
	}
	maps.DeleteFunc(e.damages.sound, func(_ part, at time.Time) bool { return time.Since(at) >= recheck })
	e.damages.sound[p] = time.Now()
	return false, nil
}

// activeParts are the names of a table's parts, and their numbers of rows.
func (c *conn) activeParts(database, table string) ([][]string, error) {
	return c.list("SELECT name, toString(rows) FROM system.parts WHERE active AND database = " + sqltext.QuoteString(database) + " AND table = " + sqltext.QuoteString(table))
}

// checkTable reads every part of a table and sets those aside that are damaged; the
// caller holds damages.looking.
func (e *Engine) checkTable(c *conn, database, table string) error {
	parts, err := c.activeParts(database, table)
	if err != nil {
		return err
	}
	for _, row := range parts {
		sound, err := c.sound(database, table, row[0])
		if err != nil {
			return err
		}
		if sound {
			continue
		}
		if err := e.detach(c, database, table, row); err != nil {
			return err
		}
	}
	return nil
}

// sound tells whether a part has the bytes that were written. What the engine cannot even
// check is not.
func (c *conn) sound(database, table, part string) (bool, error) {
	out, _, err := c.query("CHECK TABLE "+sqltext.QuoteIdentifier(database)+"."+sqltext.QuoteIdentifier(table)+" PART "+sqltext.QuoteString(part)+" SETTINGS check_query_single_value_result = 1", "TSV")
	var thrown *exception.Exception
	if errors.As(err, &thrown) && slices.Contains(damageCodes, thrown.Code) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return strings.TrimSpace(string(out)) == "1", nil
}

// detach takes a damaged part out of its table, once what was in it is known; the caller
// holds damages.looking.
func (e *Engine) detach(c *conn, database, table string, part []string) error {
	d := Damage{Database: database, Table: table, Part: part[0], Found: time.Now().UTC()}
	d.Rows, _ = strconv.ParseUint(part[1], 10, 64) // 0: not known
	c.span(&d)
	if err := c.exec("ALTER TABLE " + sqltext.QuoteIdentifier(database) + "." + sqltext.QuoteIdentifier(table) + " DETACH PART " + sqltext.QuoteString(d.Part)); err != nil {
		return fmt.Errorf("set part %s of %s.%s aside: %w", d.Part, database, table, err)
	}
	return e.damaged(d)
}

// damaged remembers a damage and tells it.
func (e *Engine) damaged(d Damage) error {
	e.damages.mu.Lock()
	defer e.damages.mu.Unlock()
	e.log.Error("embedded engine: "+d.String(), "database", d.Database, "table", d.Table, "part", d.Part, "rows", d.Rows)
	e.damages.all = append(e.damages.all, d)
	if err := e.damages.store(); err != nil {
		return fmt.Errorf("note which part was damaged: %w", err)
	}
	return nil
}

// span reads the first and the last key of a part out of its index, which is a file of
// its own; what cannot be read stays unknown.
func (c *conn) span(d *Damage) {
	keys, err := c.list("SELECT primary_key FROM system.tables WHERE database = " + sqltext.QuoteString(d.Database) + " AND name = " + sqltext.QuoteString(d.Table))
	if err != nil || len(keys) != 1 || keys[0][0] == "" {
		return
	}
	spans, err := c.list(fmt.Sprintf("SELECT toString(min((%[1]s))), toString(max((%[1]s))) FROM mergeTreeIndex(%[2]s, %[3]s) WHERE part_name = %[4]s",
		keys[0][0], sqltext.QuoteString(d.Database), sqltext.QuoteString(d.Table), sqltext.QuoteString(d.Part)))
	if err != nil || len(spans) != 1 {
		return
	}
	d.Key, d.From, d.To = keys[0][0], shortened(spans[0][0]), shortened(spans[0][1])
}

// shortened is a text as far as a message can carry it.
func shortened(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// smallTable is how large a table may be to be read whole at each start: what the daemon
// cannot begin without is in small ones.
const smallTable = 16 << 20

// findDamages looks, at the start, for parts that the engine has set aside by itself, and
// into all small tables.
func (e *Engine) findDamages(c *conn) error {
	if err := e.damages.load(); err != nil {
		return err
	}
	broken, err := c.list("SELECT database, table, name, path FROM system.detached_parts WHERE reason = 'broken-on-start'")
	if err != nil {
		return fmt.Errorf("look for parts that cannot be loaded: %w", err)
	}
	for _, row := range broken {
		if err := e.brokenAtStart(row); err != nil {
			return err
		}
	}
	e.damages.looking.Lock()
	defer e.damages.looking.Unlock()
	small, err := c.list(fmt.Sprintf("SELECT database, table FROM system.parts WHERE active GROUP BY database, table HAVING sum(bytes_on_disk) <= %d", smallTable))
	if err != nil {
		return fmt.Errorf("look for damaged parts: %w", err)
	}
	for _, row := range small {
		if err := e.checkTable(c, row[0], row[1]); err != nil {
			return fmt.Errorf("look for damaged parts of %s.%s: %w", row[0], row[1], err)
		}
	}
	return nil
}

// brokenAtStart remembers a part that the engine could not load and has renamed. It was
// told once when the mark that is left in its folder is there.
func (e *Engine) brokenAtStart(row []string) error {
	if _, err := os.Stat(filepath.Join(row[3], toldName)); err == nil {
		return nil
	}
	d := Damage{Database: row[0], Table: row[1], Part: strings.TrimPrefix(row[2], "broken-on-start_"), Found: time.Now().UTC()}
	if text, err := os.ReadFile(filepath.Join(row[3], "count.txt")); err == nil {
		d.Rows, _ = strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // 0: not known
	}
	if err := e.damaged(d); err != nil {
		return err
	}
	return tell(row[3])
}

// toldName marks a detached part that needs no more telling.
const toldName = "larder-told"

func tell(folder string) error { return os.WriteFile(filepath.Join(folder, toldName), nil, 0o600) }

// tellRefused marks what the engine could not load when tables were attached again: parts
// that were never acknowledged, or whose rows are in others; see setAside.
func (e *Engine) tellRefused(c *conn) error {
	broken, err := c.list("SELECT path FROM system.detached_parts WHERE reason = 'broken-on-start'")
	for _, row := range broken {
		err = errors.Join(err, tell(row[0]))
	}
	return err
}
