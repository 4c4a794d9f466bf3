package dashboards

// overrides say of each column how it is headed and written.
func (p panel) overrides(r *reader) []any {
	all := []any{}
	if p.kind == table || p.kind == figures || p.kind == heat {
		// The text of an empty panel is not that of an empty cell.
		all = append(all, override("byRegexp", "/.*/", property("noValue", "–")))
	}
	for _, c := range p.columns {
		if properties := p.properties(r, c); len(properties) > 0 {
			all = append(all, override("byName", c.name, properties...))
		}
	}
	return all
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
	all = append(all, property("displayName", r.text(c.name)))
	u := c.unit.in(r)
	if c.unit != (unit{}) {
		all = append(all, property("unit", u["unit"]))
		if decimals, ok := u["decimals"]; ok {
			all = append(all, property("decimals", decimals))
		}
	}
	if len(c.words) > 0 {
		all = append(all, property("mappings", mappings(r.language, c.words...)))
	}
	if c.steps != nil {
		all = append(all, property("thresholds", thresholds(c.steps)))
	}
	if p.kind == table {
		all = append(all, p.cell(c)...)
	}
	if c.drawn == "dashed" {
		all = append(all, property("custom.drawStyle", "line"), property("custom.lineWidth", 1), property("custom.fillOpacity", 0),
			property("custom.lineStyle", object{"fill": "dash", "dash": []int{6, 6}}), property("color", object{"mode": "fixed", "fixedColor": "orange"}))
	}
	if c.hidden {
		all = append(all, property("custom.hidden", true))
	}
	return append(all, p.link(r, c)...)
}

// cell is how a column of a table looks: colour only where it says something.
func (p panel) cell(c column) []any {
	var all []any
	if c.steps != nil || coloured(c.words) {
		all = append(all, property("custom.cellOptions", object{"type": "color-text"}))
	} else if c.unit == (unit{}) {
		all = append(all, property("custom.cellOptions", object{"type": "auto", "wrapText": true}))
	}
	if c.width > 0 {
		all = append(all, property("custom.width", c.width))
	}
	return all
}

// coloured tells whether the words of a column have colours, which numbers without
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

func (p panel) link(r *reader, c column) []any {
	if c.opens == "" {
		return nil
	}
	return []any{property("links", []any{object{
		"title": r.text("link." + c.opens), "targetBlank": false,
		"url": "/d/" + UID(c.opens, r.language) + "?${datasource:queryparam}&${restaurant:queryparam}&var-location=${__data.fields.location_value:percentencode}&${__url_time_range}",
	}})}
}
