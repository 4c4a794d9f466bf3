package sandbox

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// shop orders from the first location of a restaurant, through the key with orders:write.
type shop struct {
	*harness
	location string
	menu     types.OrderableMenu
	n        int
}

func newShop(t testing.TB, o Options) *shop {
	t.Helper()
	if o.Orders == 0 {
		o.Orders = -1
	}
	s := &shop{harness: newHarness(t, o)}
	s.key = s.Key(0, RoleOrders).Value
	s.location = s.Restaurant(0).LocationIDs()[0]
	s.menu = ok[types.OrderableMenu](s.harness, "/locations/"+url.PathEscape(s.location)+"/menu")
	return s
}

// send is a request with a body.
func (s *shop) send(method, key, uri, body string) answer {
	s.t.Helper()
	r := newRequest(method, uri, key)
	r.Body = io.NopCloser(strings.NewReader(body))
	return s.answered(r)
}

func (s *shop) post(body any) answer {
	s.t.Helper()
	return s.send("POST", s.key, "/orders", string(units.JSON(body)))
}

// dish is the first product of the menu that fits.
func (s *shop) dish(fits func(types.MenuProduct) bool) types.MenuProduct {
	s.t.Helper()
	for _, c := range s.menu.Categories {
		for _, p := range c.Products {
			if p.Available && fits(p) {
				return p
			}
		}
	}
	s.t.Fatal("no such dish on the menu")
	return types.MenuProduct{}
}

func plainDish(p types.MenuProduct) bool {
	return len(p.Variants) == 0 && len(p.ExtraGroups) == 0 && p.Deposit == nil
}

type object = map[string]any

// menuOf is an item of another location's menu.
func (s *shop) menuOf(location string) object {
	s.t.Helper()
	other := *s
	other.menu = ok[types.OrderableMenu](s.harness, "/locations/"+url.PathEscape(location)+"/menu")
	return object{"product_id": other.dish(plainDish).ID, "quantity": 1}
}

// order is a body that is fine: one plain dish, to be picked up, paid. Changes are set by
// path ("items.0.quantity"); a path with a value of absent is taken out.
func (s *shop) order(changes ...any) object {
	s.t.Helper()
	s.n++
	body := object{
		"external_id": "web-" + strconv.Itoa(s.n), "location_id": s.location, "type": "pickup",
		"customer": object{"name": "Ana Pop", "phone": "+40712345678"},
		"items":    []any{object{"product_id": s.dish(plainDish).ID, "quantity": 1}},
		"payment":  object{"status": "paid"},
	}
	for i := 0; i < len(changes); i += 2 {
		set(s.t, body, changes[i].(string), changes[i+1])
	}
	return body
}

type absentValue struct{}

var absent = absentValue{}

func set(t testing.TB, body object, path string, value any) {
	t.Helper()
	parts := strings.Split(path, ".")
	at := any(body)
	for _, p := range parts[:len(parts)-1] {
		switch v := at.(type) {
		case object:
			at = v[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil {
				t.Fatal(err)
			}
			at = v[i]
		}
	}
	last := parts[len(parts)-1]
	if list, ok := at.([]any); ok {
		i, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = value
		return
	}
	o, isObject := at.(object)
	if !isObject {
		t.Fatalf("%s is in no object", path)
	}
	if value == absent {
		delete(o, last)
		return
	}
	o[last] = value
}

// placed is a new order.
func (s *shop) placed(changes ...any) types.OnlineOrder {
	s.t.Helper()
	return s.created(s.post(s.order(changes...)))
}

func (s *shop) created(a answer) types.OnlineOrder {
	s.t.Helper()
	if a.status != 201 {
		s.t.Fatalf("POST /orders: %d %s", a.status, a.body)
	}
	return strict[types.OnlineOrder](s.t, a.body)
}

// read is GET /orders/{order_id}.
func (s *shop) read(id string) types.OnlineOrder {
	s.t.Helper()
	return ok[types.OnlineOrder](s.harness, "/orders/"+url.PathEscape(id))
}

type onlinePage struct {
	Data             []types.OnlineOrder `json:"data"`
	NextUpdatedSince *string             `json:"next_updated_since"`
}

// details is what an error tells beside its texts.
func (s *shop) details(a answer, status int, code string) object {
	s.t.Helper()
	var e struct {
		Error struct {
			Code, Message  string
			DisplayMessage string `json:"display_message"`
			Details        object
		}
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		s.t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	if a.status != status || e.Error.Code != code || e.Error.Message == "" || e.Error.DisplayMessage == "" {
		s.t.Fatalf("answer %d %s, want %d %s: %s", a.status, e.Error.Code, status, code, a.body)
	}
	return maps.Clone(e.Error.Details)
}

// count is how many orders the key has placed.
func (s *shop) count() int {
	s.t.Helper()
	return len(ok[onlinePage](s.harness, "/orders?limit=100&updated_since=2020-01-01T00:00:00Z").Data)
}

func lei(t testing.TB, m types.Money) units.Bani {
	t.Helper()
	v, good := units.ParseMoney(string(m))
	if !good {
		t.Fatalf("amount %q", m)
	}
	return v
}

func newRequest(method, uri, key string) *http.Request {
	r := httptest.NewRequest(method, "/v1"+uri, nil)
	r.RemoteAddr = "127.0.0.1:4321"
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

func (s *shop) answered(r *http.Request) answer {
	s.t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	out, err := io.ReadAll(w.Result().Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{w.Code, w.Header(), out}
}
