package sandbox

import (
	"slices"

	"github.com/larder-sync/larder/internal/api"
)

func (rq *request) me() *apiError {
	k := &rq.key
	me := api.Me{
		App:      api.App{ID: k.AppID, Name: k.Name, Mode: k.Mode},
		Business: api.Business{ID: k.BusinessID, Name: k.BusinessName},
		Scopes:   notNil(k.Scopes), LocationIDs: []string{}, AllLocations: k.AllLocations, RateLimits: k.Limits,
		Webhook: api.Webhook{URL: textOrNull(k.WebhookURL), Configured: k.WebhookURL != ""},
	}
	rq.b.mu.RLock()
	for loc, l := range rq.b.locations {
		if l.active && rq.allowed(loc) {
			me.LocationIDs = append(me.LocationIDs, l.id)
		}
	}
	rq.b.mu.RUnlock()
	rq.addRow(encodeJSON(me))
	return nil
}

// ordersOnly is the rule for keys with only orders:write: while online ordering
// is off, even the locations are closed to them.
func (rq *request) ordersOnly() *apiError {
	if rq.b.readings.OrderingOff && !slices.Contains(rq.key.Scopes, api.ScopeLocations) {
		return fail(codeAPIDisabled)
	}
	return nil
}

func (rq *request) listLocations() *apiError {
	if err := rq.ordersOnly(); err != nil {
		return err
	}
	rq.b.mu.RLock()
	defer rq.b.mu.RUnlock()
	rq.out = append(rq.out, `{"data":[`...)
	for loc, l := range rq.b.locations {
		if l.active && rq.allowed(loc) {
			rq.addRow(encodeJSON(rq.b.encodeLocation(l, rq.now)))
		}
	}
	rq.out = append(rq.out, "]}"...)
	return nil
}

func (rq *request) oneLocation() *apiError {
	if err := rq.ordersOnly(); err != nil {
		return err
	}
	rq.b.mu.RLock()
	defer rq.b.mu.RUnlock()
	loc, ok := rq.b.locationOf(rq.id)
	if !ok || !rq.allowed(loc) || !rq.b.locations[loc].active {
		return fail(codeNotFound)
	}
	rq.addRow(encodeJSON(rq.b.encodeLocation(rq.b.locations[loc], rq.now)))
	return nil
}
