package dashboards

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// boards are the dashboards of a language that read the warehouse, as they are committed.
func boards(t *testing.T, language string) map[string]Model {
	t.Helper()
	models := map[string]Model{}
	for _, d := range all {
		if d.variables.plugin() != clickhousePlugin {
			continue
		}
		var m Model
		if err := json.Unmarshal(file(t, language, d.name), &m); err != nil {
			t.Fatal(err)
		}
		models[d.name] = m
	}
	return models
}

// The tests of queries share one warehouse: it takes a while to fill.
func TestQueries(t *testing.T) {
	w := newWarehouse(t, 4)
	t.Run("every panel", w.everyPanel)
	t.Run("several restaurants", w.several)
	t.Run("nothing yet", w.nothingYet)
	t.Run("variables", w.variables)
	t.Run("figures of sales", w.figuresOfSales)
	t.Run("figures of products", w.figuresOfProducts)
	t.Run("figures of cash-up", w.figuresOfCashUp)
	t.Run("figures of online orders", w.figuresOfOnline)
}

func (w *warehouse) mine() choice {
	return choice{from: w.from, to: w.to, restaurants: []string{w.restaurant}}
}

// mayBeEmpty are panels that show nothing when nothing is the matter, or before Larder has
// watched for days.
var mayBeEmpty = []string{"stock/weekend", "stock/cover", "stock/movers", "mirror/drift", "mirror/quarantined", "mirror/unknown", "mirror/rules", "mirror/failed"}

// Every query of both languages runs, gives what its panel draws, and nothing that has no
// heading.
func (w *warehouse) everyPanel(t *testing.T) {
	for _, language := range Languages {
		for name, m := range boards(t, language) {
			for i, p := range m.Panels {
				panel := dashboardOf(name).panels[i]
				where := name + "/" + panel.key
				a := w.ask(w.mine().expand(t, p.Targets[0].RawSQL))
				if len(a.lines) == 0 && !slices.Contains(mayBeEmpty, where) {
					t.Errorf("%s is empty", where)
				}
				for _, wrong := range drawable(panel, p, a) {
					t.Errorf("%s: %s", where, wrong)
				}
			}
		}
	}
}

func dashboardOf(name string) dashboard {
	return all[slices.IndexFunc(all, func(d dashboard) bool { return d.name == name })]
}

// drawable tells why Grafana could not draw an answer as the panel wants it.
func drawable(source panel, p Panel, a answer) []string {
	var wrong []string
	say := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	var named []string
	for _, c := range source.columns {
		named = append(named, c.name)
	}
	numbers, names, times := 0, 0, 0
	for i, column := range a.columns {
		kind := grafanaKind(a.types[i])
		say(kind == "", "column %s is of type %s, which is shown as JSON", column, a.types[i])
		numbers, names, times = numbers+oneIf(kind == "number"), names+oneIf(kind == "string"), times+oneIf(kind == "time")
		heading := slices.Contains(named, column) || column == "time" || p.Type == "status-history" && kind == "string"
		say(!heading, "column %s has no heading", column)
	}
	for _, name := range named {
		say(!slices.Contains(a.columns, name), "there is no column %s", name)
	}
	switch p.Type {
	case "timeseries", "status-history":
		say(times != 1 || a.columns[0] != "time" || numbers == 0, "a time series of %v %v", a.columns, a.types)
		say(p.Type == "timeseries" && names > 0, "labels without a place")
		for i := 1; i < len(a.lines); i++ {
			say(a.lines[i][0] < a.lines[i-1][0], "%s comes after %s", a.lines[i][0], a.lines[i-1][0])
		}
	case "bargauge":
		if !p.Options.ReduceOptions.Values {
			say(len(a.lines) != 1 || numbers != len(a.columns), "numbers in one row, not %d rows of %v %v", len(a.lines), a.columns, a.types)
			break
		}
		say(numbers != 1 || names != 1 || times > 0, "a name and a number for each row, not %v %v", a.columns, a.types)
	case "stat":
		say(len(a.lines) != 1, "%d rows", len(a.lines))
		say((names > 0) != (p.Options.ReduceOptions.Fields == "/.*/"), "strings need all fields, numbers only those: %v", a.types)
	}
	return wrong
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// grafanaKind is what the plugin makes of a type.
func grafanaKind(of string) string {
	for _, around := range []string{"LowCardinality(", "Nullable("} {
		of = strings.TrimPrefix(of, around)
	}
	switch {
	case strings.HasPrefix(of, "Date"):
		return "time"
	case strings.HasPrefix(of, "String"):
		return "string"
	case strings.HasPrefix(of, "Int"), strings.HasPrefix(of, "UInt"), strings.HasPrefix(of, "Float"), strings.HasPrefix(of, "Decimal"):
		return "number"
	}
	return ""
}

// Each of several restaurants shows what the first one shows, also when its id is strange.
func (w *warehouse) several(t *testing.T) {
	for name, m := range boards(t, "ro") {
		for i, p := range m.Panels {
			where := name + "/" + dashboardOf(name).panels[i].key
			if name == "mirror" {
				every := choice{from: w.from, to: w.to, every: true, restaurants: []string{"unused"}}
				for _, wrong := range drawable(dashboardOf(name).panels[i], p, w.ask(every.expand(t, p.Targets[0].RawSQL))) {
					t.Errorf("%s of all: %s", where, wrong)
				}
				continue
			}
			want := w.ask(w.mine().expand(t, p.Targets[0].RawSQL))
			c := w.mine()
			c.restaurants = []string{strings.ReplaceAll(strangeID, `\`, `\\`)}
			if got := w.ask(c.expand(t, p.Targets[0].RawSQL)); !reflect.DeepEqual(got, want) {
				t.Errorf("%s of %s: %v, want %v", where, strangeID, got.lines, want.lines)
			}
		}
	}
}

// A restaurant of which nothing is known, and a warehouse in which nothing is.
func (w *warehouse) nothingYet(t *testing.T) {
	for name, m := range boards(t, "ro") {
		for i, p := range m.Panels {
			where := name + "/" + dashboardOf(name).panels[i].key
			c := w.mine()
			c.restaurants = []string{emptyID}
			a := w.ask(c.expand(t, p.Targets[0].RawSQL))
			if !inOneRow(p) && len(a.lines) > 0 {
				t.Errorf("%s of nothing: %v", where, a.lines)
			}
			for _, wrong := range drawable(dashboardOf(name).panels[i], p, a) {
				t.Errorf("%s of nothing: %s", where, wrong)
			}
			// In a database of its own, the same statement finds the empty views.
			sql := w.mine().expand(t, p.Targets[0].RawSQL)
			if a := w.ask(inEmpty(sql)); !inOneRow(p) && len(a.lines) > 0 {
				t.Errorf("%s of an empty warehouse: %v", where, a.lines)
			}
		}
	}
}

// inOneRow tells of panels whose figures are there, as 0 or unknown, when nothing is.
func inOneRow(p Panel) bool {
	return p.Type == "stat" || p.Type == "bargauge" && !p.Options.ReduceOptions.Values
}

func inEmpty(sql string) string {
	for view := range schema.Guides() { // every view has one
		for _, end := range []string{"\n", " ", ")"} {
			sql = strings.ReplaceAll(sql, "FROM "+view+end, "FROM "+bareDatabase+"."+view+end)
		}
	}
	return sql
}

// The variables offer every restaurant by name, and the locations of one.
func (w *warehouse) variables(t *testing.T) {
	for name, m := range boards(t, "ro") {
		for _, v := range m.Templating.List {
			sql, ok := v.Query.(string)
			if !ok || v.Type != "query" {
				continue
			}
			c := w.mine()
			a := w.ask(c.expand(t, sql))
			want := map[string]int{"restaurant": w.copies + 2, "location": 2}[v.Name]
			if len(a.lines) != want || len(a.columns) != 2 {
				t.Errorf("%s: %s offers %d %v, want %d", name, v.Name, len(a.lines), a.columns, want)
			}
			if v.Name == "restaurant" && !slices.ContainsFunc(a.lines, func(l []string) bool { return l[0] == strings.ReplaceAll(strangeID, `\`, `\\`) }) {
				t.Errorf("%s: the strange id is not among %v", name, a.lines)
			}
			c.restaurants = []string{emptyID}
			if b := w.ask(c.expand(t, sql)); v.Name == "location" && len(b.lines) > 0 {
				t.Errorf("%s: locations of nothing: %v", name, b.lines)
			}
			if b := w.ask(inEmpty(w.mine().expand(t, sql))); len(b.lines) > 0 {
				t.Errorf("%s: %s of an empty warehouse: %v", name, v.Name, b.lines)
			}
		}
	}
}
