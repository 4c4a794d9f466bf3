package embedded

import (
	"net/http"
	"strings"
	"testing"
)

// What a reader makes the engine say about parts is no damage: it is not looked into,
// and nothing of it is kept.
func TestNobodyForgesADamage(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	parts, err := engine.anchor.list("SELECT path, toString(uuid) FROM system.parts AS p JOIN system.tables AS t ON t.database = p.database AND t.name = p.table WHERE p.database = 'larder_raw' AND active")
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	genuine := "(while reading from part " + parts[0][0] + " in table larder_raw.r (" + parts[0][1] + ") located on disk default of type local, from mark 0 with max_rows_to_read = 1, offset = 0): While reading part all_1_1_0: While executing MergeTreeSelect("
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
			w := b.ask(engine, http.MethodPost, sql, nil)
			if w.Code == http.StatusOK || w.Code == http.StatusForbidden {
				t.Errorf("%.300s: %d", sql, w.Code)
			}
			if !strings.HasPrefix(w.Body.String(), "Code: 32. ") && !strings.Contains(sql, "repeat") {
				t.Errorf("%.300s: no error that damage could have: %.300s", sql, w.Body)
			}
			if len(engine.damages.sound) > 0 {
				t.Errorf("%.300s: looked into, for %.900s", sql, w.Body)
				clear(engine.damages.sound)
			}
		}
	}
	if found := engine.Damages(); len(found) > 0 {
		t.Error(found)
	}
	if err := engine.lookForDamage(engine.anchor); err != nil || len(engine.damages.sound) > 0 {
		t.Errorf("by the engine's count of errors: %v, %d looked into", err, len(engine.damages.sound))
	}
}
