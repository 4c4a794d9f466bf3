package dashboards

import "slices"

// look is how a kind of panel is drawn.
type look struct {
	grafana  string // type of the panel
	interval string // smallest step, where time is grouped by it
	custom   object
	field    object
	options  func(panel) object
}

var overLegend = object{"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": []any{}}

var looks = map[kind]look{
	figures: {grafana: "stat", options: statOptions("")},
	oneWord: {grafana: "stat", options: statOptions("/.*/")},
	table: {grafana: "table",
		// Columns may be narrow: a phone shows five of them.
		custom:  object{"minWidth": 58, "align": "auto", "filterable": false, "cellOptions": object{"type": "auto"}},
		options: tableOptions},
	heat: {grafana: "table",
		custom:  object{"minWidth": 36, "align": "center", "filterable": false, "cellOptions": object{"type": "color-background", "mode": "basic"}},
		field:   object{"color": object{"mode": "continuous-greens"}, "min": 0},
		options: tableOptions},
	bars:   {grafana: "bargauge", field: object{"min": 0}, options: barOptions(true)},
	stages: {grafana: "bargauge", field: object{"min": 0}, options: barOptions(false)},
	lines: {grafana: "timeseries", interval: "1m",
		custom:  object{"drawStyle": "line", "lineWidth": 2, "fillOpacity": 8, "showPoints": "auto", "pointSize": 4, "spanNulls": true, "axisSoftMin": 0},
		field:   object{"color": object{"mode": "palette-classic"}},
		options: overTimeOptions},
	columns: {grafana: "timeseries", interval: "1m",
		custom:  object{"drawStyle": "bars", "barAlignment": 1, "barWidthFactor": 0.8, "lineWidth": 0, "fillOpacity": 75, "showPoints": "never", "axisSoftMin": 0, "stacking": object{"mode": "normal", "group": "A"}},
		field:   object{"color": object{"mode": "palette-classic"}},
		options: overTimeOptions},
	strip: {grafana: "status-history",
		custom: object{"fillOpacity": 85, "lineWidth": 0},
		field:  object{"displayName": "${__field.labels.restaurant}"},
		options: func(panel) object {
			return object{"showValue": "never", "rowHeight": 0.85, "colWidth": 0.95,
				"legend":  object{"showLegend": false, "displayMode": "list", "placement": "bottom"},
				"tooltip": object{"mode": "single", "sort": "none"}}
		}},
}

// statOptions are those of numbers that stand one under the other, each beside its name:
// that can be read on a phone and in a corner of a desk's screen.
func statOptions(fields string) func(panel) object {
	return func(p panel) object {
		mode, name, shown := "none", "value_and_name", fields
		for _, c := range p.columns {
			if c.steps != nil || c.signed || coloured(c.words) {
				mode = "value"
			}
		}
		size := object{"titleSize": 14, "valueSize": 22}
		if len(p.columns) == 1 && len(p.promql) < 2 {
			name, size = "value", object{"valueSize": 36}
		}
		if slices.ContainsFunc(p.columns, func(c column) bool { return c.signed }) {
			shown = "/.*/" // numbers alone otherwise
		}
		return object{
			"orientation": "horizontal", "colorMode": mode, "graphMode": "none", "justifyMode": "auto", "textMode": name, "text": size,
			"wideLayout": true, "showPercentChange": false, "percentChangeColorMode": "standard",
			"reduceOptions": object{"values": false, "calcs": []string{"lastNotNull"}, "fields": shown},
		}
	}
}

// barOptions are those of bars: one for each row, or for each column.
func barOptions(rows bool) func(panel) object {
	return func(panel) object {
		return object{
			"orientation": "horizontal", "displayMode": "basic", "valueMode": "text", "namePlacement": "left", "showUnfilled": false,
			"text":   object{"titleSize": 14, "valueSize": 14},
			"sizing": "auto", "minVizWidth": 8, "minVizHeight": 16, "maxVizHeight": 300,
			"reduceOptions": object{"values": rows, "calcs": []string{"lastNotNull"}, "fields": "", "limit": 25},
			"legend":        object{"showLegend": false, "displayMode": "list", "placement": "bottom", "calcs": []any{}},
		}
	}
}

func tableOptions(panel) object {
	return object{"showHeader": true, "cellHeight": "sm", "footer": object{"show": false, "reducer": []string{"sum"}, "fields": "", "countRows": false}}
}

func overTimeOptions(p panel) object {
	return object{"legend": overLegend, "tooltip": object{"mode": "multi", "sort": "desc"}}
}
