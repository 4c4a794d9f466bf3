package sandbox

import (
	"slices"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

func (rq *request) me() *apiError {
	k := &rq.key
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
	rq.open()
	me.LocationIDs = rq.view.LocationIDs()
	rq.view.Close()
	rq.addJSON(me)
	return nil
}

// ordersOnly is the rule for keys with only orders:write: while online ordering
// is off, even the locations are closed to them.
func (rq *request) ordersOnly() *apiError {
	if orderingOff(rq) && !slices.Contains(rq.key.Scopes, api.ScopeLocations) {
		return fail(codeAPIDisabled)
	}
	return nil
}

func (rq *request) listLocations() *apiError {
	if err := rq.ordersOnly(); err != nil {
		return err
	}
	rq.open()
	defer rq.view.Close()
	rq.out = append(rq.out, `{"data":[`...)
	for _, l := range rq.view.Locations() {
		rq.addJSON(l)
	}
	rq.out = append(rq.out, "]}"...)
	return nil
}

func (rq *request) oneLocation() *apiError {
	if err := rq.ordersOnly(); err != nil {
		return err
	}
	rq.open()
	defer rq.view.Close()
	l, ok := rq.view.Location(rq.id)
	if !ok {
		return fail(codeNotFound)
	}
	rq.addJSON(l)
	return nil
}
