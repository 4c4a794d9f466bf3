package sandbox

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-sync/larder/internal/api"
)

// route is an address of the API.
type route struct {
	name   string // as api.md writes it
	parts  []string
	method string
	scopes []string // any one of them opens it; none: every key
	heavy  bool     // counts toward the 30 a minute of the sales aggregates too
	handle func(*request) *apiError
}

func get(name string, heavy bool, handle func(*request) *apiError, scopes ...string) route {
	return route{name: name, parts: strings.Split(name[1:], "/"), method: http.MethodGet, heavy: heavy, handle: handle, scopes: scopes}
}

var routes = []route{
	get("/me", false, (*request).me),
	get("/locations", false, (*request).listLocations, api.ScopeLocations, api.ScopeOrders),
	get("/locations/{location_id}", false, (*request).oneLocation, api.ScopeLocations, api.ScopeOrders),
	get("/categories", false, (*request).listCategories, api.ScopeMenu),
	get("/products", false, (*request).listProducts, api.ScopeMenu),
	get("/products/{product_id}", false, (*request).oneProduct, api.ScopeMenu),
	get("/allergens", false, (*request).listAllergens, api.ScopeMenu),
	get("/sales/daily", true, (*request).salesDaily, api.ScopeSales),
	get("/sales/products", true, (*request).salesProducts, api.ScopeSales),
	get("/sales/orders", false, (*request).listOrders, api.ScopeSales),
	get("/sales/orders/{order_id}", false, (*request).oneOrder, api.ScopeSales),
	get("/ingredients", false, (*request).listIngredients, api.ScopeStock),
	get("/ingredients/{ingredient_id}", false, (*request).oneIngredient, api.ScopeStock),
}

// findRoute matches an escaped path below /v1, so that an id may hold a slash.
// other is a route of the same address with another method.
func findRoute(method, escaped string) (found *route, id string, other *route) {
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
		other = rt
	}
	return nil, "", other
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
