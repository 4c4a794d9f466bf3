package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse"
)

// What ends a command is told in the form of the log, wherever that was chosen.
func TestFatalErrorsInTheChosenForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const asJSON = "log: {format: json}\n"
	for name, c := range map[string]struct {
		more string
		args []string
		code int
	}{
		"by a flag":                 {quiet, []string{"sync", "--stream", "sale_orders", "--log-format", "json"}, 2},
		"by the configuration":      {quiet + asJSON, []string{"sync", "--stream", "sale_orders"}, 2},
		"of the configuration":      {quiet + asJSON + "warehouse: {dns: x}\n", []string{"run"}, 2},
		"of a missing warehouse":    {quiet + asJSON, []string{"status"}, 4},
		"of the command line":       {quiet, []string{"--log-format", "json", "sync", "--fast"}, 2},
		"behind what is no command": {quiet, []string{"chek", "--log-format", "json"}, 2},
		"behind what is no flag":    {quiet, []string{"sync", "--bogus", "--log-format", "json"}, 2},
		"in one word, behind it":    {quiet, []string{"sync", "--bogus", "--log-format=json"}, 2},
		"set, behind it":            {quiet, []string{"sync", "--bogus", "--set", "log.format=json"}, 2},
		"set in one word":           {quiet, []string{"sync", "--bogus", "--set=log.format=json"}, 2},
		"behind too much":           {quiet, []string{"check", "all", "--log-format", "json"}, 2},
		"of a demo":                 {quiet, []string{"demo", "--log-format", "json", "--dir", "."}, 2},
		"set, of a missing engine":  {quiet, []string{"run", "--set", "log.format=json", "--set", "warehouse.dsn=embedded:./x"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			h := *h
			h.t = t
			h.configure(c.more)
			h.engine = "/nonexistent/libchdb.so"
			r := h.want(c.code, "", c.args...)
			lines := strings.Split(strings.TrimSpace(r.errors), "\n")
			var last struct {
				Level, Msg, Error string
				ExitCode          int `json:"exit_code"`
			}
			for _, line := range lines {
				if err := json.Unmarshal([]byte(line), &last); err != nil {
					t.Errorf("%v: %s", err, line)
				}
			}
			if last.Level != "ERROR" || !strings.HasPrefix(last.Msg, "larder") || last.Error == "" || last.ExitCode != c.code {
				t.Errorf("the last line is %+v", last)
			}
		})
	}
	h.configure(quiet)
	if r := h.want(2, "", "sync", "--stream", "sale_orders"); !strings.HasPrefix(r.errors, "larder: --stream") {
		t.Errorf("in text: %s", r.errors)
	}
	for _, args := range [][]string{{"chek"}, {"sync", "--bogus", "--log-format", "text"}, {"sync", "--bogus", "--", "--log-format", "json"}, {"sync", "--bogus", "--log-format"}} {
		if r := h.want(2, "", args...); !strings.HasPrefix(r.errors, "larder: ") {
			t.Errorf("%q, in text: %s", args, r.errors)
		}
	}
	for _, args := range [][]string{{"check"}, {"version"}, {"migrate", "--print"}} {
		r := h.want(2, "", append(args, "--log-format", "jsn")...)
		if !strings.HasPrefix(r.errors, `larder: --log-format "jsn": allowed: text, json`) || r.out != "" {
			t.Errorf("%q: %s%s", args, r.errors, r.out)
		}
	}
}

func TestAnEmptyWarehouseIsNoOldOne(t *testing.T) {
	t.Parallel()
	if !errors.Is(clickhouse.ErrEmpty, clickhouse.ErrNotMigrated) {
		t.Error("an empty warehouse lacks migrations")
	}
	h := newHouse(t)
	h.configure(quiet + local("embedded:./data"))
	h.want(4, "there is no data at", "status")
	if err := os.Mkdir(filepath.Join(h.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("data/something", "") // of another program
	for _, args := range [][]string{{"status"}, {"sql", "SELECT count() FROM sales_orders"}} {
		h.want(4, "there is nothing in the warehouse yet: larder sync or larder run fills it", args...)
	}
}
