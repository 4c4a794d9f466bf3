package sandbox

import (
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

func me(c readCall) *refusal.Refusal {
	k := &c.key
	var webhookURL *string
	if k.WebhookURL != "" {
		webhookURL = &k.WebhookURL
	}
	me := types.Me{
		App:      types.App{ID: k.AppID, Name: k.Name, Mode: k.Mode},
		Business: types.Business{ID: k.BusinessID, Name: k.BusinessName},
		Scopes:   units.NotNil(k.Scopes), AllLocations: k.AllLocations, RateLimits: k.Limits,
		Webhook: types.Webhook{URL: webhookURL, Configured: k.WebhookURL != ""},
	}
	me.LocationIDs = c.view.LocationIDs()
	c.addJSON(me)
	return nil
}

// ordersOnly is the rule for keys with only orders:write: while online ordering
// is off, even the locations are closed to them.
func ordersOnly(c readCall) *refusal.Refusal {
	if c.orderingOff() && !slices.Contains(c.key.Scopes, types.ScopeLocations) {
		return refusal.Of(refusal.APIDisabled)
	}
	return nil
}

func listLocations(c readCall) *refusal.Refusal {
	if err := ordersOnly(c); err != nil {
		return err
	}
	c.openList()
	for _, l := range c.view.Locations() {
		c.addJSON(l)
	}
	c.write("]}")
	return nil
}

func oneLocation(c readCall) *refusal.Refusal {
	if err := ordersOnly(c); err != nil {
		return err
	}
	l, ok := c.view.Location(c.id)
	if !ok {
		return refusal.Of(refusal.NotFound)
	}
	c.addJSON(l)
	return nil
}

// plain answers a list that has no filters of its own.
func plain(list func(*world.View, rows.Listing, rows.Emit) (rows.Pos, bool)) func(readCall) *refusal.Refusal {
	return func(c readCall) *refusal.Refusal {
		return c.list(func(l rows.Listing) (rows.Pos, bool) { return list(&c.view, l, c.addRow) })
	}
}

// byID answers one row of a list.
func byID(find func(v *world.View, id string) ([]byte, bool)) func(readCall) *refusal.Refusal {
	return func(c readCall) *refusal.Refusal {
		return c.one(func(id string) ([]byte, bool) { return find(&c.view, id) })
	}
}

func listProducts(c readCall) *refusal.Refusal {
	var category *string
	if id, given := c.q.text("category_id"); given {
		category = &id
	}
	available := c.q.optionalFlag("available")
	return c.list(func(l rows.Listing) (rows.Pos, bool) { return c.view.Products(l, category, available, c.addRow) }, "category_id", "available")
}

func listIngredients(c readCall) *refusal.Refusal {
	below := c.q.optionalFlag("below_min")
	return c.list(func(l rows.Listing) (rows.Pos, bool) { return c.view.Ingredients(l, below, c.addRow) }, "below_min")
}

func listAllergens(c readCall) *refusal.Refusal {
	c.openList()
	for _, a := range catalogue.Allergens() {
		c.addJSON(a)
	}
	c.write("]}")
	return nil
}
