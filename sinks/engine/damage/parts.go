package damage

import (
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

	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// A part whose bytes have changed on the disk fails every read that touches it, and
// every merge, while nobody says which rows are affected. The engine counts such errors;
// a part that CHECK TABLE finds damaged is detached, so that the rest of the table can be
// read, and what was in it is reported and remembered until someone has brought it back.

// Parts finds damaged parts and sets them aside.
type Parts struct {
	*Record
	owns    func(database string) bool // is it one whose parts are looked into
	present func() error               // nil while the data folder is the one that was opened

	looking sync.Mutex             // held while parts are looked at
	found   uint64                 // errors that the engine has counted, as last seen
	sound   map[partName]time.Time // parts that an error was about and that were sound, and when
}

// partName names one of a table.
type partName struct{ database, table, name string }

// recheck is how long a part that was sound is not looked at again: what failed to be read may
// fail again, though no bytes have changed.
const recheck = 10 * time.Minute

// damageCodes are the engine's for what it cannot read back: a checksum that does not
// match, a block, mark or file of the wrong size or kind, a file that is not there.
var damageCodes = []int{32, 33, 39, 40, 87, 89, 91, 107, 128, 131, 226, 228, 246, 271, 361, 432, 740}

// readingPart finds the part in the engine's words about what it was reading.
var readingPart = regexp.MustCompile("\\(while reading from part [^\n]{1,999}?/([A-Za-z0-9_-]{1,256})/ in table `?([A-Za-z0-9_]{1,64})`?\\.`?([A-Za-z0-9_]{1,64})`? \\([0-9a-f-]{36}\\) located on disk ")

// damagedPart is the part of ours that an error of reading is about. It is a hint: only
// the part itself shows whether it is damaged.
func (p *Parts) damagedPart(code int, message string) (name partName, ok bool) {
	if !slices.Contains(damageCodes, code) {
		return partName{}, false
	}
	m := readingPart.FindStringSubmatch(message)
	if m == nil || !p.owns(m[2]) {
		return partName{}, false
	}
	return partName{database: m[2], table: m[3], name: m[1]}, true
}

// SetAside takes damaged parts out of their tables when an error of reading tells of one.
// It is true when the statement may now be run again. use gives a connection.
func (p *Parts) SetAside(err error, writes *Writes, use func(func(Conn) error) error) (again bool) {
	var thrown *exception.Exception
	if !errors.As(err, &thrown) {
		return false
	}
	name, ok := p.damagedPart(thrown.Code, thrown.Message)
	if !ok {
		return false
	}
	// Held before a place is taken, so that however many statements meet a damage, they take one.
	p.looking.Lock()
	defer p.looking.Unlock()
	failed := use(func(c Conn) (err error) {
		// A part that the disk refused is no damage: its rows are in others, or were never
		// acknowledged.
		if mended, err := writes.Mended(c); err != nil || !mended {
			return err
		}
		again, err = p.examine(c, name)
		return err
	})
	if failed != nil {
		p.log.Error("embedded engine: look for damaged parts", "table", name.database+"."+name.table, "error", failed)
	}
	return again
}

// Look sets damaged parts aside that merges or reads have met.
func (p *Parts) Look(c Conn) error {
	rows, err := list(c, fmt.Sprintf("SELECT toString(code), toString(value), last_error_message FROM system.errors WHERE code IN (%s)", joined(damageCodes)))
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
	p.looking.Lock()
	defer p.looking.Unlock()
	before := p.found
	p.found = counted
	if counted <= before {
		return nil
	}
	for _, row := range rows {
		code, err := strconv.Atoi(row[0])
		if err != nil {
			return err
		}
		if name, ok := p.damagedPart(code, row[2]); ok {
			if _, err := p.examine(c, name); err != nil {
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
// looking.
func (p *Parts) examine(c Conn, name partName) (gone bool, err error) {
	if err := p.present(); err != nil {
		return false, err
	}
	if time.Since(p.sound[name]) < recheck {
		return false, nil
	}
	parts, err := activeParts(c, name.database, name.table)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(parts, func(row []string) bool { return row[0] == name.name }) {
		return true, nil // merged since, or set aside for another reader
	}
	whole, err := sound(c, name.database, name.table, name.name)
	if err != nil {
		return false, err
	}
	if !whole {
		return true, p.checkTable(c, name.database, name.table)
	}
	maps.DeleteFunc(p.sound, func(_ partName, at time.Time) bool { return time.Since(at) >= recheck })
	p.sound[name] = time.Now()
	return false, nil
}

// activeParts are the names of a table's parts, and their numbers of rows.
func activeParts(c Conn, database, table string) ([][]string, error) {
	return list(c, "SELECT name, toString(rows) FROM system.parts WHERE active AND database = "+sqltext.QuoteString(database)+" AND table = "+sqltext.QuoteString(table))
}

// checkTable reads every part of a table and sets those aside that are damaged; the
// caller holds looking.
func (p *Parts) checkTable(c Conn, database, table string) error {
	parts, err := activeParts(c, database, table)
	if err != nil {
		return err
	}
	for _, row := range parts {
		whole, err := sound(c, database, table, row[0])
		if err != nil {
			return err
		}
		if whole {
			continue
		}
		if err := p.detach(c, database, table, row); err != nil {
			return err
		}
	}
	return nil
}

// sound is true when a part has the bytes that were written. A part that the engine cannot
// check is not sound.
func sound(c Conn, database, table, part string) (bool, error) {
	out, err := c.Ask("CHECK TABLE "+sqltext.QuoteIdentifier(database)+"."+sqltext.QuoteIdentifier(table)+" PART "+sqltext.QuoteString(part)+" SETTINGS check_query_single_value_result = 1", "TSV")
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
// holds looking.
func (p *Parts) detach(c Conn, database, table string, part []string) error {
	d := Part{Database: database, Table: table, Part: part[0], Found: time.Now().UTC()}
	d.Rows, _ = strconv.ParseUint(part[1], 10, 64) // 0: not known
	span(c, &d)
	if err := exec(c, "ALTER TABLE "+sqltext.QuoteIdentifier(database)+"."+sqltext.QuoteIdentifier(table)+" DETACH PART "+sqltext.QuoteString(d.Part)); err != nil {
		return fmt.Errorf("set part %s of %s.%s aside: %w", d.Part, database, table, err)
	}
	return p.note(d)
}

// span reads the first and the last key of a part out of its index, which is a file of
// its own; what cannot be read stays unknown.
func span(c Conn, d *Part) {
	keys, err := list(c, "SELECT primary_key FROM system.tables WHERE database = "+sqltext.QuoteString(d.Database)+" AND name = "+sqltext.QuoteString(d.Table))
	if err != nil || len(keys) != 1 || keys[0][0] == "" {
		return
	}
	spans, err := list(c, fmt.Sprintf("SELECT toString(min((%[1]s))), toString(max((%[1]s))) FROM mergeTreeIndex(%[2]s, %[3]s) WHERE part_name = %[4]s",
		keys[0][0], sqltext.QuoteString(d.Database), sqltext.QuoteString(d.Table), sqltext.QuoteString(d.Part)))
	if err != nil || len(spans) != 1 {
		return
	}
	d.Key, d.From, d.To = keys[0][0], text.Short(spans[0][0], longestKey), text.Short(spans[0][1], longestKey)
}

// longestKey is how much of a key a message can carry.
const longestKey = 200

// smallTable is how large a table may be to be read whole at each start: what the daemon
// cannot begin without is in small ones.
const smallTable = 16 << 20

// Start looks, at the start, for parts that the engine has set aside by itself, and
// into all small tables.
func (p *Parts) Start(c Conn) error {
	if _, err := p.All(); err != nil {
		return err
	}
	broken, err := list(c, "SELECT database, table, name, path FROM system.detached_parts WHERE reason = 'broken-on-start'")
	if err != nil {
		return fmt.Errorf("look for parts that cannot be loaded: %w", err)
	}
	for _, row := range broken {
		if err := p.brokenAtStart(row); err != nil {
			return err
		}
	}
	p.looking.Lock()
	defer p.looking.Unlock()
	small, err := list(c, fmt.Sprintf("SELECT database, table FROM system.parts WHERE active GROUP BY database, table HAVING sum(bytes_on_disk) <= %d", smallTable))
	if err != nil {
		return fmt.Errorf("look for damaged parts: %w", err)
	}
	for _, row := range small {
		if !p.owns(row[0]) {
			continue
		}
		if err := p.checkTable(c, row[0], row[1]); err != nil {
			return fmt.Errorf("look for damaged parts of %s.%s: %w", row[0], row[1], err)
		}
	}
	return nil
}

// brokenAtStart remembers a part that the engine could not load and has renamed. A mark in
// the part's folder says that it was reported before.
func (p *Parts) brokenAtStart(row []string) error {
	if _, err := os.Stat(filepath.Join(row[3], reportedMark)); err == nil {
		return nil
	}
	d := Part{Database: row[0], Table: row[1], Part: strings.TrimPrefix(row[2], "broken-on-start_"), Found: time.Now().UTC()}
	if count, err := os.ReadFile(filepath.Join(row[3], "count.txt")); err == nil {
		d.Rows, _ = strconv.ParseUint(strings.TrimSpace(string(count)), 10, 64) // 0: not known
	}
	if err := p.note(d); err != nil {
		return err
	}
	return markReported(row[3])
}

// reportedMark is the file that marks a detached part as reported.
const reportedMark = "larder-told"

func markReported(folder string) error {
	return os.WriteFile(filepath.Join(folder, reportedMark), nil, 0o600)
}
