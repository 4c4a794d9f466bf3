package dashboards

import (
	"fmt"
	"slices"
)

// object is what becomes a JSON object, with its keys in order.
type object = map[string]any

// kind is how a panel draws: Grafana's name of it.
type kind string

const (
	figures kind = "stat"            // a few numbers, one under the other
	oneWord kind = "stat of words"   // one word
	table   kind = "table"           // rows and columns
	heat    kind = "heat table"      // rows and columns, coloured by value
	bars    kind = "bargauge"        // a bar for each row: a name and one number
	stages  kind = "bars of columns" // a bar for each column of the only row
	lines   kind = "timeseries"      // values over time
	columns kind = "bars over time"  // the same, drawn as bars
	strip   kind = "status-history"  // a word for each day, one line per name
)

// panel is one panel: key finds its texts. Links of alerts, and those that people keep, end
// in its id: it stays when the panel moves, and is not given to another one.
type panel struct {
	id      int
	key     string
	kind    kind
	w, h    int
	sql     string   // of ClickHouse
	promql  []metric // or of Prometheus
	columns []column
	left    string // unit of all columns that name none, such as those of names that come with the data
}

// metric is one expression of Prometheus.
type metric struct {
	expr   string
	legend string // of a series: a template of labels, or the name of a column
	now    bool   // its value now, instead of its course
	rows   bool   // as rows of a table
}

// column is a column of a query's answer, by its name in it.
type column struct {
	name   string
	unit   unit
	words  []string // sets of words for its values
	steps  []step   // thresholds, from below; none of them: no colour
	width  int
	least  int    // smallest width of a column that grows, in place of a width
	drawn  string // "dashed": a thin line to compare with
	hidden bool
	signed bool // a change in percent as text, with its sign

	// Dashboards that a click opens: with the row's location, or with the row's day as period.
	opens, opensDay string
}

type step struct {
	from  any // nil: from below
	color string
}

// Thresholds, chosen by what a person should do about a figure.
var (
	plain     = []step{{nil, "text"}}
	drawn     = []step{{nil, "green"}}                              // of bars: as all that is drawn, no judgement
	wanted0   = []step{{nil, "green"}, {1, "orange"}}               // how many need a look
	never     = []step{{nil, "green"}, {1, "red"}}                  // how many must not be
	daysLeft  = []step{{nil, "red"}, {2, "orange"}, {5, "green"}}   // of stock: order today; order this week
	resyncAge = []step{{nil, "green"}, {8, "orange"}, {15, "red"}}  // days; it is weekly, the alert fires after 15
	proofAge  = []step{{nil, "green"}, {2, "orange"}, {4, "red"}}   // days; the alert fires after 3
	nightly   = []step{{nil, "green"}, {26, "orange"}, {50, "red"}} // hours since a source gave a sign; every night it does
	answered  = []step{{nil, "green"}, {3, "orange"}, {5, "red"}}   // minutes until an online order is accepted: guests wait to know
	// Percent: of online orders accepted, and ready at most five minutes after the promised time.
	acceptedShare = []step{{nil, "red"}, {85, "orange"}, {95, "green"}}
	onTime        = []step{{nil, "red"}, {70, "orange"}, {85, "green"}}
	afterWanted   = []step{{nil, "text"}, {6, "orange"}, {16, "red"}} // minutes
	balanced      = []step{{nil, "red"}, {-0.005, "text"}, {0.005, "red"}}
)

// as is one colour, whatever the figure.
func as(color string) []step { return []step{{nil, color}} }

// unit is how a number is written. Grafana's "locale" is the only one that parts thousands
// and marks decimals as the browser's language does. It writes no word after the number:
// RON, %, hours and days stand where it is named.
type unit struct {
	id       string // Grafana's
	decimals int
	money    bool
}

var (
	asIs    = unit{id: "locale", decimals: -1}
	count   = unit{id: "locale"}
	number  = unit{id: "locale", decimals: 1}
	amounts = unit{id: "locale", decimals: 2}
	digits  = unit{id: "none"} // without a separator, where there is no room for one
	ron     = unit{id: "locale", money: true}
	bani    = unit{id: "locale", decimals: 2, money: true}
	day     = unit{id: "time:DD.MM", decimals: -1}
	instant = unit{id: "time:DD.MM HH:mm", decimals: -1}
	seconds = unit{id: "s", decimals: -1}
	octets  = unit{id: "bytes", decimals: -1}
	permin  = unit{id: "suffix: /min", decimals: 1}
)

func (u unit) properties() object {
	o := object{"unit": u.id}
	if u.decimals >= 0 {
		o["decimals"] = u.decimals
	}
	return o
}

func thresholds(steps []step) object {
	if steps == nil {
		steps = plain
	}
	var list []any
	for _, s := range steps {
		list = append(list, object{"color": s.color, "value": s.from})
	}
	return object{"mode": "absolute", "steps": list}
}

// json is the panel as Grafana reads it.
func (p panel) json(r *reader, plugin string, x, y int) (object, error) {
	if p.id <= 0 {
		return nil, fmt.Errorf("panel %s: no id of its own", p.key)
	}
	look, ok := looks[p.kind]
	if !ok {
		return nil, fmt.Errorf("panel %s: no kind %q", p.key, p.kind)
	}
	defaults := p.defaults(r)
	custom := object{}
	for name, value := range look.custom {
		custom[name] = value
	}
	defaults["custom"] = custom
	for name, value := range look.field {
		defaults[name] = value
	}
	return object{
		"id": p.id, "type": look.grafana, "title": p.title(r), "description": r.text(p.key + ".about"),
		"gridPos": object{"x": x, "y": y, "w": p.w, "h": p.h}, "datasource": source(plugin), "targets": p.targets(plugin),
		"fieldConfig": object{"defaults": defaults, "overrides": p.overrides(r)},
		"options":     look.options(p), "pluginVersion": "11.6.0", "transformations": []any{}, "interval": look.interval,
	}, nil
}

// title names the money unless each figure of the panel has a name of its own beside it.
func (p panel) title(r *reader) string {
	if p.kind != figures && slices.ContainsFunc(p.columns, func(c column) bool { return c.unit.money }) {
		return r.text(p.key) + " (RON)"
	}
	return r.text(p.key)
}

func (p panel) defaults(r *reader) object {
	defaults := object{
		"noValue": r.or(p.key+".empty", "empty"), "mappings": []any{}, "color": object{"mode": "thresholds"},
		"thresholds": thresholds(p.steps()), "unit": "none",
	}
	if u := p.unit(); u != (unit{}) {
		for name, value := range u.properties() {
			defaults[name] = value
		}
	}
	if p.left != "" {
		defaults["unit"] = p.left
	}
	var sets []string
	for _, c := range p.columns {
		sets = append(sets, c.words...)
	}
	if p.rowsOfOne() && len(sets) > 0 {
		defaults["mappings"] = mappings(r.language, sets...)
	} else if p.kind == bars {
		defaults["mappings"] = []any{noColorOfNothing}
	}
	if p.kind == bars {
		defaults["displayName"] = "${__data.fields[0]}" // without it a bar that is alone has no name
	}
	return defaults
}

// rowsOfOne tells of panels that draw one column: what is said of it is said of the panel.
func (p panel) rowsOfOne() bool {
	return p.kind == bars || p.kind == oneWord || p.kind == strip
}

// steps are the thresholds of all the panel, which those of columns override.
func (p panel) steps() []step {
	if !p.rowsOfOne() {
		return plain
	}
	if steps := p.columns[len(p.columns)-1].steps; steps != nil || p.kind != bars {
		return steps
	}
	return drawn
}

// unit is that of all the panel; columns that are text have none.
func (p panel) unit() unit {
	if p.rowsOfOne() {
		return p.columns[len(p.columns)-1].unit
	}
	return unit{}
}

// targets are what the panel asks for.
func (p panel) targets(plugin string) []any {
	if plugin != clickhousePlugin {
		return p.metrics(plugin)
	}
	format, sort := 1, "table"
	if p.overTime() {
		format, sort = 0, "timeseries"
	}
	return []any{object{
		"datasource": source(plugin), "refId": "A", "pluginVersion": pluginVersion, "editorType": "sql",
		"queryType": sort, "format": format, "rawSql": query(p.sql), "meta": object{},
	}}
}

func (p panel) metrics(plugin string) []any {
	var all []any
	for i, m := range p.promql {
		format := "time_series"
		if m.rows {
			format = "table"
		}
		all = append(all, object{
			"datasource": source(plugin), "refId": string(rune('A' + i)), "editorMode": "code", "expr": m.expr,
			"legendFormat": m.legend, "format": format, "instant": m.now, "range": !m.now,
		})
	}
	return all
}

func (p panel) overTime() bool { return p.kind == lines || p.kind == columns || p.kind == strip }
