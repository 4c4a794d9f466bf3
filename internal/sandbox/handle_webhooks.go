package sandbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
)

// testWebhook pings the key's webhook and waits for the answer. It takes no body; one that
// is there must be an object, as everywhere.
func testWebhook(c onlineCall) *refusal.Refusal {
	body, err := c.body()
	if err != nil {
		return err
	}
	var object map[string]any
	if len(body) > 0 && (json.Unmarshal(body, &object) != nil || object == nil) {
		return refusal.Of(refusal.BadRequest)
	}
	if c.key.WebhookURL == "" {
		return refusal.Of(refusal.NoWebhook)
	}
	m := c.ping()
	result := c.s.outbox.Ping(c.r.Context(), webhooks.Endpoint{URL: c.key.WebhookURL, Secret: c.key.WebhookSecret}, m)
	out := types.WebhookTest{OK: result.OK(), EventID: &m.ID}
	if result.Status != 0 {
		out.HTTPStatus = &result.Status
	}
	switch {
	case result.Err != nil: // not why: an address within is nobody's business
		out.Error = units.TextOrNull("Adresa nu a răspuns în 10 secunde.")
	case !result.OK():
		out.Error = units.TextOrNull(fmt.Sprintf("Adresa a răspuns cu %d.", result.Status))
	}
	c.addJSON(out)
	return nil
}

// ping is an event of its own each time.
func (c onlineCall) ping() webhooks.Message {
	at := types.Instant(units.Precision(time.Millisecond).Text(c.now))
	event := types.WebhookEvent[types.PingData]{
		ID: webhooks.EventID(seeded.Hash(c.key.AppID), c.now, int(c.s.pings.Add(1))), Type: "ping", CreatedAt: at, Test: c.key.Mode == "test",
		Data: types.PingData{App: types.App{ID: c.key.AppID, Name: c.key.Name, Mode: c.key.Mode}, Message: "Test webhook."},
	}
	return webhooks.Message{ID: event.ID, Type: event.Type, Body: units.JSON(event)}
}
