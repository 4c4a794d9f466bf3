package server

import (
	"net/http"
	"strings"
	"testing"
)

// The tables of functions that take a type or a time zone are held against the engine:
// it is asked for each function with arguments of the usual shapes, one of them being no
// zone, or no type. Where it says so, readers are refused before it looks.
func TestTheEngineTakesZonesAndTypesWhereTheTablesSay(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	c := held(t, engine.engine.Pool(), map[string]string{"max_execution_time": "5"})
	names := listed(t, engine, "SELECT name FROM system.functions WHERE NOT is_aggregate AND NOT match(lower(name), '^(sleep|throwif|ai)')")
	if len(names) < 1500 {
		t.Fatal(len(names))
	}
	const zone, kind = "concat('No/Such/', 'Zone')", "concat('No_Such_', 'Type')"
	told := map[string]string{zone: "Cannot load time zone No/Such/Zone", kind: "Unknown data type family: No_Such_Type"}
	found := map[string]int{}
	for _, shape := range []string{
		"?Z", "now(), ?Z", "1, ?Z", "'2020-01-01 00:00:00', ?Z", "now(), 1, ?Z", "1, 1, ?Z", "'2020-01-01 00:00:00', 1, ?Z", "now(), INTERVAL 1 DAY, ?Z", "'day', now(), ?Z",
		"now(), '2020-01-01 00:00:00', ?Z", "'2020-01-01 00:00:00', '2020-01-01 00:00:00', ?Z", "'day', now(), now(), ?Z", "now(), INTERVAL 1 DAY, now(), ?Z",
		"2020, 1, 1, 1, 1, 1, ?Z", "2020, 1, 1, 1, 1, 1, 1, 1, ?Z", "now(), ?Z, 1", "now(), 1, ?Z, 1", "?T", "now(), ?T", "now(), now(), ?T", "now(), ?T, 1",
	} {
		args := strings.NewReplacer("?Z", zone, "?T", kind).Replace(shape)
		what := zone
		if strings.Contains(shape, "?T") {
			what = kind
		}
		for _, name := range names {
			sql := "SELECT " + name[0] + "(" + args + ")"
			_, err := c.Ask(sql, "Null")
			if err == nil || !strings.Contains(err.Error(), told[what]) {
				continue
			}
			found[what]++
			w := b.ask(engine, http.MethodPost, sql, nil)
			if w.Code != http.StatusForbidden && !strings.Contains(w.Body.String(), "There is no time zone") {
				t.Errorf("%s: %d %q", sql, w.Code, w.Body)
			}
		}
	}
	if found[zone] < 180 || found[kind] < 15 {
		t.Errorf("the engine told of %v", found)
	}
}
