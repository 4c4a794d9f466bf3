package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

// route is an address of the API.
type route struct {
	name   string // as the API's description writes it
	parts  []string
	method string
	scopes []string  // any one of them opens it; none: every key
	limit  keys.Kind // beside that of all requests
	handle func(*request) *refusal.Refusal
}

func get(name string, limit keys.Kind, handle func(*request) *refusal.Refusal, scopes ...string) route {
	return route{name: name, parts: strings.Split(name[1:], "/"), method: http.MethodGet, limit: limit, handle: handle, scopes: scopes}
}

// post names its route with the method: some addresses have both.
func post(path string, limit keys.Kind, handle func(*request) *refusal.Refusal, scopes ...string) route {
	rt := get(path, limit, handle, scopes...)
	rt.name, rt.method = http.MethodPost+" "+path, http.MethodPost
	return rt
}

var routes = []route{
	get("/me", keys.All, reading(me)),
	get("/locations", keys.All, reading(listLocations), types.ScopeLocations, types.ScopeOrders),
	get("/locations/{location_id}", keys.All, reading(oneLocation), types.ScopeLocations, types.ScopeOrders),
	get("/categories", keys.All, reading(plain((*world.View).Categories)), types.ScopeMenu),
	get("/products", keys.All, reading(listProducts), types.ScopeMenu),
	get("/products/{product_id}", keys.All, reading(byID((*world.View).Product)), types.ScopeMenu),
	get("/allergens", keys.All, reading(listAllergens), types.ScopeMenu),
	get("/sales/daily", keys.Heavy, reading(salesDaily), types.ScopeSales),
	get("/sales/products", keys.Heavy, reading(salesProducts), types.ScopeSales),
	get("/sales/orders", keys.All, reading(listOrders), types.ScopeSales),
	get("/sales/orders/{order_id}", keys.All, reading(oneOrder), types.ScopeSales),
	get("/ingredients", keys.All, reading(listIngredients), types.ScopeStock),
	get("/ingredients/{ingredient_id}", keys.All, reading(byID((*world.View).Ingredient)), types.ScopeStock),
	get("/locations/{location_id}/menu", keys.All, whenOrdering(orderableMenu), types.ScopeOrders),
	get("/orders", keys.All, whenOrdering(listOnlineOrders), types.ScopeOrders),
	get("/orders/{order_id}", keys.All, whenOrdering(oneOnlineOrder), types.ScopeOrders),
	post("/orders", keys.Orders, whenOrdering(placeOnlineOrder), types.ScopeOrders),
	post("/orders/{order_id}/cancel", keys.All, whenOrdering(cancelOnlineOrder), types.ScopeOrders),
	post("/webhooks/test", keys.All, whenOrdering(testWebhook), types.ScopeOrders),
}

// findRoute matches an escaped path below /v1, so that an id may hold a slash.
// allow are the methods of an address that does not have this one.
func findRoute(method, escaped string) (found *route, id string, allow []string) {
	parts := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	for i := range routes {
		rt := &routes[i]
		value, ok := rt.match(parts)
		if !ok {
			continue
		}
		if rt.method == method || rt.method == http.MethodGet && method == http.MethodHead {
			return rt, value, nil
		}
		if allow = append(allow, rt.method); rt.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	return nil, "", allow
}

func (rt *route) match(parts []string) (id string, ok bool) {
	if len(parts) != len(rt.parts) {
		return "", false
	}
	for i, p := range rt.parts {
		if p[0] != '{' {
			if parts[i] != p {
				return "", false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" {
			return "", false
		}
		id = value
	}
	return id, true
}
