package syncer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// TestADayThatCannotBeComparedAfterItsFetchIsNoSuccess: five of them end the fetching, they owe a full
// resync, and the deep run is repeated.
func TestADayThatCannotBeComparedAfterItsFetchIsNoSuccess(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 46, Orders: 900, Days: 20}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		for n := 3; n <= 11; n++ {
			id := w.liveOrders(business, daysAgo(n))[0]
			w.store.EditColumn(registry.Orders, business, id, "items.total", sameEach(len(readSold(w.store.Row(registry.Orders, business, id).Raw).Items), "0.01"))
		}
		var until atomic.Pointer[time.Time]
		var walks atomic.Int32
		refuse.set(func(r *http.Request) bool {
			if q := r.URL.Query(); orderWalk(r, "") && q.Get("from") == q.Get("to") && q.Get("cursor") == "" {
				end := time.Now().Add(20 * time.Minute)
				until.CompareAndSwap(nil, &end)
				if time.Now().Before(*until.Load()) {
					walks.Add(1)
				}
			}
			return strings.HasSuffix(r.URL.Path, "/sales/products") && until.Load() != nil && time.Now().Before(*until.Load())
		})
		w.deep()
		w.until("a full resync", 2*time.Hour, func() bool { return w.resyncs() == 1 })
		time.Sleep(time.Hour)
		if n := walks.Load(); n == 0 || n > 5 {
			t.Errorf("%d days were fetched", n)
		}
		healed := 0
		for key, v := range w.verdicts() {
			switch v.Verdict {
			case sinks.VerdictHealed:
				healed++
			case sinks.VerdictProven:
			default:
				t.Errorf("%s: %+v", key, v)
			}
		}
		if healed != 9 || w.resyncs() != 1 || w.wrongOrders() > 0 {
			t.Errorf("%d days healed, %d full resyncs", healed, w.resyncs())
		}
	})
}

// TestDaysThatAreAboutToBeExplainedAreNoFailures: more than five of them owe no full resync.
func TestDaysThatAreAboutToBeExplainedAreNoFailures(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 800, Days: 20, Readings: sandbox.Readings{RemovedRefunds: true}}, func(t *testing.T, w *world) {
		days := map[string]string{}
		for n := range 9 {
			id, day := w.refunded(20+n, 3+n)
			days[day] = id
		}
		w.proven()
		for _, id := range days {
			if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
				t.Fatal(err)
			}
		}
		w.deep()
		time.Sleep(time.Hour)
		for day := range days {
			if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictExplained {
				t.Errorf("%+v", v)
			}
		}
		if n := w.resyncs(); n != 0 {
			t.Errorf("%d full resyncs", n)
		}
	})
}

// splicing adds a row to the answers for yesterday and today of a route of totals.
type splicing struct {
	route, day string
	row        json.RawMessage
}

func (s *splicing) into(body []byte) []byte {
	var answer map[string]json.RawMessage
	var rows []json.RawMessage
	if json.Unmarshal(body, &answer) != nil || json.Unmarshal(answer["data"], &rows) != nil {
		return body
	}
	answer["data"], _ = json.Marshal(append(rows, s.row))
	body, _ = json.Marshal(answer)
	return body
}

// TestARowOfADayThatWasNotAskedForChangesNothing of that day, and the next proper answer is stored.
func TestARowOfADayThatWasNotAskedForChangesNothing(t *testing.T) {
	for _, stream := range []string{registry.Daily, "sales_products"} {
		notInShort(t)
		synctest.Test(t, func(t *testing.T) {
			box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 46, Orders: 900, Days: 20})
			if err != nil {
				t.Fatal(err)
			}
			route := map[string]string{registry.Daily: "/sales/daily", "sales_products": "/sales/products"}[stream]
			var fault atomic.Pointer[splicing]
			w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				s, q := fault.Load(), r.URL.Query()
				if s == nil || !strings.HasSuffix(r.URL.Path, route) || q.Get("from") != string(schedule.DayOf(time.Now().AddDate(0, 0, -1))) || q.Get("location_id") != "" {
					box.Handler().ServeHTTP(rw, r)
					return
				}
				r.Header.Del("Accept-Encoding")
				kept := httptest.NewRecorder()
				box.Handler().ServeHTTP(kept, r)
				for name, values := range kept.Header() {
					if name != "Content-Length" {
						rw.Header()[name] = values
					}
				}
				rw.WriteHeader(kept.Code)
				_, _ = rw.Write(s.into(kept.Body.Bytes()))
			}))
			w.box = box
			business := w.proven()
			day := daysAgo(5)
			if err := box.Restaurant(0).CancelOrder(w.liveOrders(business, day)[0]); err != nil {
				t.Fatal(err)
			}
			fault.Store(&splicing{route, day, w.reportOf(route, day)[0]})
			before := liveOn(w.store.Rows(stream, business), day)
			w.until("the row is in quarantine", time.Hour, func() bool { return len(w.openRaws(stream)) > 0 })
			if after := liveOn(w.store.Rows(stream, business), day); after != before {
				t.Errorf("%s: %d rows of the day were %d", stream, after, before)
			}
			fault.Store(nil)
			w.deep()
			want, got := w.reportOf(route, day), w.store.Rows(stream, business)
			for _, raw := range want {
				found := false
				for _, r := range got {
					found = found || !r.Deleted && r.Raw == string(raw)
				}
				if !found {
					t.Errorf("%s: %s is not stored", stream, raw)
				}
			}
			if n := liveOn(got, day); n < len(want) {
				t.Errorf("%s: %d rows of %d", stream, n, len(want))
			}
			if _, err := w.full(Selection{Streams: []string{stream}}); err != nil || len(w.openRaws(stream)) > 0 {
				t.Errorf("%s: after a full resync %q are in quarantine: %v", stream, w.openRaws(stream), err)
			}
		})
	}
}

func liveOn(rows map[string]memsink.Row, day string) (n int) {
	for id, r := range rows {
		if !r.Deleted && strings.HasPrefix(id, day) {
			n++
		}
	}
	return n
}

// reportOf is what the service reports of a day, past the source's limits.
func (w *world) reportOf(route, day string) []json.RawMessage {
	w.t.Helper()
	for _, k := range w.box.Keys() {
		if k.BusinessID == w.box.Restaurant(0).ID() && k.Role == sandbox.RoleTest {
			var answer struct{ Data []json.RawMessage }
			w.ask(k.Value, route+"?group_by=day&from="+day+"&to="+day, &answer)
			return answer.Data
		}
	}
	w.t.Fatal("no key")
	return nil
}

// TestAWalkOfADayThatDoesNotEndIsCutOff: the day owes a full resync as any other that could not be
// fetched.
func TestAWalkOfADayThatDoesNotEndIsCutOff(t *testing.T) {
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 45, Orders: 300, Days: 10})
		if err != nil {
			t.Fatal(err)
		}
		var pages atomic.Int32
		w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query(); orderWalk(r, "") && q.Get("from") == q.Get("to") {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(rw, `{"data":[],"has_more":true,"next_cursor":"page%d"}`, pages.Add(1))
				return
			}
			box.Handler().ServeHTTP(rw, r)
		}))
		w.box = box
		business := w.proven()
		day := daysAgo(3)
		w.tipped(business, day, "900.00", false)
		w.deep()
		w.until("the day is healed", 3*time.Hour, func() bool { return w.verdicts()["daily "+day].Verdict == sinks.VerdictHealed })
		if n := pages.Load(); n < 1000 || n > 2000 || w.resyncs() != 1 {
			t.Errorf("%d pages, %d full resyncs", n, w.resyncs())
		}
	})
}

// asksForOneDay is a question for the totals of a single day.
func asksForOneDay(r *http.Request) bool {
	q := r.URL.Query()
	return strings.HasSuffix(r.URL.Path, "/sales/daily") && q.Get("from") == q.Get("to")
}

// TestADayThatCannotBeLookedAtAgainIsLeftToTheNextNight, and repeats no deep run before.
func TestADayThatCannotBeLookedAtAgainIsLeftToTheNextNight(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 45, Orders: 300, Days: 10, Record: true}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		day := daysAgo(3)
		w.tipped(business, day, "900.00", false)
		refuse.set(asksForOneDay)
		w.deep()
		before := len(w.box.Requests())
		time.Sleep(20 * time.Hour)
		if n := left(w.box.Requests()[before:], "/sales/daily"); n > 0 {
			t.Errorf("%d questions of deep runs in 20 hours", n)
		}
		refuse.set(func(*http.Request) bool { return false })
		w.deep()
		if v := w.verdicts()["daily "+day]; v.Verdict != sinks.VerdictHealed {
			t.Errorf("%+v", v)
		}
	})
}

// TestWhatWasComparedBeforeAQuestionIsRefusedIsKept: of a day whose orders were fetched, one
// location cannot be asked for after that.
func TestWhatWasComparedBeforeAQuestionIsRefusedIsKept(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 46, Orders: 900, Days: 20}, func(t *testing.T, w *world, refuse *refusing) {
		business := w.proven()
		day := daysAgo(3)
		location := readSold(w.store.Row(registry.Orders, business, w.tipped(business, day, "900.00", true)).Raw).Location
		var fetched atomic.Bool
		refuse.set(func(r *http.Request) bool {
			q := r.URL.Query()
			fetched.Store(fetched.Load() || orderWalk(r, day))
			full := strings.HasSuffix(r.URL.Path, "/sales/orders") && q.Get("updated_since") != "" && q.Get("updated_since") < "1990"
			return full || fetched.Load() && strings.HasSuffix(r.URL.Path, "/sales/daily") && q.Get("location_id") == location
		})
		w.deep()
		for at, want := range map[string]string{day: "fetching its orders anew did not help", day + "/" + location: "its orders could not be fetched"} {
			if v := w.verdicts()["daily "+at]; v.Verdict != sinks.VerdictDrift || !strings.HasPrefix(v.Reason, want) {
				t.Errorf("%s: %+v", at, v)
			}
		}
	})
}
