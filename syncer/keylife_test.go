package syncer

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/syncer/status"
)

// Scopes that are lost switch streams off within minutes and leave their rows as
// they are; regained, what changed meanwhile comes; a new one opens a backfill.
func TestScopesGainedAndLost(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 51, Orders: 200, ProductsPer: 30}, func(t *testing.T, w *world) {
		r := w.box.Restaurant(0)
		key := w.box.Key(0, sandbox.RoleMain).Value
		scopes := func(names ...string) {
			must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.Scopes = names }))
		}
		all := []string{types.ScopeLocations, types.ScopeMenu, types.ScopeSales, types.ScopeStock}
		scopes(types.ScopeLocations, types.ScopeSales)
		w.run()
		w.until("filled", time.Hour, w.filled)
		if st := w.stream("products"); st.State != status.StateOff {
			t.Fatalf("products without menu:read: %s", st.State)
		}

		scopes(all...)
		w.until("what the new scopes open", 15*time.Minute, func() bool {
			return len(w.store.Rows("products", r.ID())) == 60 && len(w.store.Rows("ingredients", r.ID())) > 0 && w.filled()
		})

		scopes(types.ScopeLocations, types.ScopeMenu, types.ScopeStock)
		w.until("the loss", 10*time.Minute, func() bool { return w.stream("sales_orders").State == status.StateOff })
		for _, row := range w.store.Rows("sales_orders", r.ID()) {
			if row.Deleted && row.Reason == "no_access" {
				t.Fatalf("%s was removed because a scope was lost", row.ID)
			}
		}
		ids := r.IDs(sandbox.StreamSalesOrders)
		must(t, r.CancelOrder(ids[0]))
		must(t, r.EditOrder(ids[1]))
		time.Sleep(3 * time.Hour)
		if w.store.Row("sales_orders", r.ID(), ids[0]).Deleted {
			t.Fatal("an order was read without the scope")
		}
		scopes(all...)
		w.until("what was missed", 15*time.Minute, func() bool {
			return w.store.Row("sales_orders", r.ID(), ids[0]).Deleted && w.stream("sales_orders").State == status.StateRunning
		})
		w.equal()
		if w.source().RateLimited != 0 {
			t.Errorf("%d answers 429", w.source().RateLimited)
		}
	})
}

// What a pass calls a refusal is no green daemon: a key that may read nothing, and one
// that may not read what the configuration names.
func TestAKeyThatLacksWhatItShouldReadIsNotWell(t *testing.T) {
	for name, tt := range map[string]struct {
		scopes, streams []string
		text            string // of the concern, empty for none
	}{
		"nothing":                    {nil, nil, "The key may not read allergens, categories, ingredients, locations, menus, online_orders, products, sales_daily, sales_orders, sales_products."},
		"nothing of what is named":   {[]string{types.ScopeSales}, []string{"products"}, "The key may not read products."},
		"not all of what is named":   {[]string{types.ScopeSales}, []string{"sales_orders", "products"}, "The key may not read products."},
		"some, and nothing is named": {[]string{types.ScopeSales}, nil, ""},
		"what is named":              {[]string{types.ScopeSales}, []string{"sales_orders"}, ""},
		"the key itself":             {nil, []string{"api_keys"}, ""},
	} {
		t.Run(name, func(t *testing.T) { refusedOrWell(t, tt.scopes, tt.streams, tt.text) })
	}
}

func refusedOrWell(t *testing.T, scopes, streams []string, text string) {
	t.Helper()
	inWorld(t, sandbox.Options{Seed: 51, Orders: 50, ProductsPer: 10}, func(t *testing.T, w *world) {
		key := w.box.Key(0, sandbox.RoleMain).Value
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.Scopes = scopes }))
		w.edit = func(s *Source) { s.Streams = streams }
		w.run()
		w.until("filled", time.Hour, w.filled)
		time.Sleep(time.Hour)
		health := func() status.Concern { return w.syncer.Status().Sources[0].Health() }
		if c := health(); text != "" && (c.Kind != status.HealthRefused || c.Text != text) || text == "" && c.Tone() == status.ToneTrouble {
			t.Errorf("%+v, want %q", c, text)
		}
		for _, st := range w.syncer.Status().Sources[0].Streams {
			lacks := st.State == status.StateOff && (len(streams) == 0 || slices.Contains(streams, st.Name))
			if st.NoScope != lacks {
				t.Errorf("%s: no scope %t, want %t", st.Name, st.NoScope, lacks)
			}
		}
		if text == "" {
			return
		}
		must(t, w.box.UpdateKey(key, func(k *sandbox.Key) {
			k.Scopes = []string{types.ScopeLocations, types.ScopeMenu, types.ScopeSales, types.ScopeStock}
		}))
		w.until("what the scopes open", time.Hour, func() bool { return w.filled() && health().Tone() != status.ToneTrouble })
	})
}

// Until the key has answered in a new life of its source, nobody knows which scopes it lacks.
func TestNoScopeIsSaidOnlyOfAStreamThatIsOff(t *testing.T) {
	inRefusingWorld(t, sandbox.Options{Seed: 51, Orders: 50, ProductsPer: 10}, func(t *testing.T, w *world, refuse *refusing) {
		must(t, w.box.UpdateKey(w.box.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.Scopes = []string{types.ScopeSales} }))
		w.run()
		w.until("filled", time.Hour, w.filled)
		refuse.set(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/me") })
		sources := w.sources()
		sources[0].BudgetShare = 0.5
		if _, err := w.syncer.Apply(sources, w.schedule); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		starting := 0
		for _, st := range w.syncer.Status().Sources[0].Streams {
			if st.State == status.StateStarting {
				starting++
			}
			if st.NoScope && st.State != status.StateOff {
				t.Errorf("%s is %s", st.Name, st.State)
			}
		}
		if starting == 0 {
			t.Error("the key has answered")
		}
	})
}

// A limit that is lowered in the middle of a backfill is kept as soon as /me has
// told it, or the service has answered 429 once.
func TestLimitsThatChange(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 52, Orders: 2000, ProductsPer: 10, Readings: smallPages}, func(t *testing.T, w *world) {
		key := w.box.Key(0, sandbox.RoleMain).Value
		limit := func(n int) {
			must(t, w.box.UpdateKey(key, func(k *sandbox.Key) { k.Limits.PerMinute = n }))
		}
		w.run()
		time.Sleep(20 * time.Second)
		limit(40)
		time.Sleep(6 * time.Minute)
		if got := w.source().Budget.KeyLimit; got != 40 {
			t.Errorf("the budget has %d a minute, the key 40", got)
		}
		before := w.source().RateLimited
		time.Sleep(5 * time.Minute)
		if n := w.source().RateLimited - before; n != 0 {
			t.Errorf("%d answers 429 under the limit that is known", n)
		}
		limit(600)
		w.until("the raised limit", 6*time.Minute, func() bool { return w.source().Budget.KeyLimit == 600 })
		w.until("the end", 10*time.Minute, w.filled)
		w.equalLists()
	})
}

// A refusal whose body cannot be read is that refusal: it is no silence of the service, which
// would be asked again every few seconds.
func TestARefusalWithABrokenBodyIsProbedAsOne(t *testing.T) {
	inFake(t, func(t *testing.T, f *fake, w *world) {
		w.run(w.one())
		w.until("mirrored", time.Minute, w.filled)
		refuse := func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Content-Encoding", "gzip")
			rw.WriteHeader(http.StatusUnauthorized)
			_, _ = rw.Write([]byte("\x1f\x8bno")) // the client may have gone
			return true
		}
		for _, path := range []string{"/me", cats, "/products", "/ingredients", "/sales/orders"} {
			f.on(path, refuse)
		}
		w.until("refused", time.Minute, func() bool { return w.source().State == status.StateUnauthorized })
		f.taken()
		time.Sleep(time.Minute)
		if asked, _ := f.taken(); len(asked) > 3 {
			t.Errorf("asked %d times within a minute: %q", len(asked), asked)
		}
	})
}

// The key is rotated with 24 hours of overlap: no walk is missed.
func TestAKeyIsRotatedWithoutAGap(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 53, Orders: 100, ProductsPer: 10}, func(t *testing.T, w *world) {
		old := w.box.Key(0, sandbox.RoleMain)
		var next atomic.Value // the file
		next.Store("")
		s := sourceOf("r0", old.Value)
		s.NextKey = func() string { return next.Load().(string) }
		w.run(s)
		w.until("filled", time.Hour, w.filled)
		rotated, err := w.box.RotateKey(old.Value, 24*time.Hour)
		must(t, err)
		time.Sleep(time.Hour)
		next.Store(rotated.Value) // it appears while the old key is still valid
		var worst time.Duration
		for range 24 * 60 {
			time.Sleep(time.Minute)
			for _, st := range w.source().Streams {
				if slices.Contains([]string{"products", "sales_orders", "categories"}, st.Name) {
					worst = max(worst, st.Lag.Duration())
				}
			}
		}
		if worst > time.Minute {
			t.Errorf("a list was not walked for %s", worst)
		}
		if st := w.source(); st.State != status.StateRunning {
			t.Errorf("after the old key's end: %s, %s", st.State, st.Detail)
		}
	})
}
