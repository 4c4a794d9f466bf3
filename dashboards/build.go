package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// dashboard is the source of one dashboard in every language.
type dashboard struct {
	name      string
	variables variables
	from, to  string   // of the range it opens with
	ranges    []string // quick ranges, of which one is its own
	refresh   string
	texts     texts
	links     []string // other dashboards
	panels    []panel
}

// all are the dashboards in the order in which people meet them.
var all = []dashboard{sales, products, stock, cashUp, online, mirror, program}

// UID is the id by which Grafana, its links and the alerts know a dashboard.
func UID(name, language string) string { return "larder-" + name + "-" + language }

// Build makes every dashboard of a language from its source, by file name.
func Build(language string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, d := range all {
		o, err := d.json(language)
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", d.name, err)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(o); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", d.name, err)
		}
		files[d.name+".json"] = b.Bytes()
	}
	return files, nil
}

func (d dashboard) json(language string) (object, error) {
	r := &reader{own: d.texts, language: language}
	panels := []any{}
	var g grid
	for _, p := range d.panels {
		x, y := g.place(p.w, p.h)
		o, err := p.json(r, d.variables.plugin(), x, y)
		if err != nil {
			return nil, err
		}
		panels = append(panels, o)
	}
	o := object{
		"uid": UID(d.name, language), "title": r.text("title"), "description": r.text("about"), "tags": []string{"larder"},
		"timezone": "Europe/Bucharest", "weekStart": "monday", "schemaVersion": 39, "version": 1, "editable": false, "graphTooltip": 1,
		"time": object{"from": d.from, "to": d.to}, "refresh": d.refresh, "liveNow": false, "fiscalYearStartMonth": 0,
		"timepicker": object{"quick_ranges": d.quickRanges(r)}, "templating": object{"list": d.variables.list(r)},
		"annotations": object{"list": []any{}}, "links": d.linked(r), "panels": panels,
	}
	return o, r.err()
}

var rangesByName = map[string][2]string{
	"today":      {"now/d", "now/d"},
	"yesterday":  {"now-1d/d", "now-1d/d"},
	"week":       {"now/w", "now/w"},
	"days28":     {"now-27d/d", "now/d"},
	"month":      {"now/M", "now/M"},
	"last_month": {"now-1M/M", "now-1M/M"},
	"days92":     {"now-91d/d", "now/d"},
	"year":       {"now/y", "now/y"},
}

func (d dashboard) quickRanges(r *reader) []any {
	list := []any{}
	for _, name := range d.ranges {
		list = append(list, object{"display": r.text("range." + name), "from": rangesByName[name][0], "to": rangesByName[name][1]})
	}
	return list
}

// linked are the links to other dashboards, each of which opens with a range of its own,
// and to the same one in the other language.
func (d dashboard) linked(r *reader) []any {
	list := []any{}
	link := func(title, uid string, variables, time bool) {
		list = append(list, object{
			"type": "link", "title": title, "url": "/d/" + uid, "includeVars": variables, "keepTime": time,
			"targetBlank": false, "asDropdown": false, "icon": "dashboard", "tags": []any{}, "tooltip": "",
		})
	}
	for _, name := range d.links {
		link(r.text("link."+name), UID(name, r.language), d.variables == ofOwner || d.variables == ofStock, false)
	}
	for _, other := range Languages {
		if other != r.language {
			link(r.text("link.language"), UID(d.name, other), true, true)
		}
	}
	return list
}
