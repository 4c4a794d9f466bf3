package clickhouse_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer/erase"
	"github.com/larder-sync/larder/syncer/mapping"
)

func onlinePlan(t *testing.T) *mapping.Plan {
	t.Helper()
	plan, err := mapping.Compile[types.OnlineOrder]("online_orders", sinks.Column{Name: "via", Kind: sinks.Text})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// guest is an order with all that it can tell of a person, whose words are marked.
func guest(id, mark, phone string, minute int) string {
	return fmt.Sprintf(`{"id":%q,"external_id":"e-%[1]s","number":"7","pickup_code":"A1","status":"cancelled","test":false,"type":"delivery","location_id":"l1",
"scheduled_for":null,"placed_at":"2026-03-01T10:00:00Z","answer_by":null,"accepted_at":null,"estimated_ready_at":null,"ready_at":null,"completed_at":null,
"rejected_at":null,"cancelled_at":"2026-03-01T10:05:00Z","rejection":{"code":"other","message":"%[2]s message"},"cancellation":{"by":"customer","reason":"%[2]s reason"},
"customer":{"name":"%[2]s name","phone":%[3]q,"email":"%[2]s@mail"},"delivery":{"address":"%[2]s street","city":"Cluj","notes":"%[2]s door","lat":46.77,"lng":23.59},
"notes":"%[2]s notes","allergies":"%[2]s nuts","cutlery":true,"items":[{"product_id":"p1","variant_id":null,"name":"Ciorbă","variant_name":null,"quantity":2,"unit_price":"10.00",
"options":[],"notes":"%[2]s line","deposit":"0.00","total":"20.00"}],"totals":{"items":"20.00","deposit":"0.00","tip":"0.00","total":"20.00"},
"payment":{"status":"paid","method":"card","reference":"%[2]s reference"},"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:%02[4]d:00Z"}`, id, mark, phone, minute)
}

// onDisk is in how many files below the folders of a warehouse's tables a word stands,
// compressed or not.
func onDisk(t *testing.T, database, word string) (files int) {
	t.Helper()
	folders := answer(t, "SELECT arrayStringConcat(arrayFlatten(groupArray(data_paths)), '\n') FROM system.tables WHERE database = "+sqlText(database+"_raw"))
	for _, folder := range strings.Fields(folders) {
		files += len(enginetest.FilesWith(t, folder, word))
	}
	return files
}

// guests are two of one person, one of another, each stored in several versions, removed,
// in the quarantine and in an example of an unknown field.
func guests(t *testing.T) (*mirror, erase.Orders) {
	m, plan := newMirror(t), onlinePlan(t)
	for minute := range 3 {
		m.store("biz", "online_orders", batchOf(m, plan, []string{
			strings.Replace(guest("o1", "Secretescu", "0722 123 456", minute), `"test":false`, `"test":false,"phone2":"unknown field of o1"`, 1), guest("o2", "Secretescu", "+40722123456", minute), guest("o3", "Popescu", "0733000000", minute),
		}, "polling"))
	}
	m.remove("biz", "online_orders", "o2", "no_access")
	m.commit(&sinks.Commit{
		Source: "src-biz", Business: "biz", Stream: "online_orders",
		Quarantine: []sinks.Quarantined{
			{ID: "o4", Field: "customer.phone", Reason: "want a string: 40722123456", Raw: []byte(guest("o4", "Secretescu", "0040722123456", 1)), Version: 90, FetchedAt: m.at},
			{Field: "id", Reason: "missing", Raw: []byte(strings.Replace(guest("", "Secretescu", "0722123456", 1), `"id":"",`, "", 1)), Version: 91, FetchedAt: m.at},
			{ID: "o5", Field: "totals", Reason: "bad", Raw: []byte(guest("o5", "Popescu", "0733000000", 1)), Version: 92, FetchedAt: m.at},
		},
		Drift: []sinks.Drift{
			{Path: "phone2", Kind: "field", Example: `"Secretescu 0722123456"`, RowID: "o1", SeenAt: m.at},
			{Path: "phone2", Kind: "field", Example: `"Popescu"`, RowID: "o3", SeenAt: m.at},
		},
	})
	return m, erase.Orders{Store: m.Personal(), Table: plan.Table(), Business: "biz", Forgotten: personal.NewForgotten(), Log: slog.New(slog.DiscardHandler)}
}

func durable(context.Context) error { return nil }

func TestOrdersOfAnotherStatus(t *testing.T) {
	notInShort(t)
	m, _ := guests(t)
	for status, want := range map[string]int{"cancelled": 0, "it's": 2} {
		q := sinks.LiveQuery{Table: "online_orders", Business: "biz", NotStatus: []string{"completed", status}}
		if rows, err := m.Live(t.Context(), q); err != nil || len(rows) != want {
			t.Errorf("neither completed nor %s: %+v, %v; want %d", status, rows, err, want)
		}
		for from, want := range map[time.Time]int{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(-20, 0, 0): want, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC): 0} {
			q.CreatedFrom = from
			if rows, err := m.Live(t.Context(), q); err != nil || len(rows) != want {
				t.Errorf("of these from %s on: %+v, %v; want %d", from, rows, err, want)
			}
		}
	}
}

func TestAPersonIsErasedFromEveryFile(t *testing.T) {
	notInShort(t)
	m, o := guests(t)
	if n := onDisk(t, m.database, "Secretescu"); n < 3 {
		t.Fatalf("the name is in %d files: looking for it finds nothing", n)
	}
	began := time.Now()
	erased, err := o.Forget(context.Background(), nil, "0722.123.456", "", durable)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("erased in %v", time.Since(began).Round(time.Millisecond))
	if got := strings.Join(erased.Orders, " "); got != "o1 o2" || erased.Entries != 2 {
		t.Errorf("erased orders %s and %d entries", got, erased.Entries)
	}
	for _, word := range []string{"Secretescu", "722123456", "722 123 456", "unknown field of o1"} {
		if n := onDisk(t, m.database, word); n > 0 {
			t.Errorf("%q is still in %d files", word, n)
		}
	}
	m.expect("SELECT id, customer_name, customer_phone, delivery_city, delivery_lat, notes, `items.notes`, payment_reference, rejection_code, totals_total, status FROM online_orders ORDER BY id",
		`o1|\N|\N|\N|\N|\N|[NULL]|\N|other|20|cancelled`, `o3|Popescu name|0733000000|Cluj|46.77|Popescu notes|['Popescu line']|Popescu reference|other|20|cancelled`)
	m.expect("SELECT path, example FROM schema_drift", `phone2|"Popescu"`)
	m.expect("SELECT count() FROM quarantine WHERE row_id = ''", "0")
	m.expect("SELECT row_id, position(raw, 'Popescu') > 0 FROM quarantine WHERE row_id IN ('o4', 'o5') ORDER BY row_id", "o4|0", "o5|1")
	m.expect("SELECT count() FROM order_events WHERE order_id = 'o1'", "2")
	m.expect("SELECT order_id, chosen_by FROM "+m.database+"_raw.forgotten_orders ORDER BY order_id", "o1|phone", "o2|phone", "o4|phone")
	again := erase.Orders{Store: o.Store, Table: o.Table, Business: "biz", Forgotten: personal.NewForgotten(), Log: slog.New(slog.DiscardHandler)}
	if err := again.Restore(context.Background()); err != nil || !again.Forgotten.Has("o1") || again.Forgotten.Has("o3") {
		t.Errorf("forgotten after a restart: %v, %v", again.Forgotten.All(), err)
	}
	if n := onDisk(t, m.database, "Popescu"); n < 3 {
		t.Errorf("another person is in %d files only", n)
	}
}

func TestAnotherSettingErasesWhatIsStored(t *testing.T) {
	notInShort(t)
	key := []byte("0123456789abcdef")
	pseudonyms, err := personal.New(personal.Pseudonymise, key)
	if err != nil {
		t.Fatal(err)
	}
	m, o := guests(t)
	ctx := context.Background()
	settle := func(p personal.Policy, exceeding, orders, entries int) {
		t.Helper()
		n, err := o.Exceeding(ctx, "src-biz", p)
		if err != nil || n != exceeding {
			t.Errorf("%s: %d orders exceed it, %v", p.Mode(), n, err)
		}
		erased, err := o.Settle(ctx, "src-biz", p, true)
		if err != nil || len(erased.Orders) != orders || erased.Entries != entries {
			t.Errorf("%s: erased %+v, %v", p.Mode(), erased, err)
		}
	}
	settle(pseudonyms, 3, 3, 3)
	for _, word := range []string{"Secretescu", "Popescu", "722123456", "0733000000"} {
		if n := onDisk(t, m.database, word); n > 0 {
			t.Errorf("%q is still in %d files", word, n)
		}
	}
	one, other := pseudonyms.CustomerKey("0722123456"), pseudonyms.CustomerKey("0733000000")
	m.expect("SELECT id, customer_key, customer_name, delivery_city FROM online_orders ORDER BY id", "o1|"+one+`|\N|Cluj`, "o3|"+other+`|\N|Cluj`)
	m.expect("SELECT id, JSONExtractString(_raw, 'customer_key') FROM online_orders ORDER BY id", "o1|"+one, "o3|"+other)
	settle(pseudonyms, 0, 0, 0)
	settle(personal.Policy{}, 3, 3, 2) // one without an id is gone
	for _, word := range []string{one, other, "Cluj"} {
		if n := onDisk(t, m.database, word); n > 0 {
			t.Errorf("%q is still in %d files", word, n)
		}
	}
	settle(personal.Policy{}, 0, 0, 0)
}

// What stands in the JSON alone, where no column is filled, goes too.
func TestWhatStandsInTheJSONAlone(t *testing.T) {
	notInShort(t)
	m, plan := newMirror(t), onlinePlan(t)
	bare := string(personal.Policy{}.Order([]byte(guest("o1", "Secretescu", "0722123456", 0))))
	m.store("biz", "online_orders", batchOf(m, plan, []string{strings.Replace(bare, `"test":false`, `"test":false,"phone2":"0722123456"`, 1)}, "polling"))
	// A tombstone may hold something too, of a row that holds nothing.
	m.store("biz", "online_orders", batchOf(m, plan, []string{strings.Replace(bare, `"o1"`, `"o2"`, 1)}, "polling"))
	m.version++
	m.store("biz", "online_orders", nil, sinks.Tombstone{ID: "o2", Version: m.version, FetchedAt: m.at, Reason: "deleted", Raw: []byte(`{"id":"o2","deleted":true,"phone2":"0722123456"}`)})
	o := erase.Orders{Store: m.Personal(), Table: plan.Table(), Business: "biz", Forgotten: personal.NewForgotten(), Log: slog.New(slog.DiscardHandler)}
	if n := onDisk(t, m.database, "0722123456"); n < 2 {
		t.Fatal("it is not there at first")
	}
	erased, err := o.Forget(t.Context(), []string{"o1", "o2"}, "", "", durable)
	if err != nil || strings.Join(erased.Orders, " ") != "o1 o2" {
		t.Errorf("erased %+v, %v", erased, err)
	}
	m.expect("SELECT JSONExtractRaw(_tombstone_raw, 'id'), JSONExtractRaw(_tombstone_raw, 'phone2') FROM "+m.database+"_raw.online_orders WHERE id = 'o2' AND _deleted = 1", `"o2"|null`)
	if n := onDisk(t, m.database, "0722123456"); n > 0 {
		t.Errorf("it is still in %d files", n)
	}
}

// A mutation that was given up on, and would fail for ever without its table, is ended.
func TestAMutationThatWasGivenUpOn(t *testing.T) {
	notInShort(t)
	m, o := guests(t)
	raw := "`" + m.database + "_raw`."
	conn := enginetest.Conn(t, "default")
	for _, sql := range []string{
		"CREATE TABLE " + raw + "redaction_left (key String, raw String) ENGINE = Join(ANY, LEFT, key)",
		// It fails again and again, as one does whose table is gone.
		"ALTER TABLE " + raw + "online_orders UPDATE _raw = if(throwIf(id != 'none', 'redaction_left') = 0, '', '') WHERE business_id = 'biz' SETTINGS mutations_sync = 0",
	} {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Store.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if erased, err := o.Forget(t.Context(), []string{"o3"}, "", "", durable); err != nil || strings.Join(erased.Orders, " ") != "o3" {
		t.Errorf("erased %+v, %v", erased, err)
	}
}

// What a process that died in the middle has left behind is cleared away at the next start:
// the old parts, the table of what they become, and the settings of the table.
func TestAnErasingThatWasCutShort(t *testing.T) {
	notInShort(t)
	m, o := guests(t)
	raw := "`" + m.database + "_raw`."
	conn := enginetest.Conn(t, "default")
	for _, sql := range []string{
		"CREATE TABLE " + raw + "redaction_left (key String, raw String) ENGINE = Join(ANY, LEFT, key)",
		"ALTER TABLE " + raw + "online_orders MODIFY SETTING old_parts_lifetime = 1, min_rows_to_fsync_after_merge = 1",
		"ALTER TABLE " + raw + "online_orders DELETE WHERE id = 'o3' SETTINGS mutations_sync = 2",
	} {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if n := onDisk(t, m.database, "Popescu name"); n == 0 {
		t.Fatal("the old parts are gone already: this proves nothing")
	}
	if err := o.Store.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, sql := range map[string]string{
		"old parts": "SELECT count() FROM system.parts WHERE NOT active AND table = 'online_orders' AND database = ",
		"tables":    "SELECT count() FROM system.tables WHERE (name LIKE 'redaction%' OR create_table_query LIKE '%old_parts%') AND database = ",
	} {
		if n := answer(t, strings.Replace(sql, "count()", "toString(count())", 1)+sqlText(m.database+"_raw")); n != "0" {
			t.Errorf("%s %s are left", n, what)
		}
	}
}

// A person who is known by a pseudonym only is found by it, and what was begun to be erased
// is erased at the next start.
func TestForgettingByPseudonymAndAfterACrash(t *testing.T) {
	notInShort(t)
	pseudonyms, err := personal.New(personal.Pseudonymise, []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	m, o := guests(t)
	ctx := context.Background()
	if _, err := o.Settle(ctx, "src-biz", pseudonyms, true); err != nil {
		t.Fatal(err)
	}
	// It is noted, and nothing is erased yet.
	if err := o.Store.Forget(ctx, "biz", "order", []string{"o3"}); err != nil {
		t.Fatal(err)
	}
	if err := o.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	if erased, err := o.Settle(ctx, "src-biz", pseudonyms, true); err != nil || strings.Join(erased.Orders, " ") != "o3" {
		t.Errorf("erased %+v, %v", erased, err)
	}
	key := pseudonyms.CustomerKey("0722123456")
	if erased, err := o.Forget(ctx, nil, "0722123456", key, durable); err != nil || strings.Join(erased.Orders, " ") != "o1 o2" {
		t.Errorf("erased %+v, %v", erased, err)
	}
	m.expect("SELECT id, customer_key, delivery_city FROM online_orders ORDER BY id", `o1|\N|\N`, `o3|\N|\N`)
	if n := onDisk(t, m.database, key); n > 0 {
		t.Errorf("the pseudonym is still in %d files", n)
	}
}

// Erasing takes minutes on a large table. Who waits for another one can be stopped.
func TestWaitingForAnErasingEndsWithItsContext(t *testing.T) {
	m := newMirror(t)
	defer clickhouse.HoldErasing(m.Sink)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := m.Personal()
	for name, err := range map[string]error{
		"redact":  p.Redact(ctx, sinks.Redaction{Table: "online_orders", Business: "biz"}),
		"recover": p.Recover(ctx),
	} {
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "another erasing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
