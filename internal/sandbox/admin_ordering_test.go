package sandbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
)

// Another process moves orders, switches ordering, and sees what became of webhooks.
func TestAdminOfOrders(t *testing.T) {
	s, _ := hooked(t, Options{})
	o := s.placed()
	for _, c := range []struct {
		uri, body string
		status    int
	}{
		{"/orders", `{"action":"accept","ids":["` + o.ID + `"],"ready_in":1800}`, 200},
		{"/orders", `{"action":"accept","ids":["` + o.ID + `"]}`, 400},
		{"/orders", `{"action":"ready","ids":["none"]}`, 400},
		{"/orders", `{"business":4,"action":"ready"}`, 400},
		{"/ordering", `{"business":4}`, 400},
		{"/ordering", `{"types":["pickup"]}`, 400},
		{"/ordering", `{"location":"none","on":false}`, 400},
		{"/ordering", fmt.Sprintf(`{"location":%q,"types":["delivery"],"pause_for":600,"on":true}`, s.location), 200},
		{"/ordering", `{"on":false}`, 200},
		{"/keys", fmt.Sprintf(`{"value":%q,"webhook_url":"","ordering_off":true}`, s.Key(0, RoleMain).Value), 200},
	} {
		w := s.admin("POST", c.uri, c.body)
		if w.Code != c.status {
			t.Errorf("%s %s: %d %s", c.uri, c.body, w.Code, w.Body)
		}
		if strings.Contains(c.body, "1800") {
			var moved []types.OnlineOrder
			if err := json.Unmarshal(w.Body.Bytes(), &moved); err != nil || moved[0].Status != "accepted" || *moved[0].EstimatedReadyAt != "2026-03-20T10:30:00.000Z" {
				t.Errorf("%v %s", err, w.Body)
			}
		}
	}
	s.details(s.get("/orders/"+o.ID), 403, "api_disabled")
	s.Restaurant(0).SwitchOrdering(true)
	if l := ok[types.Location](s.harness, "/locations/"+s.location).Ordering; l.Status != "paused" || *l.PausedUntil != "2026-03-20T10:10:00.000Z" || len(l.Types) != 1 {
		t.Errorf("ordering %+v", l)
	}
	s.wait(0)
	var sent []webhooks.Delivery
	if err := json.Unmarshal(s.admin("GET", "/webhooks", "").Body.Bytes(), &sent); err != nil || len(sent) != 1 || sent[0].Type != "order.accepted" || sent[0].State != "delivered" {
		t.Errorf("%v %+v", err, sent)
	}
	if k := s.Key(0, RoleMain); !k.OrderingOff {
		t.Errorf("key %+v", k)
	}
}
