package dashboards

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Model is what the linter reads of a dashboard's JSON.
type Model struct {
	UID         string `json:"uid"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Timezone    string `json:"timezone"`
	Time        struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"time"`
	Panels []Panel `json:"panels"`
	Links  []struct {
		URL string `json:"url"`
	} `json:"links"`
	Templating struct {
		List []Variable `json:"list"`
	} `json:"templating"`
}

// Panel is one panel of a Model.
type Panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Datasource  any    `json:"datasource"`
	Interval    string `json:"interval"`
	GridPos     struct{ X, Y, W, H int }
	Targets     []Target `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit       string `json:"unit"`
			NoValue    string `json:"noValue"`
			Thresholds *struct {
				Mode  string `json:"mode"`
				Steps []struct {
					Color string   `json:"color"`
					Value *float64 `json:"value"`
				} `json:"steps"`
			} `json:"thresholds"`
		} `json:"defaults"`
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string `json:"id"`
				Value any    `json:"value"`
			} `json:"properties"`
		} `json:"overrides"`
	} `json:"fieldConfig"`
	Options struct {
		ReduceOptions struct {
			Fields string `json:"fields"`
			Values bool   `json:"values"`
		} `json:"reduceOptions"`
	} `json:"options"`
}

// Target is what a panel asks a datasource.
type Target struct {
	Datasource    any    `json:"datasource"`
	RefID         string `json:"refId"`
	PluginVersion string `json:"pluginVersion"`
	EditorType    string `json:"editorType"`
	QueryType     string `json:"queryType"`
	Format        any    `json:"format"`
	RawSQL        string `json:"rawSql"`
	Meta          any    `json:"meta"`
	Expr          string `json:"expr"`
}

// Variable is a variable of a Model.
type Variable struct {
	Name       string `json:"name"`
	Label      string `json:"label"`
	Type       string `json:"type"`
	Datasource any    `json:"datasource"`
	Query      any    `json:"query"`
	Multi      bool   `json:"multi"`
}

// allowedMacros behave the same on every version of the plugin. $__dateFilter does, too, and
// is left out: its days are those of UTC, which are not the restaurant's for two or three
// hours of each.
var allowedMacros = []string{"$__timeFilter", "$__timeFilter_ms", "$__timeInterval", "$__timeInterval_ms", "$__fromTime", "$__toTime", "$__interval_s", "$__conditionalAll"}

var (
	macro       = regexp.MustCompile(`\$__\w+`)
	variableUse = regexp.MustCompile(`\$\{(\w+)(:\w+)?\}|\$([a-z]\w*)|\[\[(\w+)`)
	conditional = regexp.MustCompile(`, \$\w+\)`)
	noZone      = regexp.MustCompile(`toDate(32)?\((now\(\)|\$__(from|to)Time)\)|\btoday\(\)|\byesterday\(\)`)
	ordered     = regexp.MustCompile(`(?m)^ORDER BY time( ASC)?(,|$)`)
	pointed     = regexp.MustCompile(`^(percent|percentunit|h|d|suffix:.*)$`)
	linked      = regexp.MustCompile(`^/d/larder-([a-z-]+)-(ro|en)(\?|$)`)
)

// maxPanels keeps a dashboard one that a person reads to its end.
const maxPanels = 12

// Lint holds a dashboard's JSON against what is known of Grafana and its ClickHouse plugin,
// and against what every dashboard of ours must have. It returns what is wrong.
func Lint(b []byte) []string {
	var m Model
	if err := json.Unmarshal(b, &m); err != nil {
		return []string{"not a dashboard: " + err.Error()}
	}
	l := &linter{model: m}
	l.whole()
	for _, v := range m.Templating.List {
		l.variable(v)
	}
	for i, p := range m.Panels {
		l.panel(p, m.Panels[:i])
	}
	return l.found
}

type linter struct {
	model Model
	found []string
}

func (l *linter) say(wrong bool, format string, args ...any) {
	if wrong {
		l.found = append(l.found, fmt.Sprintf(format, args...))
	}
}

func (l *linter) whole() {
	m := l.model
	l.say(!linked.MatchString("/d/"+m.UID), "uid %q is not larder-<name>-<language>", m.UID)
	l.say(m.Title == "" || len(m.Description) < 30, "the dashboard has no title, or no description")
	l.say(m.Timezone != "Europe/Bucharest", "timezone %q is not the restaurants'", m.Timezone)
	l.say(len(m.Panels) == 0 || len(m.Panels) > maxPanels, "%d panels; there must be 1 to %d", len(m.Panels), maxPanels)
	l.say(len(m.Links) == 0, "no links to other dashboards")
	for _, link := range m.Links {
		l.link(link.URL)
	}
	l.say(free(m.Panels) > 0, "the panels leave %d cells free, into which others float", free(m.Panels))
	l.say(l.plugin() == "", "no variable datasource of type datasource")
}

// free is how many cells of the grid are no panel's, down to the lowest one.
func free(panels []Panel) int {
	lowest, taken := 0, 0
	for _, p := range panels {
		lowest = max(lowest, p.GridPos.Y+p.GridPos.H)
		taken += p.GridPos.W * p.GridPos.H
	}
	return width*lowest - taken
}

func (l *linter) link(url string) {
	found := linked.FindStringSubmatch(url)
	l.say(found == nil || !slices.ContainsFunc(all, func(d dashboard) bool { return d.name == found[1] }), "link to %q, which is no dashboard of ours", url)
}

// plugin is the kind of source that the variable datasource offers.
func (l *linter) plugin() string {
	for _, v := range l.model.Templating.List {
		if query, ok := v.Query.(string); ok && v.Name == "datasource" && v.Type == "datasource" {
			return query
		}
	}
	return ""
}

func (l *linter) variable(v Variable) {
	l.say(v.Label == "", "variable %s has no label", v.Name)
	if v.Type != "query" {
		return
	}
	l.datasource("variable "+v.Name, v.Datasource)
	if l.plugin() != clickhousePlugin {
		return
	}
	sql, ok := v.Query.(string)
	l.say(!ok, "variable %s: its query must be a plain SQL string", v.Name)
	l.sql("variable "+v.Name, sql)
	l.say(!strings.HasPrefix(sql, "SELECT replaceAll("), "variable %s: backslashes of its values must be doubled: singlequote escapes quotes only", v.Name)
}

func (l *linter) datasource(where string, block any) {
	want := map[string]any{"type": l.plugin(), "uid": "${datasource}"}
	l.say(!reflect.DeepEqual(block, want), "%s: datasource %v, want %v", where, block, want)
}

func (l *linter) panel(p Panel, before []Panel) {
	where := fmt.Sprintf("panel %d %q", p.ID, p.Title)
	l.datasource(where, p.Datasource)
	l.say(p.Title == "", "%s: no title", where)
	l.say(len(p.Description) < 30, "%s: no description in plain words", where)
	l.say(len(p.Targets) == 0, "%s asks nothing", where)
	l.place(where, p, before)
	l.field(where, p)
	for _, t := range p.Targets {
		l.target(where, p, t)
	}
}

func (l *linter) place(where string, p Panel, before []Panel) {
	g := p.GridPos
	l.say(g.W < 4 || g.H < 4 || g.X < 0 || g.X+g.W > width, "%s: does not fit at %+v", where, g)
	for _, other := range before {
		o := other.GridPos
		l.say(other.ID == p.ID, "%s: its id is another panel's", where)
		l.say(g.X < o.X+o.W && o.X < g.X+g.W && g.Y < o.Y+o.H && o.Y < g.Y+g.H, "%s lies over %q", where, other.Title)
	}
}

// field checks what a panel says of its columns: the default thresholds turn red at 80.
func (l *linter) field(where string, p Panel) {
	d := p.FieldConfig.Defaults
	l.say(d.Unit == "", "%s: no unit", where)
	l.mark(where, d.Unit)
	l.say(d.NoValue == "", "%s: no text for no data", where)
	if d.Thresholds == nil || len(d.Thresholds.Steps) == 0 {
		l.say(true, "%s: thresholds are not set", where)
		return
	}
	l.say(d.Thresholds.Steps[0].Value != nil, "%s: the first threshold must be from below", where)
	for i, s := range d.Thresholds.Steps[1:] {
		l.say(s.Value == nil || i > 0 && *s.Value <= *d.Thresholds.Steps[i].Value, "%s: thresholds do not ascend", where)
	}
	// Bars are those of rows, or of columns that have names.
	byRows := p.Type == "bargauge" && (p.Options.ReduceOptions.Values || !p.named())
	l.say(byRows != p.Options.ReduceOptions.Values, "%s: whether it shows every row is wrong for its type", where)
	for _, o := range p.FieldConfig.Overrides {
		for _, property := range o.Properties {
			l.say(byRows && property.ID == "displayName", "%s: a name of the column would stand for every row", where)
			value, _ := property.Value.(string) // empty for the properties that are no text
			l.say(property.ID == "unit" && value == "", "%s: column %s has an empty unit", where, o.Matcher.Options)
			if property.ID == "unit" {
				l.mark(where+": column "+o.Matcher.Options, value)
			}
			if links, ok := property.Value.([]any); ok && property.ID == "links" {
				l.links(links)
			}
		}
	}
}

// named is true when columns have names of their own.
func (p Panel) named() bool {
	for _, o := range p.FieldConfig.Overrides {
		for _, property := range o.Properties {
			if property.ID == "displayName" {
				return true
			}
		}
	}
	return false
}

// mark checks that decimals are marked as the browser's language does it: a point beside
// numbers of the unit locale, whose points part thousands in Romanian, says something else.
func (l *linter) mark(where, unit string) {
	l.say(l.plugin() == clickhousePlugin && pointed.MatchString(unit), "%s: unit %q writes a point in every language: take locale, and name the unit in the heading", where, unit)
}

func (l *linter) links(links []any) {
	for _, link := range links {
		o, _ := link.(map[string]any) // nil for what is no object: it has no url
		url, _ := o["url"].(string)   // empty for what is no text, which is told
		l.link(url)
	}
}

func (l *linter) target(where string, p Panel, t Target) {
	l.datasource(where+" target "+t.RefID, t.Datasource)
	l.say(t.RefID == "", "%s: a target without refId", where)
	if l.plugin() != clickhousePlugin {
		l.say(t.Expr == "", "%s: a target without an expression", where)
		return
	}
	overTime := p.Type == "timeseries" || p.Type == "status-history" || p.Type == "state-timeline"
	format, ok := t.Format.(float64)
	l.say(!ok || format != 0 && format != 1, "%s: format %v must be the number 0 (time series) or 1 (table)", where, t.Format)
	l.say(ok && overTime != (format == 0), "%s: format %v does not suit a %s", where, t.Format, p.Type)
	wanted := map[bool]string{true: "timeseries", false: "table"}[overTime]
	l.say(t.QueryType != wanted, "%s: queryType %q, want %q", where, t.QueryType, wanted)
	l.say(t.EditorType != "sql" || t.PluginVersion != pluginVersion || t.Meta == nil, "%s: editorType, pluginVersion and meta must be as the plugin writes them", where)
	l.say(t.RawSQL == "", "%s: no query", where)
	l.sql(where, t.RawSQL)
	if overTime {
		l.say(!strings.Contains(t.RawSQL, " AS time"), "%s: a time series needs a column time", where)
		l.say(!ordered.MatchString(t.RawSQL), "%s: a time series must be ordered by time, ascending", where)
		l.say(strings.Contains(t.RawSQL, "$__timeInterval") && p.Interval == "", "%s: $__timeInterval needs the panel's smallest step", where)
	}
}

func (l *linter) sql(where, sql string) {
	for _, name := range macro.FindAllString(sql, -1) {
		l.say(!slices.Contains(allowedMacros, name), "%s: macro %s does not behave the same everywhere", where, name)
	}
	l.say(noZone.MatchString(sql), "%s: %s is a day of the session's zone, not of the restaurant's", where, noZone.FindString(sql))
	// The second argument of $__conditionalAll is a name, and may not have a format.
	bare := conditional.ReplaceAllString(sql, ")")
	for _, use := range variableUse.FindAllStringSubmatch(bare, -1) {
		name := use[1] + use[3] + use[4]
		l.say(use[2] != ":singlequote", "%s: %s is not quoted safely: ${%s:singlequote}", where, use[0], name)
		l.say(!slices.ContainsFunc(l.model.Templating.List, func(v Variable) bool { return v.Name == name }), "%s: there is no variable %s", where, name)
	}
	for _, v := range l.model.Templating.List {
		many := "${" + v.Name + ":singlequote}"
		l.say(v.Multi && strings.Count(sql, many) != strings.Count(sql, "IN ("+many+")"), "%s: %s may be several: IN (%s)", where, v.Name, many)
	}
}

// LintPair tells how two languages of a dashboard differ in more than words.
func LintPair(a, b []byte) []string {
	var models [2]Model
	for i, text := range [][]byte{a, b} {
		if err := json.Unmarshal(text, &models[i]); err != nil {
			return []string{"not a dashboard: " + err.Error()}
		}
	}
	l := &linter{}
	one, other := models[0], models[1]
	l.say(one.UID == other.UID, "both have the uid %s", one.UID)
	l.say(len(one.Panels) != len(other.Panels), "%d and %d panels", len(one.Panels), len(other.Panels))
	for i := range min(len(one.Panels), len(other.Panels)) {
		p, q := one.Panels[i], other.Panels[i]
		l.say(!reflect.DeepEqual(p.Targets, q.Targets), "%q and %q ask other things", p.Title, q.Title)
		l.say(p.GridPos != q.GridPos || p.Type != q.Type || p.ID != q.ID, "%q and %q look different, or have other ids", p.Title, q.Title)
		l.say(p.Description == q.Description, "%q and %q say the same in both languages", p.Title, q.Title)
	}
	l.say(len(one.Templating.List) != len(other.Templating.List), "other variables")
	for i := range min(len(one.Templating.List), len(other.Templating.List)) {
		v, w := one.Templating.List[i], other.Templating.List[i]
		l.say(v.Name != w.Name || !reflect.DeepEqual(v.Query, w.Query), "variables %s and %s differ", v.Name, w.Name)
	}
	return l.found
}
