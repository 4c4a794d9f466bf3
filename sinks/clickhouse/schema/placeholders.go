package schema

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/larder-sync/larder/sinks/clickhouse/native"
)

// columnLine is a column of columns/*.sql: its name, its type and its comment.
var columnLine = regexp.MustCompile("^`([^`]+)` (.*?) COMMENT '((?:[^'\\\\]|\\\\.)*)'( CODEC\\(.*\\))?$")

// blocks reads the columns that columns/*.sql defines by the name of their block.
type blocks struct{ *template.Template }

// lines are the columns of blocks, one text each, in order.
func (b blocks) lines(names ...string) ([]string, error) {
	var all []string
	for _, name := range names {
		var text bytes.Buffer
		if err := b.ExecuteTemplate(&text, name, nil); err != nil {
			return nil, err
		}
		for line := range strings.Lines(text.String()) {
			if line = strings.TrimSuffix(strings.TrimSpace(line), ","); line == "" {
				continue
			}
			if !columnLine.MatchString(line) {
				return nil, fmt.Errorf("block %s: %q is no column with a comment", name, line)
			}
			all = append(all, line)
		}
	}
	return all, nil
}

// columns are the columns of a storage table.
func (b blocks) columns(names ...string) (string, error) {
	lines, err := b.lines(names...)
	return "    " + strings.Join(lines, ",\n    "), err
}

// shown are the columns of a view, which has no codecs.
func (b blocks) shown(names ...string) (string, error) {
	return b.typed(func(typ string) string { return typ }, names...)
}

// maybe are the columns of a view where each may be unknown, hence null.
func (b blocks) maybe(names ...string) (string, error) {
	return b.typed(func(typ string) string {
		inner, low := native.Unwrap(typ, "LowCardinality(")
		switch {
		case strings.HasPrefix(typ, "Nullable("), low && strings.HasPrefix(inner, "Nullable("):
			return typ
		case low:
			return "LowCardinality(Nullable(" + inner + "))"
		}
		return "Nullable(" + typ + ")"
	}, names...)
}

func (b blocks) typed(typeOf func(string) string, names ...string) (string, error) {
	lines, err := b.lines(names...)
	for i, line := range lines {
		m := columnLine.FindStringSubmatch(line)
		lines[i] = fmt.Sprintf("`%s` %s COMMENT '%s'", m[1], typeOf(m[2]), m[3])
	}
	return "    " + strings.Join(lines, ",\n    "), err
}

// list are the names of the columns, quoted.
func (b blocks) list(names ...string) ([]string, error) {
	lines, err := b.lines(names...)
	for i, line := range lines {
		lines[i] = "`" + columnLine.FindStringSubmatch(line)[1] + "`"
	}
	return lines, err
}

func (b blocks) names(names ...string) (string, error) {
	list, err := b.list(names...)
	return strings.Join(list, ", "), err
}

// figure is a figure of the totals of a day.
type figure struct{ Name, Type, Comment string }

// Map is true when the figure is several by name, such as payments.
func (f figure) Map() bool { return strings.HasPrefix(f.Type, "Map(") }

// Maybe is the type of the figure where it may be unknown; a map is empty then.
func (f figure) Maybe() string {
	if f.Map() {
		return f.Type
	}
	return "Nullable(" + f.Type + ")"
}

// Sum is the aggregate function that adds it up.
func (f figure) Sum() string {
	if f.Map() {
		return "sumMap"
	}
	return "sum"
}

// figures are those of a day whose type begins with a prefix; without one, all.
func (b blocks) figures(prefix ...string) ([]figure, error) {
	lines, err := b.lines("day_figures")
	var all []figure
	for _, line := range lines {
		if m := columnLine.FindStringSubmatch(line); strings.HasPrefix(m[2], strings.Join(prefix, "")) {
			all = append(all, figure{Name: m[1], Type: m[2], Comment: m[3]})
		}
	}
	return all, err
}

// history is what the template of a history needs.
type history struct{ Table, Columns string }

// pinned are settings that a session may have for its own queries, and that would change
// what a view means: names of removed rows would go, and types would not be those declared.
const pinned = "join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0"

// removedAt is when the service removed a row: the first of the two times that is known.
const removedAt = "ifNull(_deleted_at, _tombstone_updated_at)"

// bani rounds an amount in Decimal256 to the ban. An amount beyond 28 digits, which
// no restaurant has, stops there: an error would cost every other row of the query.
func bani(amount string) string {
	return "toDecimal128(least(greatest(round(" + amount + ", 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2)"
}

// Template has every file of the schema under its name, and what they define. Views
// that join take the plain hash join: what they join is small, and setting up the
// parallel one takes longer than all the rest of a short query.
func (d Dialect) Template() (*template.Template, error) {
	t := template.New("schema")
	b := blocks{t}
	t.Funcs(template.FuncMap{
		"storage":     func(name string) string { return d.Local(name) + d.OnCluster() },
		"inner":       func(name string) string { return d.Table(name) + d.OnCluster() },
		"view":        func(name string) string { return d.View(name) + d.OnCluster() },
		"name":        d.View,
		"table":       d.Table,
		"local":       d.Local,
		"replacing":   d.Replacing,
		"distributed": d.Distributed,
		"settings":    d.settings,
		"quick":       func() string { return "SETTINGS optimize_move_to_prewhere_if_final = 1" },
		"joined":      func() string { return "SETTINGS join_algorithm = 'hash', " + pinned },
		"plain":       func() string { return "SETTINGS " + pinned },
		"pinned":      func() string { return pinned },
		"columns":     b.columns, "shown": b.shown, "maybe": b.maybe, "list": b.list, "names": b.names, "figures": b.figures,
		"history": func(table, columns string) history { return history{table, columns} },
		"bani":    bani, "removedAt": func() string { return removedAt },
	})
	_, err := t.ParseFS(schemaFiles, "*/*.sql")
	return t, err
}
