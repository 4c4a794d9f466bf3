package embedded

import (
	"fmt"
	"slices"
	"time"
)

// GivenUp forgets what was found in a table before an instant, although its rows have not
// been brought back and will not be.
func (e *Engine) GivenUp(database, table string, before time.Time) error {
	forgotten, err := e.forget(database, table, before)
	if forgotten {
		e.log.Warn("embedded engine: the notice of a damage ends, what was missing is not brought back", "table", database+"."+table)
	}
	return err
}

// forget is true when there was something to forget.
func (e *Engine) forget(database, table string, before time.Time) (bool, error) {
	e.damages.mu.Lock()
	defer e.damages.mu.Unlock()
	n := len(e.damages.all)
	e.damages.all = slices.DeleteFunc(e.damages.all, func(d Damage) bool {
		return d.Database == database && d.Table == table && d.Found.Before(before)
	})
	if len(e.damages.all) == n {
		return false, nil
	}
	if err := e.damages.store(); err != nil {
		return false, fmt.Errorf("note that the damage of %s.%s is over: %w", database, table, err)
	}
	return true, nil
}
