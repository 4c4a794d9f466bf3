package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
)

// route is an address of the API.
type route struct {
	name   string // as api.md writes it
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
	get("/locations", keys.All, reading(listLocations), api.ScopeLocations, api.ScopeOrders),
	get("/locations/{location_id}", keys.All, reading(oneLocation), api.ScopeLocations, api.ScopeOrders),
	get("/categories", keys.All, reading(listCategories), api.ScopeMenu),
	get("/products", keys.All, reading(listProducts), api.ScopeMenu),
	get("/products/{product_id}", keys.All, reading(oneProduct), api.ScopeMenu),
	get("/allergens", keys.All, reading(listAllergens), api.ScopeMenu),
	get("/sales/daily", keys.Heavy, reading(salesDaily), api.ScopeSales),
	get("/sales/products", keys.Heavy, reading(salesProducts), api.ScopeSales),
	get("/sales/orders", keys.All, reading(listOrders), api.ScopeSales),
	get("/sales/orders/{order_id}", keys.All, reading(oneOrder), api.ScopeSales),
	get("/ingredients", keys.All, reading(listIngredients), api.ScopeStock),
	get("/ingredients/{ingredient_id}", keys.All, reading(oneIngredient), api.ScopeStock),
	get("/locations/{location_id}/menu", keys.All, whenOrdering(orderableMenu), api.ScopeOrders),
	get("/orders", keys.All, whenOrdering(listOnlineOrders), api.ScopeOrders),
	get("/orders/{order_id}", keys.All, whenOrdering(oneOnlineOrder), api.ScopeOrders),
	post("/orders", keys.Orders, whenOrdering(placeOnlineOrder), api.ScopeOrders),
	post("/orders/{order_id}/cancel", keys.All, whenOrdering(cancelOnlineOrder), api.ScopeOrders),
	post("/webhooks/test", keys.All, whenOrdering(testWebhook), api.ScopeOrders),
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
