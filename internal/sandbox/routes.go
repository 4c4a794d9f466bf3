package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-sync/larder/internal/api"
)

// extraLimit is a limit of a key that only some routes count toward.
type extraLimit int

const (
	noExtraLimit extraLimit = iota
	heavyLimit              // 30 a minute of the sales aggregates together
	orderLimit              // 30 orders placed a minute
)

// route is an address of the API.
type route struct {
	name   string // as api.md writes it
	parts  []string
	method string
	scopes []string // any one of them opens it; none: every key
	limit  extraLimit
	handle func(*request) *apiError
}

func get(name string, limit extraLimit, handle func(*request) *apiError, scopes ...string) route {
	return route{name: name, parts: strings.Split(name[1:], "/"), method: http.MethodGet, limit: limit, handle: handle, scopes: scopes}
}

// post names its route with the method: some addresses have both.
func post(path string, limit extraLimit, handle func(*request) *apiError, scopes ...string) route {
	rt := get(path, limit, handle, scopes...)
	rt.name, rt.method = http.MethodPost+" "+path, http.MethodPost
	return rt
}

var routes = []route{
	get("/me", noExtraLimit, (*request).me),
	get("/locations", noExtraLimit, (*request).listLocations, api.ScopeLocations, api.ScopeOrders),
	get("/locations/{location_id}", noExtraLimit, (*request).oneLocation, api.ScopeLocations, api.ScopeOrders),
	get("/categories", noExtraLimit, (*request).listCategories, api.ScopeMenu),
	get("/products", noExtraLimit, (*request).listProducts, api.ScopeMenu),
	get("/products/{product_id}", noExtraLimit, (*request).oneProduct, api.ScopeMenu),
	get("/allergens", noExtraLimit, (*request).listAllergens, api.ScopeMenu),
	get("/sales/daily", heavyLimit, (*request).salesDaily, api.ScopeSales),
	get("/sales/products", heavyLimit, (*request).salesProducts, api.ScopeSales),
	get("/sales/orders", noExtraLimit, (*request).listOrders, api.ScopeSales),
	get("/sales/orders/{order_id}", noExtraLimit, (*request).oneOrder, api.ScopeSales),
	get("/ingredients", noExtraLimit, (*request).listIngredients, api.ScopeStock),
	get("/ingredients/{ingredient_id}", noExtraLimit, (*request).oneIngredient, api.ScopeStock),
	get("/locations/{location_id}/menu", noExtraLimit, whenOrdering(orderableMenu), api.ScopeOrders),
	get("/orders", noExtraLimit, whenOrdering(listOnlineOrders), api.ScopeOrders),
	get("/orders/{order_id}", noExtraLimit, whenOrdering(oneOnlineOrder), api.ScopeOrders),
	post("/orders", orderLimit, whenOrdering(placeOnlineOrder), api.ScopeOrders),
	post("/orders/{order_id}/cancel", noExtraLimit, whenOrdering(cancelOnlineOrder), api.ScopeOrders),
	post("/webhooks/test", noExtraLimit, whenOrdering(testWebhook), api.ScopeOrders),
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
