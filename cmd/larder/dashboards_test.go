package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The dashboards are written where there is no configuration.
func TestDashboardsExport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.run("dashboards", "export", "boards")
	if r.code != 0 || strings.Count(r.out, "\n") != 14 || r.errors != "" {
		t.Fatalf("%+v", r)
	}
	for _, language := range []string{"ro", "en"} {
		for _, name := range []string{"sales", "products", "stock", "cash-up", "online-orders", "mirror", "larder"} {
			file := filepath.Join("boards", language, name+".json")
			b, err := os.ReadFile(filepath.Join(h.dir, file))
			if err != nil {
				t.Fatal(err)
			}
			var d struct{ UID string }
			if err := json.Unmarshal(b, &d); err != nil || d.UID != "larder-"+name+"-"+language || !strings.Contains(r.out, file+"\n") {
				t.Errorf("%s: uid %q, %v\n%s", file, d.UID, err, r.out)
			}
		}
	}
	h.write("taken", "a file")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"dashboards", "export", "taken"}, 1, "write the dashboards to taken"},
		{[]string{"dashboards", "export"}, 2, "one folder is needed"},
		{[]string{"dashboards", "export", ""}, 2, "one folder is needed"},
		{[]string{"dashboards", "export", "a", "b"}, 2, "one folder is needed"},
		{[]string{"dashboards"}, 2, "dashboards export DIR"},
		{[]string{"dashboards", "import"}, 2, "import"},
	} {
		if r := h.run(c.args...); r.code != c.code || !strings.Contains(r.errors, c.says) || r.out != "" {
			t.Errorf("%v: %+v", c.args, r)
		}
	}
	if r := h.run("dashboards", "export", "--help"); r.code != 0 || !strings.Contains(r.out, "Examples:") || !strings.Contains(r.out, "DIR/ro") {
		t.Errorf("help: %+v", r)
	}
}
