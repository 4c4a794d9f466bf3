package dashboards

const (
	clickhousePlugin = "grafana-clickhouse-datasource"
	pluginVersion    = "4.20.0"
)

// source is the datasource block of a panel, a target or a variable.
func source(plugin string) object { return object{"type": plugin, "uid": "${datasource}"} }

// The values of variables have their backslashes doubled: Grafana's format singlequote escapes
// quotes only, and an id may hold any character.
const locationValue = `replaceAll(location_id, '\\', '\\\\')`

// Restaurants come by name, the first one is shown: sums over restaurants are nobody's
// figures, and reading a hundred of them for one owner would be a waste. api_keys has every
// restaurant that a key serves, whatever else of it was mirrored yet. Those of one name are told apart
// by their ids.
const restaurantsSQL = `SELECT replaceAll(business_id, '\\', '\\\\') AS value, if(count() OVER (PARTITION BY name) > 1, concat(name, ' · ', business_id), name) AS label
FROM
(
  SELECT business_id, coalesce(any(nullIf(business_name, '')), business_id) AS name
  FROM api_keys
  GROUP BY business_id
)
ORDER BY label, business_id`

// Locations are the active ones, and those that have sold and are closed now.
const locationsSQL = `SELECT ` + locationValue + ` AS value, coalesce(any(name), location_id) AS label
FROM
(
  SELECT toString(id) AS location_id, toNullable(name) AS name FROM locations WHERE ` + mine + `
  UNION ALL
  SELECT toString(location_id), location_name FROM sales_daily_by_location WHERE ` + mine + `
)
GROUP BY location_id
ORDER BY label, location_id`

type variables int

const (
	ofOwner   variables = iota // one restaurant, its locations
	ofStock                    // the same; there is no period
	ofMirror                   // any restaurants
	ofProgram                  // sources, from Prometheus
)

func (v variables) plugin() string {
	if v == ofProgram {
		return "prometheus"
	}
	return clickhousePlugin
}

func (v variables) list(r *reader) []any {
	list := []any{datasourceVariable(r, v)}
	switch v {
	case ofOwner, ofStock:
		return append(list, queryVariable(r, "restaurant", restaurantsSQL, false), queryVariable(r, "location", locationsSQL, true))
	case ofMirror:
		return append(list, queryVariable(r, "restaurant", restaurantsSQL, true))
	default:
		return append(list, sourceVariable(r))
	}
}

// datasourceVariable begins with the source of deploy/grafana/provisioning; where there is
// none of that name, Grafana takes another of the kind. Owners do not see it.
func datasourceVariable(r *reader, v variables) object {
	uid, name, hide := "larder", "Larder", 2
	if v == ofProgram {
		uid, name = "larder-prometheus", "Larder's Prometheus"
	}
	if v == ofProgram || v == ofMirror {
		hide = 0
	}
	return object{
		"name": "datasource", "label": r.text("var.datasource"), "type": "datasource", "query": v.plugin(), "hide": hide,
		"current": object{"text": name, "value": uid}, "multi": false, "includeAll": false, "refresh": 1, "regex": "", "options": []any{},
	}
}

// queryVariable offers what a query gives: value, then label. A list that may be chosen
// from begins with all of it.
func queryVariable(r *reader, name, sql string, many bool) object {
	v := object{
		"name": name, "label": r.text("var." + name), "type": "query", "datasource": source(clickhousePlugin),
		"query": sql, "definition": sql, "refresh": 1, "sort": 0, "regex": "", "hide": 0,
		"multi": many, "includeAll": many, "options": []any{}, "current": object{},
	}
	if many {
		v["current"] = object{"text": []string{r.text("var.all")}, "value": []string{"$__all"}}
	}
	return v
}

func sourceVariable(r *reader) object {
	const expr = "label_values(larder_source_held, source)"
	return object{
		"name": "source", "label": r.text("var.source"), "type": "query", "datasource": source("prometheus"),
		"query": object{"query": expr, "refId": "source", "qryType": 1}, "definition": expr, "refresh": 2, "sort": 1, "regex": "", "hide": 0,
		"multi": true, "includeAll": true, "allValue": ".*", "options": []any{},
		"current": object{"text": []string{r.text("var.all")}, "value": []string{"$__all"}},
	}
}
