package syncer

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/syncer/status"
)

func TestAPassBesideTheDaemonJoinsItsWalks(t *testing.T) {
	inShort(t)
	inWorld(t, sandbox.Options{Seed: 8, Orders: 10_000}, func(t *testing.T, w *world) {
		w.run()
		time.Sleep(20 * time.Second)
		var calls atomic.Int64
		r, err := w.syncer.RunOnce(t.Context(), Selection{Streams: []string{"sales_orders", "products"}}, func(s status.Status) { calls.Add(1) })
		if err != nil || r.Err() != nil {
			t.Fatalf("%v, %v", err, r.Err())
		}
		if st := w.stream("sales_orders"); st.State != status.StateRunning {
			t.Errorf("after the pass the orders are %s", st.State)
		}
		if calls.Load() < 10 {
			t.Errorf("progress was shown %d times", calls.Load())
		}
		if n := w.box.Stats().DuplicatePages; n != 0 {
			t.Errorf("%d pages were asked for twice", n)
		}
		w.equalLists()
	})
}

func TestAPassCanBeNarrowedAndNamesWhatIsUnknown(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.open(w.one())
		r := w.once(Selection{Sources: []string{"s"}, Streams: []string{"products"}})
		if len(r.Sources) != 1 || len(r.Sources[0].Streams) != 1 {
			t.Errorf("report %+v", r)
		}
		if n := len(f.asked("/categories")); n != 0 {
			t.Errorf("%d requests for a stream that was not selected", n)
		}
		for _, sel := range []Selection{{Sources: []string{"x"}}, {Streams: []string{"x"}}} {
			if _, err := w.syncer.RunOnce(t.Context(), sel, nil); err == nil || !strings.Contains(err.Error(), `"x"`) {
				t.Errorf("%+v: error %v", sel, err)
			}
		}
	})
}

func TestAPassEndsWithItsContext(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 8, Orders: 50_000}, func(t *testing.T, w *world) {
		y := w.open()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := time.Now()
		if _, err := y.RunOnce(ctx, Selection{}, nil); err == nil {
			t.Error("no error")
		}
		if took := time.Since(started); took > time.Minute+time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}

func TestAWarehouseThatIsDownLosesNothing(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 9, Orders: 4000, Pace: 10}, func(t *testing.T, w *world) {
		freeze := w.alive()
		w.run()
		time.Sleep(15 * time.Second)
		w.sink.SetDown(true)
		time.Sleep(20 * time.Minute)
		w.sink.SetDown(false)
		w.until("backfill", 30*time.Minute, w.filled)
		freeze()
		time.Sleep(2 * time.Minute)
		w.equal()
	})
}

func TestMetrics(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.set(cats, category("a", "A", stamp(-time.Hour)), tombstoneOf("b", stamp(-time.Minute)), `{"id":"c"}`)
		gathered := prometheus.NewPedanticRegistry()
		w.sink = memsink.Open(w.store, memsink.Options{})
		y, err := New(Options{Exclusive: true, Sources: []Source{w.one()}, Sink: w.sink, API: api.Options{Transport: w.transport}, Registerer: gathered})
		if err != nil {
			t.Fatal(err)
		}
		w.syncer = y
		w.once(Selection{Streams: []string{"categories"}})
		families, err := gathered.Gather()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				name := family.GetName()
				for _, l := range m.GetLabel() {
					if l.GetName() == "kind" || l.GetName() == "stream" && family.GetName() != "larder_rows_total" {
						name += "," + l.GetValue()
					}
				}
				found[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		for name, want := range map[string]float64{
			"larder_rows_total,upsert": 2, "larder_rows_total,tombstone": 1, "larder_rows_total,quarantined": 1,
			"larder_source_up": 1, "larder_quarantine_rows,categories": 1, "larder_api_rate_limited_total": 0,
			"larder_shard_processes": 1, "larder_shard_sources": 1,
			"larder_stream_watermark_timestamp_seconds,categories": float64(time.Now().Add(-time.Minute).Unix()),
		} {
			if got := found[name]; got != want && !(strings.Contains(name, "watermark") && got > want-10 && got < want+10) {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		if found["larder_api_requests_total"] < 3 || found["larder_stream_lag_seconds,categories"] < 0 {
			t.Errorf("metrics %v", found)
		}
	})
}

func TestTheStatusIsJSONWithoutSecrets(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		f.keys = map[string]bool{}
		w.run(w.one())
		w.until("unauthorized", time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		text, err := json.Marshal(w.syncer.Status())
		if err != nil || strings.Contains(string(text), "svc_live_1") {
			t.Errorf("%s, %v", text, err)
		}
	})
}

func TestConfigurationErrorsAreNamed(t *testing.T) {
	sink := memsink.Open(memsink.NewStore(), memsink.Options{})
	defer func() { _ = sink.Close(context.Background()) }() // memsink's Close returns nil
	good := sourceOf("a", "k")
	bad := good
	bad.Streams = []string{"prod-ucts"}
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Sources: []Source{good}}, "sink"},
		{Options{Sink: sink, Sources: []Source{good, good}}, "unique"},
		{Options{Sink: sink, Sources: []Source{bad}}, "prod-ucts"},
		{Options{Sink: sink, Sources: []Source{good}, Schedule: Schedule{Incremental: "soon"}}, "schedule.incremental"},
		{Options{Sink: sink, Sources: []Source{{Name: "a", BaseURL: "ftp://x", Key: good.Key}}}, "base URL"},
	} {
		if _, err := New(c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one about %s", err, c.want)
		}
	}
}
