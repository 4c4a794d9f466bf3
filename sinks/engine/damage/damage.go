// Package damage notices what the engine does not notice itself: writes that the disk
// refused, in inserts and merges, and parts of tables whose bytes have changed. It takes
// what cannot be read out of the tables, so that the rest can, and keeps a record of the
// rows that are missing until they have been brought back.
//
// Contents: what is asked and reported about parts.
package damage

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"
)

// Conn is a connection of the engine.
type Conn interface {
	Ask(sql, format string) ([]byte, error)
	Spoil() // nobody else gets it after this
}

// Folder is the data folder that is looked after.
type Folder struct {
	Path    string
	Log     *slog.Logger
	Owns    func(database string) bool // is it one whose parts are looked into
	Present func() error               // nil while the folder is the one that was opened
}

// NewWrites looks for refused writes until ctx ends.
func NewWrites(ctx context.Context, f Folder) *Writes {
	return &Writes{path: f.Path, log: f.Log, stopped: ctx}
}

// NewParts looks for damaged parts.
func NewParts(f Folder) *Parts {
	return &Parts{Record: RecordIn(f.Path, f.Log), owns: f.Owns, present: f.Present, sound: map[partName]time.Time{}}
}

// exec runs a statement whose result does not matter.
func exec(c Conn, sql string) error {
	_, err := c.Ask(sql, "Null")
	return err
}

// list is a query whose result is strings alone.
func list(c Conn, sql string) ([][]string, error) {
	out, err := c.Ask(sql, "JSONCompactEachRow")
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

// tellRefused marks what the engine could not load when tables were attached again: parts
// that were never acknowledged, or whose rows are in others; see setAside.
func tellRefused(c Conn) error {
	broken, err := list(c, "SELECT path FROM system.detached_parts WHERE reason = 'broken-on-start'")
	for _, row := range broken {
		err = errors.Join(err, markReported(row[0]))
	}
	return err
}
