package dashboards

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDashboardsAreCurrent(t *testing.T) {
	for _, language := range Languages {
		files, err := Build(language)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			got, err := fs.ReadFile(Files(), language+"/"+name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s/%s is stale: go run ./dashboards/generate (%v)", language, name, err)
			}
		}
		there, err := fs.Glob(Files(), language+"/*.json")
		if err != nil || len(there) != len(files) {
			t.Errorf("%s has %d files, the source makes %d (%v)", language, len(there), len(files), err)
		}
	}
}

func TestLintFindsNothing(t *testing.T) {
	for _, d := range all {
		var both [][]byte
		for _, language := range Languages {
			b := file(t, language, d.name)
			both = append(both, b)
			for _, found := range Lint(b) {
				t.Errorf("%s/%s: %s", language, d.name, found)
			}
			if !bytes.Contains(b, []byte(`"uid": "larder-`+d.name+`-`+language+`"`)) {
				t.Errorf("%s/%s has another uid", language, d.name)
			}
		}
		for _, found := range LintPair(both[0], both[1]) {
			t.Errorf("%s: %s", d.name, found)
		}
	}
}

func file(t *testing.T, language, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(Files(), language+"/"+name+".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Each planted mistake must be found, and said in words that name it.
func TestLintFindsPlantedMistakes(t *testing.T) {
	for _, c := range []struct{ name, of, old, new, says string }{
		{"source by name", "sales", `"uid": "${datasource}"`, `"uid": "larder"`, "datasource"},
		{"other plugin", "sales", `"type": "grafana-clickhouse-datasource"`, `"type": "vertamedia-clickhouse-datasource"`, "datasource"},
		{"format as text", "sales", `"format": 1`, `"format": "table"`, "format table must be the number"},
		{"format of another kind", "sales", `"format": 0`, `"format": 1`, "does not suit"},
		{"query type", "sales", `"queryType": "timeseries"`, `"queryType": "table"`, "queryType"},
		{"editor", "sales", `"editorType": "sql"`, `"editorType": "builder"`, "editorType"},
		{"macro of some versions", "mirror", "$__timeInterval(", "$__timeGroup(", "$__timeGroup"},
		{"days of UTC", "sales", "AND business_day BETWEEN", "AND $__dateFilter(business_day) AND business_day BETWEEN", "$__dateFilter"},
		{"no format", "sales", "${restaurant:singlequote}", "$restaurant", "not quoted safely"},
		{"bare list", "sales", "IN (${location:singlequote})", "IN (${location})", "not quoted safely"},
		{"other format", "sales", "IN (${location:singlequote})", "IN (${location:csv})", "not quoted safely"},
		{"several as one", "sales", "IN (${location:singlequote})", "= ${location:singlequote}", "may be several"},
		{"unknown variable", "sales", "${restaurant:singlequote}", "${shop:singlequote}", "no variable shop"},
		{"not ordered", "sales", `\nORDER BY time"`, `"`, "ordered by time"},
		{"descending", "sales", `\nORDER BY time"`, `\nORDER BY time DESC"`, "ordered by time"},
		{"no time", "sales", " AS time,", " AS moment,", "needs a column time"},
		{"session's day", "sales", "toDate32(now('Europe/Bucharest'))", "today()", "session's zone"},
		{"session's range", "sales", "toDate32($__fromTime, 'Europe/Bucharest')", "toDate32($__fromTime)", "session's zone"},
		{"default thresholds", "sales", `"thresholds": {`, `"boundaries": {`, "thresholds are not set"},
		{"no text for nothing", "sales", `"noValue": "Încă nicio vânzare azi",`, ``, "no text for no data"},
		{"zone", "sales", `"timezone": "Europe/Bucharest"`, `"timezone": "browser"`, "timezone"},
		{"dead link", "sales", `"/d/larder-products-ro"`, `"/d/larder-orders-ro"`, "no dashboard of ours"},
		{"dead link of a cell", "cash-up", `"/d/larder-cash-up-ro?`, `"/d/larder-drawer-ro?`, "no dashboard of ours"},
		{"over another", "sales", `"x": 8,`, `"x": 4,`, "lies over"},
		{"a gap", "sales", `"h": 9,`, `"h": 8,`, "cells free"},
		{"too wide", "sales", `"x": 16,`, `"x": 20,`, "does not fit"},
		{"all rows", "sales", `"values": true`, `"values": false`, "every row"},
		{"bars without names", "online-orders", `"id": "displayName"`, `"id": "description"`, "every row"},
		{"a point in every language", "stock", `"unit": "locale"`, `"unit": "percent"`, "writes a point"},
		{"a point before a word", "stock", "\"id\": \"unit\",\n                \"value\": \"locale\"", "\"id\": \"unit\",\n                \"value\": \"suffix: zile\"", "writes a point"},
		{"no step", "mirror", `"interval": "1m"`, `"interval": ""`, "smallest step"},
		{"variable in an object", "sales", `"query": "SELECT replaceAll(business_id`, `"query": {"rawSql": "SELECT 1"}, "was": "SELECT replaceAll(business_id`, "plain SQL string"},
		{"value with backslashes", "sales", "SELECT replaceAll(business_id, ", "SELECT concat(business_id, ", "backslashes"},
		{"no expression", "larder", `"expr": "max(larder_sink_failing) or vector(NaN)"`, `"expr": ""`, "without an expression"},
		{"not JSON", "sales", `{`, ``, "not a dashboard"},
	} {
		b := file(t, "ro", c.of)
		planted := bytes.Replace(b, []byte(c.old), []byte(c.new), 1)
		if c.name == "default thresholds" || c.name == "over another" || c.name == "value with backslashes" || c.name == "bars without names" {
			planted = bytes.ReplaceAll(b, []byte(c.old), []byte(c.new))
		}
		if bytes.Equal(b, planted) {
			t.Errorf("%s: nothing was planted", c.name)
		}
		if found := strings.Join(Lint(planted), "\n"); !strings.Contains(found, c.says) {
			t.Errorf("%s: found %q, want %q", c.name, found, c.says)
		}
	}
}

func TestLintFindsPlantedMistakesOfTheWhole(t *testing.T) {
	d := sales
	for len(d.panels) <= maxPanels {
		p := d.panels[0]
		p.id = len(d.panels) + 1
		d.panels = append(d.panels, p)
	}
	if found := lintOf(t, d); !strings.Contains(found, "13 panels") || strings.Contains(found, "id is another") {
		t.Errorf("thirteen panels: %s", found)
	}
	d = sales
	d.panels = slices.Clone(sales.panels)
	d.panels[1].id = d.panels[0].id
	if found := lintOf(t, d); !strings.Contains(found, "id is another") {
		t.Errorf("one id for two panels: %s", found)
	}
	d.panels[1].id = 0
	if _, err := d.json("ro"); err == nil || !strings.Contains(err.Error(), "no id of its own") {
		t.Errorf("without an id: %v", err)
	}
	d = sales
	d.texts = texts{}
	if _, err := d.json("ro"); err == nil || !strings.Contains(err.Error(), "today.about") {
		t.Errorf("without texts: %v", err)
	}
	bare := bytes.ReplaceAll(file(t, "ro", "sales"), []byte(`"description": "`), []byte(`"was": "`))
	if found := strings.Join(Lint(bare), "\n"); strings.Count(found, "no description in plain words") != len(sales.panels) {
		t.Errorf("without descriptions: %s", found)
	}
	pied := bytes.ReplaceAll(file(t, "ro", "sales"), []byte(`"type": "stat"`), []byte(`"type": "bargauge"`))
	pied = bytes.ReplaceAll(pied, []byte(`"values": false`), []byte(`"values": true`))
	if found := strings.Join(Lint(pied), "\n"); !strings.Contains(found, "stand for every row") {
		t.Errorf("a name of the column in a bar gauge: %s", found)
	}
}

func lintOf(t *testing.T, d dashboard) string {
	t.Helper()
	was := all
	defer func() { all = was }()
	all = append([]dashboard{d}, all[1:]...)
	files, err := Build("ro")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(Lint(files[d.name+".json"]), "\n")
}

func TestLintPairFindsWhatDiffers(t *testing.T) {
	ro, en := file(t, "ro", "sales"), file(t, "en", "sales")
	for _, c := range []struct{ old, new, says string }{
		{"count() AS orders", "count() AS ordres", "ask other things"},
		{`"uid": "larder-sales-en"`, `"uid": "larder-sales-ro"`, "both have the uid"},
		{`"name": "location"`, `"name": "place"`, "variables"},
		{`"type": "bargauge"`, `"type": "table"`, "look different"},
		{"Net sales of the day divided by the number of orders.", "Vânzările nete ale zilei împărțite la numărul de bonuri.", "say the same"},
	} {
		planted := bytes.Replace(en, []byte(c.old), []byte(c.new), 1)
		if found := strings.Join(LintPair(ro, planted), "\n"); !strings.Contains(found, c.says) {
			t.Errorf("%s: found %q, want %q", c.new, found, c.says)
		}
	}
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for range 2 { // the second time over the first
		files, err := Export(dir)
		if err != nil || len(files) != 2*len(all) {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil || len(Lint(b)) > 0 {
				t.Errorf("%s: %v, %v", name, err, Lint(b))
			}
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	if err != nil || len(there) > 0 {
		t.Errorf("left behind: %v, %v", there, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "en", "cash-up.json")); err != nil || !bytes.Equal(b, file(t, "en", "cash-up")) {
		t.Errorf("en/cash-up.json: %v", err)
	}
	at := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(at); err == nil || !strings.Contains(err.Error(), at) {
		t.Errorf("into a file: %v", err)
	}
}
