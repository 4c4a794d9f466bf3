package clickhouse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// The hashes of states are stored. Another hash for the same values would make a state of
// every product, ingredient and menu that did not change.
func TestHashesOfStatesStay(t *testing.T) {
	notInShort(t)
	m := newMirror(t)
	put[types.Product](m, "biz", "products", product("12.50", "true", historyDay+"10:00:00Z"))
	put[types.Ingredient](m, "biz", "ingredients", stockRow("s1", "5.000", "10:00:00"))
	m.expect("SELECT _state FROM "+m.database+"_raw.product_history", "5813455093763321164")
	m.expect("SELECT _state FROM "+m.database+"_raw.stock_history", "8789902536203792876")
	putMenus(m, "biz", "a", menuOf("l1", "2026-03-01T10:00:00Z", pizza("p1", "25.00", "true")))
	m.expect("SELECT product_id, _state FROM "+m.database+"_raw.menu_states ORDER BY product_id", "d|16279926821538313493", "p1|15958994705474046612")

	// A version of a menu lists the hashes of its states, which another feed works out.
	views, err := schema.Dialect{Database: m.database}.Views()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(strings.Fields(strings.Join(views.Statements, "; ")), " ")
	_, feed, _ := strings.Cut(all, "`menu_states_feed` MODIFY QUERY ")
	_, feed, _ = strings.Cut(feed, "cityHash64(")
	hash, _, found := strings.Cut(feed, " AS _state")
	_, versions, _ := strings.Cut(all, "`menu_versions_feed` MODIFY QUERY ")
	if !found || !strings.Contains(versions, "groupUniqArrayIf(cityHash64("+hash+",") {
		t.Errorf("menu_versions_feed hashes a state otherwise than menu_states_feed: cityHash64(%s", hash)
	}
}

// A column that is added to what a state shows makes no state, whatever it holds.
func TestANewColumnMakesNoState(t *testing.T) {
	notInShort(t)
	s, database := migratedAnew(t, clickhouse.Options{FlushInterval: time.Millisecond})
	m := &mirror{Sink: s, t: t, database: database, at: clock(t, "10:00:00")}
	conn := enginetest.Conn(t, "default")
	d := schema.Dialect{Database: m.database}
	views, err := d.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ table, history string }{{"products", "product_history"}, {"ingredients", "stock_history"}} {
		put[types.Product](m, "biz", "products", product("12.50", "true", historyDay+"10:00:00Z"))
		put[types.Ingredient](m, "biz", "ingredients", stockRow("s1", "5.000", "10:00:00"))
		feed := ""
		for _, sql := range views.Statements { // with the column, as an edited views/83*_feed.sql has it
			if strings.HasPrefix(sql, "ALTER TABLE "+d.Table(c.history+"_feed")+" MODIFY QUERY") {
				feed = strings.Replace(sql, "business_id, id, ", "business_id, id, spice, ", 1)
			}
		}
		if !strings.Contains(feed, "spice") {
			t.Fatalf("the feed of %s: %q", c.history, feed)
		}
		for _, sql := range []string{
			"ALTER TABLE " + d.Table(c.table) + " ADD COLUMN spice Int64",
			"ALTER TABLE " + d.Table(c.history) + " ADD COLUMN spice Int64",
			feed,
			"INSERT INTO " + d.Table(c.table) + " SELECT * REPLACE (7 AS spice, _version + 1000 AS _version) FROM " + d.Table(c.table),
		} {
			if err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		m.expect("SELECT count() > 1, max(spice) FROM "+d.Table(c.history), "1|7")
		m.expect("SELECT count() FROM "+c.history, "1")
	}
}
