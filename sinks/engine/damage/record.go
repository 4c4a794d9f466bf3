package damage

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/larder-sync/larder/internal/text"
)

// Part is a part of a table that could not be read and was set aside. Its rows are
// missing; its files are in the table's folder for detached parts.
type Part struct {
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
func (d Part) String() string {
	rows := "rows that cannot be counted are"
	if d.Rows > 0 {
		rows = text.Counted(d.Rows, "row", "is", "are")
	}
	what := fmt.Sprintf("part %s of table %s.%s was damaged on the disk and is set aside: %s missing", d.Part, d.Database, d.Table, rows)
	if d.From != "" {
		what += fmt.Sprintf(", %s from %s to %s", d.Key, d.From, d.To)
	}
	return what
}

// FileName is where the record is, in the data folder.
const FileName = "larder-damage.json"

// Record are the damages not brought back yet. They are kept in the data folder, beside the
// parts, so that a restart does not forget them. The engine's process adds to it, and the one
// that brings rows back takes from it.
type Record struct {
	file string
	log  *slog.Logger
}

// RecordIn is the record in a data folder.
func RecordIn(folder string, log *slog.Logger) *Record {
	return &Record{file: filepath.Join(folder, FileName), log: log}
}

// All are the parts that were set aside and whose rows have not been brought back.
func (r *Record) All() (all []Part, err error) {
	text, err := os.ReadFile(r.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which parts were damaged: %w", err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("read which parts were damaged: %s is no JSON: %w; correct it, or move it away and run larder sync --full once Larder runs", r.file, err)
	}
	return all, nil
}

// change replaces the record by what f makes of it, one process at a time.
func (r *Record) change(f func([]Part) []Part) (err error) {
	lock, err := os.OpenFile(r.file+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // the lock goes with it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	all, err := r.All()
	if err != nil {
		return err
	}
	return r.store(f(all))
}

func (r *Record) store(all []Part) error {
	if len(all) == 0 {
		if err := os.Remove(r.file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(r.file), ".damage-")
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), r.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// note remembers a damage and tells it.
func (r *Record) note(d Part) error {
	r.log.Error("embedded engine: "+d.String(), "database", d.Database, "table", d.Table, "part", d.Part, "rows", d.Rows)
	if err := r.change(func(all []Part) []Part { return append(all, d) }); err != nil {
		return fmt.Errorf("note which part was damaged: %w", err)
	}
	return nil
}

// Repaired forgets what was found in a table before an instant: its rows have been
// brought back since.
func (r *Record) Repaired(database, table string, before time.Time) error {
	forgotten, err := r.forget(database, table, before)
	if forgotten {
		r.log.Info("embedded engine: what was missing has been brought back", "table", database+"."+table)
	}
	return err
}

// GivenUp forgets what was found in a table before an instant, although its rows have not
// been brought back and will not be.
func (r *Record) GivenUp(database, table string, before time.Time) error {
	forgotten, err := r.forget(database, table, before)
	if forgotten {
		r.log.Warn("embedded engine: the notice of a damage ends, what was missing is not brought back", "table", database+"."+table)
	}
	return err
}

// forget is true when there was something to forget.
func (r *Record) forget(database, table string, before time.Time) (forgotten bool, err error) {
	err = r.change(func(all []Part) []Part {
		return slices.DeleteFunc(all, func(d Part) bool {
			over := d.Database == database && d.Table == table && d.Found.Before(before)
			forgotten = forgotten || over
			return over
		})
	})
	if err != nil {
		return false, fmt.Errorf("note that the damage of %s.%s is over: %w", database, table, err)
	}
	return forgotten, nil
}
