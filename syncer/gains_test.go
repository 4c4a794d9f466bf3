package syncer

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
)

// gains are fields that a service may add: one of every JSON type, those that fit the
// columns of a map, and known names in another case.
var gains = map[string]any{
	"x_null": nil, "x_true": true, "x_false": false, "x_number": json.Number("-1.5e300"), "x_text": "nou", "x_empty": "",
	"x_amount": "0.00", "x_fine": "0.000", "x_list": []any{nil, 7, "a", []any{map[string]any{"id": 1}}},
	"x_object": map[string]any{"id": "i", "data": []any{}, "deleted": true}, "x_none": map[string]any{},
	"x_entry": map[string]any{"enabled": true, "price": "1.00"},
	"ID":      7, "Id": "other", "Date": false, "DELETED": true, "Updated_At": "soon", "Location_Id": "other", "Data": 5, "Has_More": nil,
	"Code": nil, "Business": nil, "Scopes": "none", "Product_ID": 5, "Orders": "many",
}

// menuOfALocation is the address of a menu, which the registry names with {id}.
var menuOfALocation = regexp.MustCompile("^locations/.*/menu$")

// gaining is a service that adds the gains to every object that it answers with, at
// every depth.
type gaining struct {
	box http.Handler

	mu sync.Mutex
	// positions are where, by route: "" is the row, "items.extras" an object in it.
	positions map[string]map[string]bool
	bare      bool // it adds nothing yet
}

func (g *gaining) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding")
	rec := httptest.NewRecorder()
	g.box.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Del("Content-Length")
	body := rec.Body.Bytes()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.bare && rec.Code != http.StatusNotModified {
		body = g.dress(menuOfALocation.ReplaceAllString(strings.TrimPrefix(r.URL.Path, "/v1/"), "locations/{id}/menu"), body)
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

// dress adds the gains to a body of a route.
func (g *gaining) dress(route string, body []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return body
	}
	if g.positions[route] == nil {
		g.positions[route] = map[string]bool{}
	}
	g.add(g.positions[route], "", v)
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON
	}
	return text
}

func (g *gaining) add(at map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			g.add(at, path, e)
		}
	case map[string]any:
		at[path] = true
		for name, e := range v {
			g.add(at, strings.TrimPrefix(path+"."+name, "."), e)
		}
		maps.Copy(v, gains)
	}
}

// rowsOf is the route whose answers are a stream's rows, and where in them those are.
func rowsOf(d *registry.Definition) (route, at string) {
	route = strings.TrimPrefix(d.Path, "/")
	if d.Kind == registry.KeyKind || d.Kind == registry.MenuKind { // the answer is the row
		return route, ""
	}
	return route, "data"
}

// openMaps are the objects with open keys, by stream.
var openMaps = map[string][]string{"products": {"channels"}, "sales_daily": {"payments", "by_type", "by_channel"}}

// expected is what schema_drift must name of a stream, each once.
func (g *gaining) expected(d *registry.Definition) (want []string) {
	if d.Name == registry.Online { // guests' coordinates have more digits than their columns
		want = append(want, sinks.Drift{Kind: "digits", Path: "delivery.lat"}.Key(), sinks.Drift{Kind: "digits", Path: "delivery.lng"}.Key())
	}
	route, rows := rowsOf(d)
	for at := range g.positions[route] {
		at, ok := strings.CutPrefix(at, rows)
		if !ok {
			continue
		}
		at = strings.TrimPrefix(at, ".")
		for name := range gains {
			drift := sinks.Drift{Kind: "field", Path: strings.TrimPrefix(at+"."+name, ".")}
			of, _, inside := strings.Cut(at, ".")
			switch open := slices.Contains(openMaps[d.Name], of); {
			case open && inside:
				drift.Path = of + "." + name // whichever entry it is of
			case open:
				drift = sinks.Drift{Kind: "value", Path: of, Example: `"` + name + `"`}
			}
			want = append(want, drift.Key())
		}
	}
	slices.Sort(want)
	return slices.Compact(want)
}

func inGaining(t *testing.T, opts sandbox.Options, test func(t *testing.T, w *world, g *gaining)) {
	t.Helper()
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		opts.Inspect = apicheck.Inspect(t)
		box, err := sandbox.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		g := &gaining{box: box.Handler(), positions: map[string]map[string]bool{}}
		w := newWorld(t, g)
		w.box, w.handler = box, g.box
		test(t, w, g)
	})
}

// Whatever the service adds, wherever, every row lands, nothing is in quarantine, every
// day is proven, every row verifies, and what was added is named once (docs/rules.md R9).
func TestWhatTheServiceAddsCostsNothing(t *testing.T) {
	inGaining(t, sandbox.Options{Seed: 12, Orders: 600, Days: 20, OnlineOrders: 100}, func(t *testing.T, w *world, g *gaining) {
		w.edit = keepAll
		time.Sleep(10 * time.Hour) // guests order by day
		freeze := w.alive()
		w.run(w.sources()[0])
		w.until("filled", time.Hour, w.filled)
		orders := w.box.Restaurant(0).IDs(sandbox.StreamSalesOrders)
		for _, id := range orders[len(orders)-3:] {
			if err := w.box.Restaurant(0).CancelOrder(id); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Minute)
		freeze()
		w.deep()
		g.landed(w)
		g.named(w)
		for key, v := range w.verdicts() {
			told := v.Subject != sinks.SubjectDaily || strings.Contains(v.Reason, "not compared, being no amount: by_channel/")
			if v.Verdict != sinks.VerdictProven || !told {
				t.Errorf("%s: %+v", key, v)
			}
		}
		w.columnsAreRight()
		report, found := w.verify(Selection{})
		if len(found) > 0 || report.Differences() > 0 {
			t.Errorf("%d differences, %+v", report.Differences(), found[:min(3, len(found))])
		}
		r, err := w.syncer.Reconcile(t.Context(), proof.Request{Heal: true}, nil)
		if s := r.Sources[0]; err != nil || s.Err != nil || len(s.Open) > 0 || s.Proven == 0 {
			t.Errorf("reconcile: %v, %+v", err, s)
		}
	})
}

// keepAll has all of customers kept: of what is not kept of an order, no field is named.
func keepAll(s *Source) {
	policy, err := personal.New(personal.Keep, nil)
	if err != nil {
		panic(err)
	}
	s.Personal = policy
}

// landed compares every list with the bare service.
func (g *gaining) landed(w *world) {
	w.t.Helper()
	key := ""
	for _, k := range w.box.Keys() {
		if k.Business == 0 && k.Role == sandbox.RoleTest {
			key = k.Value
		}
	}
	b := w.box.Restaurant(0).ID()
	if entries := w.store.Entries(); len(entries) > 0 {
		w.t.Errorf("%d rows in quarantine, the first: %s %s: %s", len(entries), entries[0].Stream, entries[0].Field, entries[0].Reason)
	}
	for _, l := range w.lists() {
		want := w.truth(key, l.path, l.query)
		for id, raw := range want {
			want[id] = string(g.dress("truth", []byte(raw)))
		}
		if len(want) == 0 {
			w.t.Errorf("no rows of %s to compare", l.stream)
		}
		w.same("r0", l.stream, want, w.store.Rows(l.stream, b))
	}
	for _, stream := range orderingStreams {
		rows := w.truthOrdering(0, stream, w.kept())
		for id, raw := range rows {
			rows[id] = string(g.dress("truth", []byte(raw)))
		}
		w.same("r0", stream, rows, w.store.Rows(stream, b))
	}
	for _, stream := range []string{"api_keys", "sales_daily", "sales_products"} {
		if n := len(w.store.Rows(stream, b)); n == 0 {
			w.t.Errorf("no rows of %s", stream)
		}
	}
}

// named compares the drift that was reported with what was added.
func (g *gaining) named(w *world) {
	w.t.Helper()
	got := map[string][]string{}
	for _, d := range w.store.Drift() {
		parts := strings.SplitN(d, "\x00", 3) // source, stream, key
		got[parts[1]] = append(got[parts[1]], parts[2])
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range w.syncer.definitions {
		stream := d.Name
		slices.Sort(got[stream])
		want := g.expected(d)
		if diff := cmp.Diff(want, got[stream]); diff != "" || len(want) < len(gains) {
			w.t.Errorf("%s: drift (-want +got)\n%s", stream, diff)
		}
	}
}

// addedFigures are the entries of the daily totals' maps that the sandbox adds.
var addedFigures = regexp.MustCompile(`"(meal_ticket|catering|platform_c)":"(-?[0-9.]+)"`)

// otherFigures is a service that answers something else than amounts under those.
type otherFigures struct {
	box    http.Handler
	figure string
	sold   atomic.Bool // some were not zero
}

func (o *otherFigures) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/sales/daily" {
		o.box.ServeHTTP(w, r)
		return
	}
	r.Header.Del("Accept-Encoding")
	rec := httptest.NewRecorder()
	o.box.ServeHTTP(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(rec.Code)
	for _, m := range addedFigures.FindAllStringSubmatch(rec.Body.String(), -1) {
		if m[2] != "0.00" {
			o.sold.Store(true)
		}
	}
	_, _ = w.Write(addedFigures.ReplaceAll(rec.Body.Bytes(), []byte(`"$1":`+o.figure)))
}

// A service may sell under keys that it adds to the maps of its totals, and answer
// something else than amounts under them: no healing would help, and it is no drift.
func TestOrdersUnderAnAddedKeyWithoutAnAmountAreNoDrift(t *testing.T) {
	for figure, told := range map[string]string{"$2": "payments/meal_ticket is ", "null": "payments/meal_ticket is null", `"${2}0"`: `payments/meal_ticket is "`} {
		t.Run(figure, func(t *testing.T) { provenUnderAddedKeys(t, figure, told) })
	}
}

func provenUnderAddedKeys(t *testing.T, figure, told string) {
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Seed: 12, Orders: 600, Days: 20, Readings: sandbox.Readings{NewMapKeys: true}})
		if err != nil {
			t.Fatal(err)
		}
		service := &otherFigures{box: box.Handler(), figure: figure}
		w := newWorld(t, service)
		w.box = box
		w.run(w.sources()[0])
		w.until("filled", time.Hour, w.filled)
		w.deep()
		asides := 0
		for key, v := range w.verdicts() {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
			if strings.Contains(v.Reason, told) {
				asides++
			}
		}
		if !service.sold.Load() || asides == 0 {
			t.Errorf("sold under them: %t, %d verdicts say what was not compared", service.sold.Load(), asides)
		}
		r, err := w.syncer.Reconcile(t.Context(), proof.Request{Heal: true}, nil)
		if s := r.Sources[0]; err != nil || s.Err != nil || len(s.Open) > 0 || s.Proven == 0 {
			t.Errorf("reconcile: %v, %+v", err, s)
		}
		if report, found := w.verify(Selection{}); len(found) > 0 || report.Differences() > 0 {
			t.Errorf("%d differences, %+v", report.Differences(), found[:min(3, len(found))])
		}
	})
}
