package syncer

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// logged is a log that tests read while it is written.
type logged struct{ polling.Text }

// take returns the lines so far and forgets them.
func (l *logged) take() (lines []string) {
	for line := range strings.Lines(l.Take()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// into has the log of a world written into l, as people have it.
func (w *world) into(l *logged) {
	w.tune = func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(l, nil)) }
}

func loud(lines []string) (warnings []string) {
	for _, l := range lines {
		if strings.Contains(l, "level=WARN") || strings.Contains(l, "level=ERROR") {
			warnings = append(warnings, l)
		}
	}
	return warnings
}

func TestAnOutageOfAServiceIsOneWarningAndOneEnd(t *testing.T) {
	// Also within seconds of a good answer of /me, which says nothing of what came after.
	for _, early := range []time.Duration{0, time.Second, 5 * time.Second, 9 * time.Second, 2 * time.Hour} {
		inWorld(t, sandbox.Options{Seed: 3, Orders: 50, Days: 5}, func(t *testing.T, w *world) {
			var log logged
			w.into(&log)
			w.run()
			w.until("filled", time.Hour, w.filled)
			s := w.syncer.served()[0]
			w.until("an answer of /me that is not recent", time.Hour, func() bool { return !s.link.IsRecent() })
			w.until("an answer of /me", time.Hour, s.link.IsRecent)
			time.Sleep(early)
			log.take()
			if err := w.box.AddFault(faults.Fault{Kind: faults.Reset, Probability: 1}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Hour)
			lines := log.take()
			if warnings := loud(lines); len(lines) != 1 || len(warnings) != 1 {
				t.Errorf("%s: three hours without an answer are %d lines:\n%s", early, len(lines), strings.Join(lines, "\n"))
			}
			w.box.ClearFaults()
			w.until("served", time.Hour, func() bool { return w.source().State == status.StateRunning })
			time.Sleep(time.Minute)
			lines = log.take()
			var ends int
			for _, l := range lines {
				if strings.Contains(l, "source is served again") && strings.Contains(l, "lasted=3h") {
					ends++
				}
			}
			if ends != 1 || len(lines) != 1 {
				t.Errorf("%s: its end is told by:\n%s", early, strings.Join(lines, "\n"))
			}
		})
	}
}

func TestARefusedKeyIsOneWarning(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		var log logged
		w.into(&log)
		f.keys = map[string]bool{"right": true}
		w.run(w.one())
		time.Sleep(6 * time.Hour)
		if lines := log.take(); len(lines) != 1 || len(loud(lines)) != 1 || !strings.Contains(lines[0], "refuses the key") {
			t.Errorf("a key that was never good:\n%s", strings.Join(lines, "\n"))
		}
	})
}

func TestAStreamThatFailsByItselfIsOneWarningAndOneEnd(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 50, Days: 5}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.run()
		w.until("filled", time.Hour, w.filled)
		time.Sleep(time.Hour)
		log.take()
		if err := w.box.AddFault(faults.Fault{Kind: faults.ServerError, Route: "/products", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		lines := log.take()
		if len(lines) != 1 || len(loud(lines)) != 1 || !strings.Contains(lines[0], "stream=products") {
			t.Errorf("two hours of one failing list are:\n%s", strings.Join(lines, "\n"))
		}
		w.box.ClearFaults()
		time.Sleep(10 * time.Minute)
		lines = log.take()
		if len(lines) != 1 || !strings.Contains(lines[0], "go well again") || !strings.Contains(lines[0], "lasted=1h59m") {
			t.Errorf("its end is told by:\n%s", strings.Join(lines, "\n"))
		}
	})
}

func TestAWarehouseThatIsAwayIsLeftToTheSinkToTell(t *testing.T) {
	for _, shared := range []string{"", "p1"} {
		inWorld(t, sandbox.Options{Seed: 3, Orders: 50, Days: 5}, func(t *testing.T, w *world) {
			var log logged
			w.process = shared
			w.into(&log)
			w.run()
			w.until("filled", time.Hour, w.filled)
			time.Sleep(time.Hour)
			log.take()
			w.sink.SetDown(true)
			time.Sleep(2 * time.Hour)
			if warnings := loud(log.take()); len(warnings) > 0 {
				t.Errorf("process %q: the syncer says as well:\n%s", shared, strings.Join(warnings, "\n"))
			}
			w.sink.SetDown(false)
			time.Sleep(10 * time.Minute)
			if warnings := loud(log.take()); len(warnings) > 0 {
				t.Errorf("process %q, at the end:\n%s", shared, strings.Join(warnings, "\n"))
			}
		})
	}
}

// slowing is a service that takes a while for each answer, and whose clock is put back
// again and again.
type slowing struct {
	box   http.Handler
	asked atomic.Int64
}

const answerTime = 200 * time.Millisecond

func (s *slowing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(answerTime)
	s.box.ServeHTTP(slowClock{w, time.Duration(s.asked.Add(1)) * 3 * answerTime}, r)
}

type slowClock struct {
	http.ResponseWriter
	behind time.Duration
}

func (c slowClock) WriteHeader(status int) {
	c.Header().Set("Date", time.Now().Add(-c.behind).UTC().Format(http.TimeFormat))
	c.ResponseWriter.WriteHeader(status)
}

func (c slowClock) Write(b []byte) (int, error) {
	c.Header().Set("Date", time.Now().Add(-c.behind).UTC().Format(http.TimeFormat))
	return c.ResponseWriter.Write(b)
}

// tookOf reads how long a line says that a walk took.
func tookOf(t *testing.T, line string) time.Duration {
	t.Helper()
	_, text, _ := strings.Cut(line, " took=")
	text, _, _ = strings.Cut(text, " ")
	took, err := time.ParseDuration(text)
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	return took
}

// A walk takes as long as it takes, whatever the service's clock says of it, and also
// when another process began it.
func TestALongWalkTakesNoNegativeTime(t *testing.T) {
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 3, Orders: 1500, Days: 5})
		if err != nil {
			t.Fatal(err)
		}
		service := &slowing{box: box.Handler()}
		w := newWorld(t, service)
		w.box = box
		var log logged
		w.into(&log)
		started := time.Now()
		w.run()
		w.until("a page of the orders", time.Hour, func() bool {
			p := w.stream(registry.Orders).Progress
			return p != nil && p.Pages > 1
		})
		w.crash(0)
		w.run()
		w.until("filled", time.Hour, w.filled)
		most := time.Since(started) + time.Second // of what another process began, the stamps are to the second
		ended := func(what string, requests time.Duration) (n int) {
			for _, l := range log.take() {
				if !strings.Contains(l, what) {
					continue
				}
				n++
				took, least := tookOf(t, l), time.Duration(0)
				if strings.Contains(l, "stream=sales_orders ") {
					least = requests * answerTime
				}
				if took < least || took > most {
					t.Errorf("%s, of %s to %s", l, least, most)
				}
			}
			return n
		}
		if n := ended("backfill done", 0); n != 7 {
			t.Errorf("%d backfills ended", n)
		}
		began := time.Now()
		w.tryOnce(Selection{Full: true})
		most = time.Since(began) + time.Millisecond // they are told in milliseconds
		if n := ended("full resync done", 8); n != 7 {
			t.Errorf("%d full resyncs ended", n)
		}
	})
}

func TestTheEndOfALongWalkIsALine(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 500, Days: 5}, func(t *testing.T, w *world) {
		var log logged
		w.into(&log)
		w.run()
		w.until("filled", time.Hour, w.filled)
		time.Sleep(time.Minute)
		done := map[string]int{}
		for _, l := range log.take() {
			if strings.Contains(l, `msg="backfill done"`) {
				done[l[strings.Index(l, "stream="):strings.Index(l, " rows=")]]++
				if !strings.Contains(l, " requests=") && !strings.Contains(l, " pages=") || !strings.Contains(l, " took=") {
					t.Errorf("%s", l)
				}
				if strings.Contains(l, "stream=sales_orders ") && (!strings.Contains(l, " rows=443 tombstones=5 ") || !strings.HasSuffix(strings.TrimSpace(l), " pages=3 at_least=false")) {
					t.Errorf("%s", l)
				}
			}
		}
		if len(done) != 7 || done["stream=sales_orders"] != 1 || done["stream=sales_daily"] != 1 {
			t.Errorf("%v", done)
		}
		w.tryOnce(Selection{Full: true})
		done = map[string]int{}
		for _, l := range log.take() {
			if strings.Contains(l, `msg="full resync done"`) && strings.Contains(l, " took=") {
				done[l[strings.Index(l, "stream="):strings.Index(l, " rows=")]]++
			}
		}
		if len(done) != 7 || done["stream=products"] != 1 || done["stream=sales_daily"] != 1 {
			t.Errorf("%v", done)
		}
	})
}

// series are the counters of a registry, with their labels.
func series(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			if m.GetCounter() != nil {
				all[name] = m.GetCounter().GetValue()
			}
			if m.GetHistogram() != nil {
				all[name] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return all
}

func TestCountersAreThereFromTheStart(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 3, Orders: 50, Days: 5}, func(t *testing.T, w *world) {
		gathered := prometheus.NewRegistry()
		w.tune = func(o *Options) { o.Registerer, o.MetricsDetail = gathered, true }
		w.run() // no time passes, and nothing has been asked
		before := series(t, gathered)
		for _, want := range []string{
			"larder_api_rate_limited_total source=r0", "larder_api_requests_total code=429 route=GET /products source=r0",
			"larder_api_requests_total code=401 route=GET /me source=r0", "larder_rows_total kind=quarantined source=r0 stream=products",
			"larder_walk_seconds result=error stream=sales_orders walk=full",
		} {
			if v, ok := before[want]; !ok || v != 0 {
				t.Errorf("%s is not there, or %v", want, v)
			}
		}
		w.until("filled", time.Hour, w.filled)
		time.Sleep(26 * time.Hour)
		if err := w.box.AddFault(faults.Fault{Kind: faults.RateLimited, RetryAfter: 5, Count: 3}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		w.tryOnce(Selection{Full: true})
		after := series(t, gathered)
		if after["larder_api_rate_limited_total source=r0"] != 3 {
			t.Errorf("%v answers 429 are counted", after["larder_api_rate_limited_total source=r0"])
		}
		for name := range after {
			if _, ok := before[name]; !ok {
				t.Errorf("%s was not there from the start", name)
			}
		}
	})
}

// slowStart is a warehouse that takes its time to say what is stored.
type slowStart struct {
	sinks.Sink
	answer chan struct{}
}

func (s slowStart) MaxVersion(ctx context.Context) (uint64, error) {
	select {
	case <-s.answer:
		return s.Sink.MaxVersion(ctx)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Whoever waits behind another pass that begins on a slow warehouse can be stopped.
func TestWaitingForAStartEndsWithItsContext(t *testing.T) {
	inFake(t, func(t *testing.T, _ *fake, w *world) {
		slow := slowStart{answer: make(chan struct{})}
		w.tune = func(o *Options) {
			slow.Sink = o.Sink
			o.Sink = slow
		}
		y := w.open(w.one())
		first := make(chan error, 1)
		go func() {
			_, err := y.RunOnce(t.Context(), Selection{Streams: []string{"allergens"}}, nil)
			first <- err
		}()
		time.Sleep(time.Second)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := y.RunOnce(short, Selection{Streams: []string{"allergens"}}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second: %v", err)
		}
		close(slow.answer)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
