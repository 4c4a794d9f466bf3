package sandbox

import (
	"slices"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

func me(c readCall) *refusal.Refusal {
	k := &c.key
	var webhookURL *string
	if k.WebhookURL != "" {
		webhookURL = &k.WebhookURL
	}
	me := api.Me{
		App:      api.App{ID: k.AppID, Name: k.Name, Mode: k.Mode},
		Business: api.Business{ID: k.BusinessID, Name: k.BusinessName},
		Scopes:   units.NotNil(k.Scopes), AllLocations: k.AllLocations, RateLimits: k.Limits,
		Webhook: api.Webhook{URL: webhookURL, Configured: k.WebhookURL != ""},
	}
	me.LocationIDs = c.view.LocationIDs()
	c.addJSON(me)
	return nil
}

// ordersOnly is the rule for keys with only orders:write: while online ordering
// is off, even the locations are closed to them.
func ordersOnly(c readCall) *refusal.Refusal {
	if c.orderingOff() && !slices.Contains(c.key.Scopes, api.ScopeLocations) {
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
