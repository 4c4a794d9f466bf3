package sandbox

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// docs/openapi.yaml, Menu: a menu has the products that are offered online, none of them sold by
// weight, at their online prices. The price of a product with variants is the lowest of theirs.
// Variants and options have the ids of the catalogue.
func TestTheMenuIsWhatCanBeOrdered(t *testing.T) {
	s := newShop(t, Options{NoLimits: true, ProductsPer: 140})
	a := s.get("/locations/" + s.location + "/menu")
	sameShape[types.OrderableMenu](t, a.body)
	shown := map[string]types.MenuProduct{}
	for i, c := range s.menu.Categories {
		if i > 0 && c.Position < s.menu.Categories[i-1].Position || len(c.Products) == 0 {
			t.Errorf("category %s at %d with %d products", c.Name, c.Position, len(c.Products))
		}
		for _, p := range c.Products {
			shown[p.ID] = p
		}
	}
	s.key = s.Key(0, RoleMain).Value
	left, newest := 0, ""
	for _, row := range s.walk("/products?limit=200&location_id=" + s.location) {
		p := strict[types.Product](t, row)
		newest = max(newest, string(*p.UpdatedAt))
		m, on := shown[p.ID]
		if offered := p.Channels["online"].Enabled && p.Unit == "piece"; on != offered {
			t.Errorf("%s: on the menu %v, offered %v", p.Name, on, offered)
		}
		if !on {
			left++
			continue
		}
		price := p.Channels["online"].Price
		for i, v := range m.Variants {
			if v.ID != p.Variants[i].ID || v.Name != p.Variants[i].Name {
				t.Errorf("variant %+v of %+v", v, p.Variants[i])
			}
			// online, a variant is as far from its product's price as at the till
			if lei(t, v.Price)-lei(t, p.Channels["online"].Price) != lei(t, p.Variants[i].Price)-lei(t, p.Price) {
				t.Errorf("variant %+v of %+v", v, p)
			}
			if i == 0 || lei(t, v.Price) < lei(t, price) {
				price = v.Price
			}
		}
		if m.Price != price || m.Name != p.Name || m.Available != p.Available || len(m.ExtraGroups) != len(p.ExtraGroups) || (m.Deposit == nil) != (p.Deposit == nil) {
			t.Errorf("%+v\nof %+v", m, p)
		}
		if p.Calories == nil && m.Calories != 0 || p.Calories != nil && m.Calories != *p.Calories {
			t.Errorf("calories %d of %v", m.Calories, p.Calories)
		}
	}
	if left == 0 || len(shown) < 80 || string(*s.menu.UpdatedAt) < newest {
		t.Errorf("%d shown, %d left out, updated_at %s", len(shown), left, *s.menu.UpdatedAt)
	}
}

// The ETag of a menu is its version. While that is the same, the answer is 304.
func TestTheMenusVersion(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	uri := "/locations/" + s.location + "/menu"
	etag := s.get(uri).header.Get("ETag")
	ask := func(ifNoneMatch string) answer {
		t.Helper()
		r := newRequest("GET", uri, s.key)
		r.Header.Set("If-None-Match", ifNoneMatch)
		return s.answered(r)
	}
	unchanged := func(ifNoneMatch string) {
		t.Helper()
		if a := ask(ifNoneMatch); a.status != 304 || len(a.body) != 0 || a.header.Get("ETag") != etag || a.header.Get("X-RateLimit-Limit") == "" {
			t.Errorf("If-None-Match %s: %d, %d bytes, %v", ifNoneMatch, a.status, len(a.body), a.header)
		}
	}
	for _, h := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
		unchanged(h)
	}
	s.clock = s.clock.Add(48 * time.Hour)
	unchanged(etag)
	if a := ask(`"other"`); a.status != 200 || a.header.Get("ETag") != etag {
		t.Errorf("another version: %d", a.status)
	}
	r := s.Restaurant(0)
	p := s.dish(plainDish)
	no := false
	for _, change := range []func() error{
		func() error { return r.EditProduct(p.ID, ProductChange{Name: "Altfel"}) },
		func() error { return r.EditProduct(p.ID, ProductChange{Price: 4200}) },
		func() error { return r.EditProduct(p.ID, ProductChange{Available: &no}) },
		func() error { return r.RenameCategory(s.menu.Categories[0].ID, "Noutăți") },
		func() error { return r.Delete(StreamProducts, p.ID) },
		func() error { return r.Purge(StreamProducts, s.menu.Categories[1].Products[0].ID) },
	} {
		s.clock = s.clock.Add(time.Minute)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		a := ask(etag)
		next := strict[types.OrderableMenu](t, a.body)
		if a.status != 200 || a.header.Get("ETag") == etag || *next.UpdatedAt < *s.menu.UpdatedAt {
			t.Errorf("after a change: %d, updated_at %s after %s", a.status, *next.UpdatedAt, *s.menu.UpdatedAt)
		}
		etag, s.menu = a.header.Get("ETag"), next
		unchanged(etag)
	}
	// The other location's menu is its own.
	other := s.get("/locations/" + r.LocationIDs()[1] + "/menu")
	if other.status != 200 || other.header.Get("ETag") == etag {
		t.Errorf("the other location: %d %s", other.status, other.header.Get("ETag"))
	}
}

// A product without a category, or whose category was deleted, can still be ordered.
func TestAMenuWithoutCategories(t *testing.T) {
	s := newShop(t, Options{NoLimits: true})
	first := s.menu.Categories[0]
	if err := s.Restaurant(0).Delete(StreamCategories, first.ID); err != nil {
		t.Fatal(err)
	}
	s.menu = ok[types.OrderableMenu](s.harness, "/locations/"+s.location+"/menu")
	last := s.menu.Categories[len(s.menu.Categories)-1]
	if last.ID != "none" || len(last.Products) != len(first.Products) {
		t.Errorf("%d products in %s, want %d", len(last.Products), last.ID, len(first.Products))
	}
}
