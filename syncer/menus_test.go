package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/verify"
)

// menuService answers for the menus of a fake's locations.
type menuService struct {
	mu    sync.Mutex
	menus map[string]served // by location
	sent  map[string][]string
	off   bool
}

// served is a menu as it is answered with; a status answers with that alone.
type served struct {
	etag, body string
	status     int
	lies       bool // 304 to every ETag, and 304 without one when stubborn
	stubborn   bool
}

// menu is the menu of a location with one dish.
func menu(location, price string) string {
	return fmt.Sprintf(`{"location_id":%q,"currency":"RON","updated_at":"2026-01-01T08:00:00Z","categories":[{"id":"c1","name":"Supe","image_url":null,"position":1,"products":[`+
		`{"id":"p1","name":"Ciorbă","description":null,"image_url":null,"price":%q,"vat_rate":11,"available":true,"allergens":[],"diets":[],"calories":0,`+
		`"prep_minutes":null,"deposit":null,"variants":[{"id":"v_1","name":"mare","price":%[2]q}],"extra_groups":[{"id":"g_1","name":"Lângă","min":0,"max":null,`+
		`"required":false,"options":[{"id":"x_1","name":"Ardei","price":"1.00"}]}],"position":1}]}]}`, location, price)
}

func (m *menuService) set(location string, s served) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.menus[location] = s
}

// asked are the ETags that were sent for a location since the last call.
func (m *menuService) asked(location string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	sent := m.sent[location]
	m.sent[location] = nil
	return sent
}

func (m *menuService) answer(location string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		etag := r.Header.Get("If-None-Match")
		m.sent[location] = append(m.sent[location], etag)
		s, there := m.menus[location]
		if m.off {
			fakeError(w, 403, "api_disabled")
			return true
		}
		if s.etag != "" {
			w.Header().Set("ETag", s.etag)
		}
		switch {
		case !there:
			fakeError(w, 404, "not_found")
		case s.status != 0:
			fakeError(w, s.status, "server_error")
		case s.stubborn, etag != "" && (etag == s.etag || s.lies):
			w.WriteHeader(http.StatusNotModified)
		default:
			fmt.Fprint(w, s.body)
		}
		return true
	}
}

// meOf is /me of a key with orders:write that has locations.
func meOf(locations ...string) string {
	text := strings.Replace(fakeMe, `"stock:read"`, `"stock:read","orders:write"`, 1)
	return strings.Replace(text, `["l1"]`, `["`+strings.Join(locations, `","`)+`"]`, 1)
}

// inMenus runs a test against a fake whose locations l1 and l2 have menus.
func inMenus(t *testing.T, test func(t *testing.T, f *fake, w *world, m *menuService)) {
	t.Helper()
	inFake(t, func(t *testing.T, f *fake, w *world) {
		m := &menuService{menus: map[string]served{}, sent: map[string][]string{}}
		for _, l := range []string{"l1", "l2"} {
			m.menus[l] = served{etag: `"` + l + `-1"`, body: menu(l, "10.00")}
			f.on("/locations/"+l+"/menu", m.answer(l))
		}
		f.me = meOf("l1", "l2")
		test(t, f, w, m)
	})
}

func (w *world) haveMenus(n int) func() bool {
	return func() bool {
		return len(w.store.Rows("menus", "b1")) == n && w.stream("menus").State == status.StateRunning
	}
}

// menuColumns are the typed columns of a stored menu.
func (w *world) menuColumns(location string) map[string]json.RawMessage {
	w.t.Helper()
	rows, err := w.sink.Rows(w.t.Context(), "menus", "b1", []string{location})
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("rows %+v, %v", rows, err)
	}
	return rows[0].Columns
}

// An unchanged menu costs a 304 and writes nothing, not more often than schedule.snapshots;
// one that changes is written alone.
func TestAnUnchangedMenuWritesNothing(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		if sent := m.asked("l1"); !slices.Equal(sent, []string{""}) {
			t.Errorf("first asked with %q", sent)
		}
		if c := w.menuColumns("l1"); string(c["etag"]) != `"\"l1-1\""` || string(c["categories.products_variants_price"]) != `[[["10.00"]]]` {
			t.Errorf("columns %s, %s", c["etag"], c["categories.products_variants_price"])
		}
		m.asked("l2")
		time.Sleep(time.Minute) // its state is stored, too
		wrote := 0
		w.store.Watch(func(c *sinks.Commit, _ bool) {
			if c.Stream == "menus" {
				wrote++
			}
		})
		time.Sleep(time.Hour)
		for _, l := range []string{"l1", "l2"} {
			sent := m.asked(l)
			if len(sent) < 11 || len(sent) > 13 || slices.ContainsFunc(sent, func(s string) bool { return s != `"`+l+`-1"` }) {
				t.Errorf("%s: asked %d times in an hour of @every 5m, with %q", l, len(sent), slices.Compact(sent))
			}
		}
		if wrote > 0 {
			t.Errorf("%d commits for menus that are the same", wrote)
		}
		before := w.store.Row("menus", "b1", "l2").Version
		m.set("l1", served{etag: `"l1-2"`, body: menu("l1", "11.00")})
		w.until("changed", 6*time.Minute, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "11.00") })
		if wrote == 0 || w.store.Row("menus", "b1", "l2").Version != before {
			t.Errorf("%d commits; the menu that is the same was written again", wrote)
		}
	})
}

// After a restart, and after kill -9, the ETag that is stored is sent.
func TestTheStoredETagIsSentAfterARestart(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		for _, end := range []func(){w.halt, func() { w.crash(0) }} {
			version := w.store.Row("menus", "b1", "l1").Version
			end()
			m.asked("l1")
			w.run(w.one())
			w.until("running", 2*time.Minute, w.haveMenus(2))
			if sent := m.asked("l1"); !slices.Equal(sent, []string{`"l1-1"`}) || w.store.Row("menus", "b1", "l1").Version != version {
				t.Errorf("asked with %q, version %d and then %d", sent, version, w.store.Row("menus", "b1", "l1").Version)
			}
		}
	})
}

// A kill -9 before the versions are durable costs another answer, and loses no menu.
func TestAMenuWhoseVersionWasNotDurableIsAskedForAgain(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.flush = 10 * time.Second
		w.run(w.one())
		w.until("asked", time.Minute, func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.sent["l1"]) > 0 })
		w.crash(100) // the rows survive, their checkpoint does not
		m.asked("l1")
		w.run(w.one())
		w.until("stored", 2*time.Minute, w.haveMenus(2))
		if sent := m.asked("l1"); !slices.Equal(sent, []string{""}) {
			t.Errorf("asked with %q", sent)
		}
	})
}

// A kill -9 that leaves a new row and the versions before it hides no menu that goes back
// to what those versions speak of.
func TestAMenuThatGoesBackAfterItsVersionWasLost(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.flush = 10 * time.Second
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		time.Sleep(time.Minute) // the versions are durable, too
		m.asked("l1")
		m.set("l1", served{etag: `"l1-2"`, body: menu("l1", "12.00")})
		w.until("asked", time.Hour, func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.sent["l1"]) > 0 })
		w.crash(100) // the row survives, its checkpoint does not
		if w.store.Row("menus", "b1", "l1").Raw != menu("l1", "12.00") {
			t.Fatal("the row did not survive: this shows nothing")
		}
		m.set("l1", served{etag: `"l1-1"`, body: menu("l1", "10.00")})
		w.run(w.one())
		w.until("gone back", 2*time.Minute, func() bool { return w.store.Row("menus", "b1", "l1").Raw == menu("l1", "10.00") })
		w.halt()
		m.asked("l1")
		w.run(w.one())
		w.until("running", 2*time.Minute, w.haveMenus(2))
		if sent := m.asked("l1"); !slices.Equal(sent, []string{`"l1-1"`}) {
			t.Errorf("after the next start asked with %q", sent)
		}
	})
}

// The ETag is what the service says of the menu, the digest what it is.
func TestETagsAndMenusThatDisagree(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		version := func() uint64 { return w.store.Row("menus", "b1", "l1").Version }
		was := version()

		m.set("l1", served{etag: `"other"`, body: menu("l1", "10.00")})
		m.asked("l1")
		time.Sleep(11 * time.Minute)
		if sent := m.asked("l1"); len(sent) < 2 || sent[0] != `"l1-1"` || sent[len(sent)-1] != `"other"` || version() != was {
			t.Errorf("another ETag of the same menu: asked with %q, version %d, was %d", sent, version(), was)
		}

		m.set("l1", served{body: menu("l1", "10.00")})
		time.Sleep(11 * time.Minute)
		if sent := m.asked("l1"); len(sent) < 2 || sent[len(sent)-1] != "" || version() != was {
			t.Errorf("no ETag any more: asked with %q, version %d, was %d", sent, version(), was)
		}
		m.set("l1", served{body: menu("l1", "12.00")})
		w.until("another menu without an ETag", 6*time.Minute, func() bool { return version() != was })
		if c := w.menuColumns("l1"); string(c["etag"]) != "null" {
			t.Errorf("etag is %s", c["etag"])
		}

		m.set("l1", served{etag: `"fixed"`, body: menu("l1", "13.00")})
		w.until("an ETag again", 6*time.Minute, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "13.00") })
		m.set("l1", served{etag: `"fixed"`, body: menu("l1", "14.00"), lies: true})
		time.Sleep(11 * time.Minute)
		if !strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "13.00") {
			t.Fatal("a menu came with a 304")
		}
		_, found := w.verify(Selection{Streams: []string{"menus"}})
		if !slices.ContainsFunc(found, func(f verify.Finding) bool { return f.ID == "l1" && strings.Contains(f.Hint, "larder sync --full") }) {
			t.Errorf("a menu under the ETag of another: verify finds %+v", found)
		}
		w.once(Selection{Full: true})
		if _, found = w.verify(Selection{Streams: []string{"menus"}}); len(found) > 0 {
			t.Errorf("after a full resync verify finds %+v", found)
		}
	})
}

// A 304 that names another version than the one that was sent proves nothing about that.
func TestA304OfAnotherVersionIsAskedAboutAgain(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		m.set("l1", served{etag: `"l1-2"`, body: menu("l1", "15.00"), lies: true})
		w.until("asked for whole", 11*time.Minute, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "15.00") })
		m.set("l1", served{etag: `W/"l1-2"`, body: menu("l1", "15.00"), lies: true})
		m.asked("l1")
		time.Sleep(11 * time.Minute)
		if sent := m.asked("l1"); slices.Contains(sent, "") {
			t.Errorf("a weak ETag of the same version: asked with %q", sent)
		}
	})
}

func TestA304WithoutAnETagFailsTheWalkOfThatMenuOnly(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		m.set("l1", served{stubborn: true})
		w.run(w.one())
		w.until("failing", time.Minute, func() bool { return w.stream("menus").State == status.StateFailing })
		w.until("the other is stored", time.Minute, func() bool { return len(w.store.Rows("menus", "b1")) == 1 })
		if text := w.stream("menus").LastError; !strings.Contains(text, "location l1") || !strings.Contains(text, "was not asked whether") {
			t.Errorf("last error %q", text)
		}
		m.set("l1", served{etag: `"l1-1"`, body: menu("l1", "10.00")})
		w.until("well", 6*time.Minute, w.haveMenus(2))
	})
}

func TestOneLocationThatFailsHoldsUpNoOther(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		m.set("l1", served{status: 500})
		w.run(w.one())
		w.until("the other is stored", 3*time.Minute, func() bool { return w.store.Row("menus", "b1", "l2").Raw != "" })
		m.set("l1", served{body: `{"location_id":`})
		m.set("l2", served{etag: `"l2-2"`, body: menu("l2", "20.00")})
		w.until("the other changes", 8*time.Minute, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l2").Raw, "20.00") })
		if s := w.stream("menus").State; s == status.StateRunning {
			t.Errorf("state %s while a location fails", s)
		}
	})
}

// What cannot be understood goes to quarantine, under the location that was asked for, and
// its ETag is not believed.
func TestBadMenusGoToQuarantine(t *testing.T) {
	for name, c := range map[string]struct{ body, field string }{
		"another location": {menu("l2", "10.00"), "location_id"},
		"no location":      {strings.Replace(menu("l1", "10.00"), `"location_id":"l1",`, "", 1), "location_id"},
		"a wrong location": {strings.Replace(menu("l1", "10.00"), `"l1"`, `7`, 1), "location_id"},
		"a wrong price":    {menu("l1", "ten"), "categories.0.products.0.price"},
		"a wrong type":     {strings.Replace(menu("l1", "10.00"), `"available":true`, `"available":"yes"`, 1), "categories.0.products.0.available"},
		"a deep one":       {strings.Replace(menu("l1", "10.00"), `"1.00"`, `1`, 1), "categories.0.products.0.extra_groups.0.options.0.price"},
	} {
		t.Run(name, func(t *testing.T) {
			inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
				w.run(w.one())
				w.until("stored", time.Minute, w.haveMenus(2))
				good := w.store.Row("menus", "b1", "l1")
				m.set("l1", served{etag: `"bad"`, body: c.body})
				w.until("quarantined", 6*time.Minute, func() bool { return w.store.Open() == 1 })
				e := w.store.Entries()[0]
				if e.ID != "l1" || e.Field != c.field || e.Stream != "menus" || string(e.Raw) != c.body {
					t.Errorf("entry %+v", e)
				}
				m.asked("l1")
				time.Sleep(6 * time.Minute)
				if row := w.store.Row("menus", "b1", "l1"); row.Version != good.Version || row.Deleted {
					t.Errorf("the last good menu: %+v", row)
				}
				if sent := m.asked("l1"); slices.Contains(sent, `"bad"`) {
					t.Errorf("asked with %q", sent)
				}
				if _, found := w.verify(Selection{Streams: []string{"menus"}}); len(found) != 1 || found[0].Kind != verify.FoundQuarantined {
					t.Errorf("verify finds %+v", found)
				}
				m.set("l1", served{etag: `"good"`, body: menu("l1", "10.00")})
				w.until("closed", 6*time.Minute, func() bool { return w.store.Open() == 0 })
			})
		})
	}
}

func TestWhatTheServiceAddsToAMenuIsKept(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		body := strings.Replace(menu("l1", "10.00"), `"deposit":null`, `"deposit":null,"spicy":3`, 1)
		m.set("l1", served{etag: `"new"`, body: body})
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		if raw := w.store.Row("menus", "b1", "l1").Raw; raw != body || w.store.Open() > 0 {
			t.Errorf("%s, %d in quarantine", raw, w.store.Open())
		}
		if drift := w.store.Drift(); !slices.ContainsFunc(drift, func(d string) bool { return strings.Contains(d, "categories.products.spicy") }) {
			t.Errorf("drift %q", drift)
		}
	})
}

// A location that the key loses takes its menu along; one that comes back brings it back.
func TestTheMenuOfALocationThatIsLost(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		me := func(text string) { f.mu.Lock(); defer f.mu.Unlock(); f.me = text }
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		row := func() (deleted bool, reason string) {
			r := w.store.Row("menus", "b1", "l2")
			return r.Deleted, r.Reason
		}
		me(meOf("l1"))
		w.until("removed", 6*time.Minute, func() bool { gone, reason := row(); return gone && reason == "no_access" })
		m.asked("l2")
		time.Sleep(20 * time.Minute)
		if sent := m.asked("l2"); len(sent) > 0 {
			t.Errorf("a lost location is asked for: %q", sent)
		}
		me(meOf("l1", "l2"))
		w.until("back", 6*time.Minute, func() bool { gone, _ := row(); return !gone })
		if sent := m.asked("l2"); sent[0] != "" {
			t.Errorf("asked with %q", sent)
		}
		m.mu.Lock()
		delete(m.menus, "l2")
		m.mu.Unlock()
		w.until("gone", 6*time.Minute, func() bool { gone, reason := row(); return gone && reason == "gone" })
		m.set("l2", served{etag: `"l2-1"`, body: menu("l2", "10.00")})
		w.until("back again", 6*time.Minute, func() bool { gone, _ := row(); return !gone })
		if raw := w.store.Row("menus", "b1", "l2").Raw; raw != menu("l2", "10.00") {
			t.Errorf("it is back as %s", raw)
		}
	})
}

// An address that is no endpoint says nothing about a menu.
func TestAMenuIsNotGoneForWhatAProxySays(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		f.on("/locations/l2/menu", func(rw http.ResponseWriter, _ *http.Request) bool { rw.WriteHeader(http.StatusNotFound); return true })
		time.Sleep(11 * time.Minute)
		if r := w.store.Row("menus", "b1", "l2"); r.Deleted {
			t.Errorf("removed as %s", r.Reason)
		}
		if w.stream("menus").State == status.StateRunning {
			t.Error("the stream runs")
		}
	})
}

// Online ordering that is off is normal life: no alarm, the menus stay, and all goes on
// within an interval of the snapshots.
func TestMenusWhileOrderingIsOff(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		switched := func(off bool) { m.mu.Lock(); defer m.mu.Unlock(); m.off = off }
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		switched(true)
		w.until("off", 6*time.Minute, func() bool { return w.stream("menus").State == status.StateAPIDisabled })
		time.Sleep(2 * time.Hour)
		st, s := w.stream("menus"), w.source()
		if st.Behind || st.LastError != "" {
			t.Errorf("behind %t, last error %q", st.Behind, st.LastError)
		}
		if s.State != status.StateRunning || s.Light(&st).Label != "ordering off" || s.Light(&st).Tone() != status.ToneQuiet || !strings.Contains(st.Detail, "online ordering is switched off") {
			t.Errorf("%+v, light %+v", st, s.Light(&st))
		}
		if h := s.Health(); h.Kind != status.HealthUnproven { // as before: the fake has no totals
			t.Errorf("health %+v", h)
		}
		if r := w.tryOnce(Selection{Streams: []string{"menus"}}); r.Err() != nil || !r.Sources[0].Streams[0].OrderingOff {
			t.Errorf("a pass: %+v", r)
		}
		if r, found := w.verify(Selection{Streams: []string{"menus"}}); len(found) > 0 || !r.Sources[0].Streams[0].OrderingOff {
			t.Errorf("verify: %+v, %+v", r, found)
		}
		for _, l := range []string{"l1", "l2"} {
			if w.store.Row("menus", "b1", l).Deleted {
				t.Errorf("the menu of %s is removed", l)
			}
		}
		switched(false)
		m.set("l1", served{etag: `"l1-2"`, body: menu("l1", "30.00")})
		w.until("on", 6*time.Minute, w.haveMenus(2))
		w.until("changed", time.Minute, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "30.00") })
	})
}

func TestAKeyWithoutOrdersHasTheMenusOff(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		f.me = fakeMe
		w.run(w.one())
		w.until("off", time.Minute, func() bool { return w.stream("menus").State == status.StateOff })
		time.Sleep(10 * time.Minute)
		if sent := m.asked("l1"); len(sent) > 0 {
			t.Errorf("asked with %q", sent)
		}
		s := w.source()
		if h := s.Health(); h.Kind != status.HealthUnproven { // as without menus: the fake has no totals
			t.Errorf("health %+v", h)
		}
	})
}

// Only the locations that the configuration names are asked for.
func TestMenusOfConfiguredLocations(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one(func(s *Source) { s.Locations = []string{"l2"} }))
		w.until("stored", time.Minute, w.haveMenus(1))
		time.Sleep(10 * time.Minute)
		if sent := m.asked("l1"); len(sent) > 0 || w.store.Row("menus", "b1", "l2").Raw == "" {
			t.Errorf("l1 was asked with %q", sent)
		}
	})
}

// A restaurant's key that has lost a location does not remove the menu that another one has;
// a menu that neither has any more is removed.
func TestTwoKeysOfOneRestaurantDoNotBuryEachOthersMenus(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		mine := map[string][]string{"one": {"l1", "l2"}, "two": {"l1", "l2"}}
		f.on("/me", func(rw http.ResponseWriter, r *http.Request) bool {
			key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			text := strings.Replace(meOf(mine[key]...), `"app1"`, `"app_`+key+`"`, 1)
			fmt.Fprint(rw, strings.Replace(text, `"all_locations":true`, `"all_locations":false`, 1))
			return true
		})
		give := func(key string, locations ...string) { f.mu.Lock(); defer f.mu.Unlock(); mine[key] = locations }
		w.run(sourceOf("one", "one"), sourceOf("two", "two"))
		w.until("both run", 10*time.Minute, w.filled)
		give("one", "l1")
		time.Sleep(11 * time.Minute)
		if r := w.store.Row("menus", "b1", "l2"); r.Deleted {
			t.Errorf("removed as %s, while the other key has it", r.Reason)
		}
		give("two", "l1")
		w.until("removed", 11*time.Minute, func() bool { return w.store.Row("menus", "b1", "l2").Deleted })
		m.mu.Lock()
		delete(m.menus, "l1")
		m.mu.Unlock()
		w.until("gone for both", 11*time.Minute, func() bool { return w.store.Row("menus", "b1", "l1").Reason == "gone" })
	})
}

// A row that is not there any more is asked for at the next start, whatever the stored
// version says, and one that nobody knows of goes with a full resync.
func TestAMenuThatTheWarehouseHasLost(t *testing.T) {
	inMenus(t, func(t *testing.T, f *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		w.halt()
		w.store.Lose("menus", "b1", "l1")
		w.store.Copy("menus", "b1", "l2", "stray")
		w.run(w.one())
		w.until("back", 2*time.Minute, func() bool { return w.store.Row("menus", "b1", "l1").Raw == menu("l1", "10.00") })
		if w.store.Row("menus", "b1", "stray").Deleted {
			t.Error("a stray row went without a full resync")
		}
		began := time.Now()
		w.once(Selection{Full: true})
		if r := w.store.Row("menus", "b1", "stray"); !r.Deleted || w.stream("menus").BroughtSince.Before(began) {
			t.Errorf("after a full resync: %+v, brought since %s", r, w.stream("menus").BroughtSince)
		}
	})
}

// What is stored of menus never names one whose row is not durable, also when the flush of the first
// one fails and the warehouse takes what comes behind it.
func TestAMenuWhoseFlushFailsIsNotStored(t *testing.T) {
	inMenus(t, func(t *testing.T, _ *fake, w *world, _ *menuService) {
		w.tune = func(o *Options) { o.Sink = &failingFlush{Sink: o.Sink, stream: "menus"} }
		w.store.Watch(func(c *sinks.Commit, _ bool) {
			if cp := c.Checkpoint; cp != nil && c.Stream == "menus" && strings.Contains(cp.Position, `"l1":`) && w.store.Row("menus", "b1", "l1").Raw == "" {
				t.Errorf("stored without its row: %s", cp.Position)
			}
		})
		w.open(w.one())
		if r := w.tryOnce(Selection{Streams: []string{"menus"}}); r.Err() == nil {
			t.Fatal("the flush did not fail")
		}
		w.once(Selection{Streams: []string{"menus"}})
		if n := len(w.store.Rows("menus", "b1")); n != 2 {
			t.Errorf("%d menus, want 2", n)
		}
	})
}

// failingFlush fails the first flush of rows of a stream.
type failingFlush struct {
	sinks.Sink
	stream string
	failed bool
}

func (s *failingFlush) Write(ctx context.Context, c *sinks.Commit) (*sinks.Receipt, error) {
	if c.Stream != s.stream || s.failed || c.Batch == nil || len(c.Batch.Rows) == 0 {
		return s.Sink.Write(ctx, c)
	}
	s.failed = true
	r := sinks.NewReceipt(nil)
	r.Resolve(errors.New("the flush failed"))
	return r, nil
}

// A menu that waits for the warehouse takes nothing of the memory that all answers share.
func TestAMenuThatWaitsForTheWarehouseLeavesTheSharedMemory(t *testing.T) {
	inMenus(t, func(t *testing.T, _ *fake, w *world, m *menuService) {
		memory := api.NewMemory(api.DefaultMemory)
		w.tune = func(o *Options) { o.API.Memory = memory }
		w.run(w.one())
		w.until("stored", time.Minute, w.haveMenus(2))
		w.sink.SetDown(true)
		large := strings.Replace(menu("l1", "10.00"), "Supe", strings.Repeat("Supe", 50_000), 1)
		m.asked("l1")
		m.set("l1", served{etag: `"l1-2"`, body: large})
		w.until("asked", time.Hour, func() bool { return len(m.asked("l1")) > 0 })
		time.Sleep(time.Minute)
		if used := memory.Used(); used > 0 || w.store.Row("menus", "b1", "l1").Raw == large {
			t.Errorf("%d bytes are held", used)
		}
		w.sink.SetDown(false)
		w.until("stored", time.Minute, func() bool { return w.store.Row("menus", "b1", "l1").Raw == large })
	})
}

// A walk of several locations is one run: what is written of it last counts all of them, those
// that are as they were included.
func TestARunOfMenusCountsAllLocations(t *testing.T) {
	inMenus(t, func(t *testing.T, _ *fake, w *world, m *menuService) {
		w.run(w.one())
		w.until("two menus", time.Minute, w.haveMenus(2))
		m.set("l1", served{etag: `"2"`, body: menu("l1", "11.00")})
		w.until("changed", time.Hour, func() bool { return strings.Contains(w.store.Row("menus", "b1", "l1").Raw, "11.00") })
		time.Sleep(time.Minute)
		last := map[time.Time]string{}
		for _, r := range w.store.Runs() {
			if r.Stream == "menus" {
				last[r.StartedAt] = fmt.Sprintf("requests %d, pages %d, rows %d, unchanged %d", r.Requests, r.Pages, r.Rows, r.Unchanged)
			}
		}
		var got []string
		for _, at := range slices.SortedFunc(maps.Keys(last), time.Time.Compare) {
			got = append(got, last[at])
		}
		if want := []string{"requests 2, pages 2, rows 2, unchanged 0", "requests 2, pages 2, rows 1, unchanged 1"}; !slices.Equal(got, want) {
			t.Errorf("runs %q, want %q", got, want)
		}
	})
}
