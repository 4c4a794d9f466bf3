package dashboards

import "unicode/utf8"

// overrides say of each column how it is headed and written.
func (p panel) overrides(r *reader) []any {
	all := []any{}
	if p.kind == table || p.kind == figures || p.kind == heat {
		// The text of an empty panel is not that of an empty cell.
		all = append(all, override("byRegexp", "/.*/", property("noValue", p.nothing())))
	}
	for _, c := range p.columns {
		if properties := p.properties(r, c); len(properties) > 0 {
			all = append(all, override("byName", c.name, properties...))
		}
	}
	return all
}

// nothing is what stands in an empty cell: most of those of a heat table are.
func (p panel) nothing() string {
	if p.kind == heat {
		return ""
	}
	return "–"
}

func override(matcher, options string, properties ...any) object {
	return object{"matcher": object{"id": matcher, "options": options}, "properties": properties}
}

func property(id string, value any) any { return object{"id": id, "value": value} }

func (p panel) properties(r *reader, c column) []any {
	var all []any
	if p.rowsOfOne() {
		return nil // a name of the one number would stand for every row; the rest are defaults
	}
	all = append(all, property("displayName", p.heading(r, c)))
	u := c.unit.properties()
	if c.unit != (unit{}) {
		all = append(all, property("unit", u["unit"]))
		if decimals, ok := u["decimals"]; ok {
			all = append(all, property("decimals", decimals))
		}
	}
	switch {
	case len(c.words) > 0:
		all = append(all, property("mappings", mappings(r.language, c.words...)))
	case c.signed:
		all = append(all, property("mappings", signColors))
	case p.kind == figures && len(p.promql) > 0:
		all = append(all, property("mappings", []any{noColorOfNothing, dashForNoNumber}))
	case c.steps != nil:
		all = append(all, property("mappings", []any{noColorOfNothing}))
	}
	if c.steps != nil {
		all = append(all, property("thresholds", thresholds(c.steps)))
	}
	switch {
	case p.kind == table:
		all = append(all, p.cell(r, c)...)
	case p.kind == heat && c.unit == (unit{}):
		all = append(all, property("custom.cellOptions", object{"type": "auto"}), property("custom.width", c.width))
	}
	if c.drawn == "dashed" {
		all = append(all, property("custom.drawStyle", "line"), property("custom.lineWidth", 1), property("custom.fillOpacity", 0),
			property("custom.stacking", object{"mode": "none", "group": "A"}),
			property("custom.lineStyle", object{"fill": "dash", "dash": []int{6, 6}}), property("color", object{"mode": "fixed", "fixedColor": "orange"}))
	}
	if c.hidden {
		all = append(all, property("custom.hidden", true))
	}
	return append(all, p.link(r, c)...)
}

// cell is how a column of a table looks: colour only where it says something.
func (p panel) cell(r *reader, c column) []any {
	var all []any
	if c.steps != nil || coloured(c.words) {
		all = append(all, property("custom.cellOptions", object{"type": "color-text"}))
	} else if c.unit == (unit{}) && c.words == nil { // words are not wrapped: Grafana 12 gives a row the height of the stored value
		all = append(all, property("custom.cellOptions", object{"type": "auto", "wrapText": true}))
	}
	if c.least > 0 {
		all = append(all, property("custom.minWidth", c.least))
	} else if w := c.room(p.heading(r, c)); w > 0 {
		all = append(all, property("custom.width", w))
	}
	return all
}

// heading is the name of a column. Tables have short ones: a phone shows some 50 letters of
// them beside each other.
func (p panel) heading(r *reader, c column) string {
	switch {
	case p.kind == table:
		return r.or("column."+c.name, c.name)
	case p.kind == figures && c.unit.money:
		return r.text(c.name) + " (RON)"
	default:
		return r.text(c.name)
	}
}

// room is the width of a column whose values are of one length, in pixels; those of names
// share what is left.
func (c column) room(heading string) int {
	const letter, around, figure = 8, 22, 76
	need := map[unit]int{count: 62, asIs: 76, bani: 86, number: 60, amounts: 70, day: 54, instant: 96}
	switch {
	case c.width > 0:
		return c.width
	case c.unit == (unit{}):
		return 0
	}
	least, ok := need[c.unit]
	if !ok {
		least = figure
	}
	return max(least, letter*utf8.RuneCountInString(heading)+around)
}

// signColors colour a change in percent, which begins with its sign: green is no less than
// before, orange less than 10 % below, red more.
var signColors = []any{
	object{"type": "regex", "options": object{"pattern": "/^(\\+|0)/", "result": object{"color": "green", "index": 0}}},
	object{"type": "regex", "options": object{"pattern": "/^-\\d %$/", "result": object{"color": "orange", "index": 1}}},
	object{"type": "regex", "options": object{"pattern": "/^-/", "result": object{"color": "red", "index": 2}}},
}

// noColorOfNothing keeps a figure that is not there from the colour of the lowest.
var noColorOfNothing = object{"type": "special", "options": object{"match": "null", "result": object{"color": "text", "index": 0}}}

// dashForNoNumber writes what Prometheus knows no figure of like any other that is not there.
var dashForNoNumber = object{"type": "special", "options": object{"match": "nan", "result": object{"text": "–", "color": "text", "index": 1}}}

// coloured reports whether the words of a column have colours, which numbers without
// thresholds of their own have not.
func coloured(sets []string) bool {
	for _, set := range sets {
		for _, w := range words[set] {
			if w.color != "" {
				return true
			}
		}
	}
	return false
}

// link is what a click on a value of the column opens. The query answers where to, in columns
// that are not shown: location_value, or day_begins and day_ends in milliseconds.
func (p panel) link(r *reader, c column) []any {
	name, about := c.opens, "var-location=${__data.fields.location_value:percentencode}&${__url_time_range}"
	if c.opensDay != "" {
		name, about = c.opensDay, "${location:queryparam}&from=${__data.fields.day_begins}&to=${__data.fields.day_ends}"
	}
	if name == "" {
		return nil
	}
	return []any{property("links", []any{object{
		"title": r.text("link." + name), "targetBlank": false,
		"url": "/d/" + UID(name, r.language) + "?${datasource:queryparam}&${restaurant:queryparam}&" + about,
	}})}
}
