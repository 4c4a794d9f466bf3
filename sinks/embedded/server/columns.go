package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded"
)

var errNoColumns = errors.New("the engine described no columns")

// columnsOf are the columns of a SELECT. DESCRIBE plans all of it, which takes as long
// as the answer itself where views are deep. The engine's analysis is asked first: it plans nothing.
func columnsOf(c *embedded.Conn, sql string) ([]columnOf, error) {
	if columns := analysed(c, sql); columns != nil {
		return columns, nil
	}
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

// analysedColumn is a plain name and a type in which no other name can be hidden:
// the analysis quotes neither.
var analysedColumn = regexp.MustCompile(`^    ([A-Za-z_]\w*) ([A-Za-z]\w*(?:\((?:[^ ()]|, )*\)|\([A-Za-z]\w*\((?:[^ ()]|, )*\)\))?)$`)

// analysed are the columns as the engine's analysis names them, or nil where that
// leaves a doubt.
func analysed(c *embedded.Conn, sql string) []columnOf {
	out, err := c.Ask("EXPLAIN QUERY TREE run_passes = 1, passes = 1 SELECT * FROM ("+sql+"\n)", "TSVRaw")
	if err != nil {
		return nil // DESCRIBE says why
	}
	if strings.Count(string(out), "\n  PROJECTION") > 2 {
		return nil // an alias may look like one
	}
	_, tree, _ := strings.Cut(string(out), "\n  PROJECTION COLUMNS\n")
	listed, list, _ := strings.Cut(tree, "\n  PROJECTION\n")
	var columns []columnOf
	for line := range strings.SplitSeq(listed, "\n") {
		named := analysedColumn.FindStringSubmatch(line)
		if named == nil {
			return nil
		}
		columns = append(columns, columnOf{name: named[1], typ: named[2]})
	}
	if first, _, _ := strings.Cut(list, "\n"); !strings.HasPrefix(first, "    LIST ") || !strings.HasSuffix(first, fmt.Sprintf(", nodes: %d", len(columns))) {
		return nil // a name goes over several lines
	}
	return columns
}
