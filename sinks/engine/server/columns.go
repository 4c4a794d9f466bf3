package server

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/larder-sync/larder/sinks/engine"
)

var errNoColumns = errors.New("the engine described no columns")

// columnsOf are the columns of a SELECT.
func columnsOf(c *engine.Conn, sql string) ([]columnOf, error) {
	out, err := c.Ask("DESCRIBE TABLE ("+sql+"\n)", "JSONCompactEachRow")
	if err != nil {
		return nil, err
	}
	var columns []columnOf
	for line := range strings.Lines(string(out)) {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) < 2 {
			return nil, errors.Join(errNoColumns, err)
		}
		columns = append(columns, columnOf{name: row[0], typ: row[1]})
	}
	return columns, nil
}
