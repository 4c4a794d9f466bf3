package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer/registry"
)

// counted is how many webhooks became so.
func counted(t *testing.T, d *Daemon, result string) int {
	t.Helper()
	families, err := d.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "larder_webhooks_total" && m.GetLabel()[0].GetValue() == result {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return int(n)
}

// What the service sends again after a restart of the daemon changes nothing: no order, no
// transition, not even by what or when it was learned.
func TestAReplayAfterARestart(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 6, Orders: -1, NoLimits: true, OnlineOrders: 100, Now: time.Now}) // as its signatures need
	w.migrated(t)
	w.takesWebhooks(t, "@every 1h")
	d, stop := w.daemon(t, w.app)
	followsOrders(t, d)
	secret, order := w.Key(0, sandbox.RoleMain).WebhookSecret, moved(w.anOrder(t), "o_webhook")
	long := time.Now().UTC().AddDate(0, 0, -3)
	newest := replaceField(order, "updated_at", long.Format(time.RFC3339))
	before := replaceField(replaceField(order, "updated_at", long.Add(-time.Minute).Format(time.RFC3339)), "status", "accepted")
	post := func(d *Daemon) {
		t.Helper()
		for id, order := range map[string]string{"evt_1": before, "evt_2": newest} {
			if code := postEvent(t, d.webhooks.Addr().String(), "/webhooks/r0", secret, event(id, order)); code != http.StatusNoContent {
				t.Errorf("%s: %d", id, code)
			}
		}
	}
	stored := func() string {
		t.Helper()
		return strings.Join(append(w.ask(t, "SELECT * FROM order_events WHERE order_id = 'o_webhook' ORDER BY ALL"),
			w.ask(t, "SELECT * FROM larder_raw.online_orders FINAL WHERE id = 'o_webhook'")...), "\n")
	}
	post(d)
	was := stored()
	if n := strings.Count(was, "\n") + 1; n < 3 || strings.Count(was, "webhook") < n {
		t.Fatalf("stored %q", was)
	}
	stop()
	d, stop = w.daemon(t, w.another(w.app.Config, slog.DiscardHandler))
	defer stop()
	followsOrders(t, d)
	post(d)
	post(d)
	if now := stored(); now != was {
		t.Errorf("after a restart and a replay there is\n%s\nin place of\n%s", now, was)
	}
	for result, want := range map[string]int{"older": 2, "repeated": 2, "stored": 0} { // by what they hold, each time
		if n := counted(t, d, result); n != want {
			t.Errorf("%d counted as %s, want %d", n, result, want)
		}
	}
}

// Lost webhooks cost freshness, never data: with all of them lost, polling brings every order
// as it is, and every transition at its time, those between two polls included.
func TestWithAllWebhooksLostNothingIsMissing(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		t.Fatal(err)
	}
	y, m, day := time.Now().In(zone).AddDate(0, 0, -1).Date()
	noon := time.Date(y, m, day, 12, 0, 0, 0, zone)
	var clock atomic.Int64 // of the service, in microseconds
	clock.Store(noon.UnixMicro())
	o := sandbox.Options{Seed: 8, Orders: -1, NoLimits: true, OnlineOrders: 2000, Epoch: noon, Now: func() time.Time { return time.UnixMicro(clock.Load()) }}
	o.Inspect = apicheck.Inspect(t)
	box, err := sandbox.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := worldOf(t, box, o)
	w.migrated(t)
	w.takesWebhooks(t, "@every 1s")
	d, stop := w.daemon(t, w.app)
	defer stop()
	followsOrders(t, d)
	key, address := w.Key(0, sandbox.RoleMain), d.webhooks.Addr().String()
	if err := w.UpdateKey(key.Value, func(k *sandbox.Key) { k.WebhookURL = "http://" + address + "/webhooks/r0" }); err != nil {
		t.Fatal(err)
	}
	if err := w.AddFault(faults.Fault{Kind: faults.WebhookLost, Probability: 1}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(8, 0))
	for range 6 { // in each, polling has come as far as the restaurant
		for range 4 {
			at := clock.Add((2 * time.Minute).Microseconds())
			w.Tick(time.UnixMicro(at))
			w.moveOrders(t, random, at)
		}
		var want, have []string
		polling.Until(t, "polling has brought every transition", func() bool {
			want, have = w.transitions(t), w.ask(t, "SELECT order_id, status, toUnixTimestamp64Micro(at), via FROM order_events WHERE business_id = '"+key.BusinessID+"' ORDER BY ALL")
			return slices.Equal(want, have) || len(have) > len(want)
		})
		if !slices.Equal(want, have) {
			t.Fatalf("%d transitions, want %d", len(have), len(want))
		}
	}
	w.equalsTruthOf(t, w.mirrored(t), registry.Online, 0)
	lost := 0
	for _, sent := range w.Deliveries() {
		if sent.State == "lost" {
			lost++
		} else {
			t.Errorf("%+v", sent)
		}
	}
	if lost < 100 {
		t.Errorf("%d webhooks were lost: that shows little", lost)
	}
	if n := counted(t, d, "stored") + counted(t, d, "repeated") + counted(t, d, "older"); n > 0 {
		t.Errorf("%d webhooks came in", n)
	}
}

// moveOrders has the restaurant do this and that to what was ordered, now and then twice.
func (w *world) moveOrders(t *testing.T, random *rand.Rand, at int64) {
	t.Helper()
	var ids []string
	if err := w.Truth(w.Key(0, sandbox.RoleMain).Value, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		ids = append(ids, r.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	kinds := ordering.Moves()
	for _, id := range ids {
		for range 6 {
			move := ordering.Move{Kind: kinds[random.IntN(len(kinds))], Ready: at + time.Hour.Microseconds()}
			_, _ = w.OnlineOrders(0).Do(id, move, at) // its status may not allow that
		}
	}
}

// transitions are those of the orders as the service dates them, as polling tells of them.
func (w *world) transitions(t *testing.T) (lines []string) {
	t.Helper()
	err := w.Truth(w.Key(0, sandbox.RoleMain).Value, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		var o types.OnlineOrder
		if err := json.Unmarshal(r.Row, &o); err != nil {
			return err
		}
		for status, stamp := range map[string]*types.Instant{
			"received": o.PlacedAt, "accepted": o.AcceptedAt, "ready": o.ReadyAt, "completed": o.CompletedAt, "rejected": o.RejectedAt, "cancelled": o.CancelledAt,
		} {
			if stamp == nil {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, string(*stamp))
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%s\t%s\t%d\tpolling", o.ID, status, at.UnixMicro()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
