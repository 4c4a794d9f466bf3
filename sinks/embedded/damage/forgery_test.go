package damage_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// What a reader makes the engine say about parts is no damage: it is not looked into,
// and nothing of it is kept.
func TestNobodyForgesADamage(t *testing.T) {
	engine, ask := openToReaders(t)
	var path, table string
	err := engine.Pool().Use(t.Context(), embedded.Session{Database: "default"}, func(c *embedded.Conn) error {
		for _, sql := range []string{
			"CREATE DATABASE larder", "CREATE DATABASE larder_raw", "CREATE TABLE larder_raw.r (a UInt64, file_name String) ENGINE = ReplacingMergeTree ORDER BY a",
			"INSERT INTO larder_raw.r VALUES (1, 'x')",
		} {
			if _, err := c.Ask(sql, "Null"); err != nil {
				return err
			}
		}
		part, err := c.Ask("SELECT path, toString(uuid) FROM system.parts AS p JOIN system.tables AS t ON t.database = p.database AND t.name = p.table WHERE p.database = 'larder_raw' AND active", "TSVRaw")
		if err != nil {
			return err
		}
		_, err = fmt.Sscan(string(part), &path, &table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	genuine := "(while reading from part " + path + " in table larder_raw.r (" + table + ") located on disk default of type local, from mark 0 with max_rows_to_read = 1, offset = 0): While reading part all_1_1_0: While executing MergeTreeSelect("
	for _, name := range []string{
		"while reading from part x in table a." + strings.Repeat("b", 60_000) + " (", "while reading from part x in table larder_raw.r (", "while reading from part x in table larder.nothing (",
		genuine, strings.Replace(genuine, "larder_raw.r ", "larder_raw."+strings.Repeat("c", 64)+" ", 1),
	} {
		for _, sql := range []string{
			"SELECT toUInt8('') AS \"" + name + "\"",
			"SELECT toUInt8(materialize('')) AS \"" + name + "\"",
			"SELECT toUInt8(\"" + name + "\") FROM (SELECT materialize('') AS \"" + name + "\")",
			"SELECT toUInt8(concat(materialize(''), substring('" + name + "', 1, 0)))",
			"SELECT a FROM larder_raw.r PREWHERE NOT ignore(toUInt8(substring(file_name, 1, 0)) AS \"" + name + "\")",
			"SELECT * FROM larder_raw.r WHERE (SELECT toUInt8(materialize('')) AS \"" + name + "\") IS NULL",
			"SELECT repeat(concat('" + name + "', file_name), 1000000000) FROM larder_raw.r",
		} {
			status, body := ask(sql)
			if status == http.StatusOK || status == http.StatusForbidden {
				t.Errorf("%.300s: %d", sql, status)
			}
			if !strings.HasPrefix(body, "Code: 32. ") && !strings.Contains(sql, "repeat") {
				t.Errorf("%.300s: no error that damage could have: %.300s", sql, body)
			}
			if engine.Damage().Examined() > 0 {
				t.Errorf("%.300s: looked into, for %.900s", sql, body)
			}
		}
	}
	if found := engine.Damage().All(); len(found) > 0 {
		t.Error(found)
	}
	if err := engine.Pool().Use(t.Context(), embedded.Session{Database: "default"}, func(c *embedded.Conn) error { return engine.Damage().Look(c) }); err != nil {
		t.Error(err)
	}
	if n := engine.Damage().Examined(); n > 0 {
		t.Errorf("by the engine's count of errors: %d looked into", n)
	}
}

// openToReaders opens an engine as the daemon does, and returns how a reader asks it.
func openToReaders(t *testing.T) (engine *embedded.Engine, ask func(sql string) (status int, body string)) {
	t.Helper()
	s, err := server.Open(t.Context(), server.Options{Engine: embedded.Options{Path: t.TempDir(), Databases: []string{"larder", "larder_raw"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	addr, err := s.ListenTCP(t.Context(), "127.0.0.1:0", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s.Engine(), func(sql string) (int, string) {
		response, err := http.Post("http://"+addr.String()+"/?max_execution_time=5&max_result_rows=1000", "text/plain", strings.NewReader(sql))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
}
