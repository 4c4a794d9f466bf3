package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
)

// The states of a key.
const (
	KeyActive   = "active"
	KeyDisabled = "disabled" // 403 api_key_disabled
	KeyDeleted  = "deleted"  // 401 unauthorized
)

// The keys that every restaurant gets, by Role.
const (
	RoleMain     = "main"     // live, every scope, every location
	RoleTest     = "test"     // in test mode, every read scope, every location
	RoleLimited  = "limited"  // live, the first location only
	RoleSales    = "sales"    // live, sales:read only
	RoleOrders   = "orders"   // live, orders:write only
	RoleDisabled = "disabled" // disabled by the restaurant
	// RoleOrdersTest is orders:write in test mode. Not made by itself: it would change
	// what keys of a seed come after it. OrdersTestKey makes one.
	RoleOrdersTest = "orders_test"
)

// Key is an API key with what it may do. Change one with UpdateKey.
type Key struct {
	Value        string         `json:"value"`
	Role         string         `json:"role"`
	AppID        string         `json:"app_id"`
	Name         string         `json:"name"`
	Mode         string         `json:"mode"` // live or test
	State        string         `json:"state"`
	Business     int            `json:"business"` // for Sandbox.Business
	BusinessID   string         `json:"business_id"`
	BusinessName string         `json:"business_name"`
	Scopes       []string       `json:"scopes"`
	AllLocations bool           `json:"all_locations"`
	LocationIDs  []string       `json:"location_ids"` // with AllLocations false
	Limits       api.RateLimits `json:"limits"`
	WebhookURL   string         `json:"webhook_url"`
	// WebhookSecret signs the events of the key's orders.
	WebhookSecret string `json:"webhook_secret"`
	// OrderingOff answers the key's ordering routes with 403 api_disabled, as
	// Restaurant.SwitchOrdering does for all keys.
	OrderingOff bool `json:"ordering_off"`
}

// app is a key as the service keeps it; its values change when it is
// regenerated, and its counters do not.
type app struct {
	Key
	perKey limiter
	heavy  limiter
	orders limiter
}

// keyring finds the app of a key value.
type keyring struct {
	apps   []*app
	values map[string]keyValue
}

type keyValue struct {
	app     *app
	expires int64 // 0 = never; an old value after regeneration
}

var readScopes = []string{api.ScopeLocations, api.ScopeMenu, api.ScopeSales, api.ScopeStock}

func (s *Sandbox) makeKeys(business int) {
	first := s.Restaurant(business).LocationIDs()
	first = first[:min(1, len(first))]
	for _, k := range []Key{
		{Role: RoleMain, Scopes: slices.Concat(readScopes, []string{api.ScopeOrders}), AllLocations: true},
		{Role: RoleTest, Mode: "test", Scopes: readScopes, AllLocations: true},
		{Role: RoleLimited, Scopes: readScopes, LocationIDs: first},
		{Role: RoleSales, Scopes: []string{api.ScopeSales}, AllLocations: true},
		{Role: RoleOrders, Scopes: []string{api.ScopeOrders}, AllLocations: true},
		{Role: RoleDisabled, Scopes: readScopes, AllLocations: true, State: KeyDisabled},
	} {
		k.Business = business
		s.AddKey(k)
	}
}

// AddKey makes a key. Empty fields take defaults: live, active, a value and an
// id of its own, the limits of Options.
func (s *Sandbox) AddKey(k Key) Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.Business(k.Business)
	g := seeded.New(b.Seed(), 9, uint64(len(s.keys.apps)))
	k.Mode = cmp.Or(k.Mode, "live")
	k.State = cmp.Or(k.State, KeyActive)
	k.AppID = cmp.Or(k.AppID, "app_"+seeded.Base32(g.Next(), 13))
	k.Role = cmp.Or(k.Role, "extra")
	k.Name = cmp.Or(k.Name, "Cheie "+k.Role)
	k.Limits = cmp.Or(k.Limits, s.opts.Limits)
	if k.Value == "" {
		k.Value = keyText(k.Mode, &g)
	}
	k.WebhookSecret = cmp.Or(k.WebhookSecret, webhooks.Secret(b.Seed()^seeded.Hash(k.AppID)))
	k.BusinessID, k.BusinessName = b.ID(), b.Name()
	a := &app{Key: k, perKey: newLimiter(s.opts.Algorithm), heavy: newLimiter(s.opts.Algorithm), orders: newLimiter(s.opts.Algorithm)}
	s.keys.apps = append(s.keys.apps, a)
	if s.keys.values == nil {
		s.keys.values = map[string]keyValue{}
	}
	s.keys.values[k.Value] = keyValue{app: a}
	return k
}

// OrdersTestKey adds a key whose orders are test orders.
func (s *Sandbox) OrdersTestKey(business int) Key {
	return s.AddKey(Key{Role: RoleOrdersTest, Mode: "test", Business: business, Scopes: []string{api.ScopeOrders}, AllLocations: true})
}

// keyText is a key value with the prefix of its mode (api.md, "Authentication" 2).
func keyText(mode string, g *seeded.RNG) string {
	return fmt.Sprintf("svc_%s_%016x%016x", mode, g.Next(), g.Next())
}

// Keys are all keys, in order of restaurant.
func (s *Sandbox) Keys() []Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := make([]Key, len(s.keys.apps))
	for i, a := range s.keys.apps {
		keys[i] = a.clone()
	}
	return keys
}

func (a *app) clone() Key {
	k := a.Key
	k.Scopes = slices.Clone(k.Scopes)
	k.LocationIDs = slices.Clone(k.LocationIDs)
	return k
}

// Key is the key of a restaurant with a role; it panics when there is none.
func (s *Sandbox) Key(business int, role string) Key {
	for _, k := range s.Keys() {
		if k.Business == business && k.Role == role {
			return k
		}
	}
	panic(fmt.Sprintf("sandbox: business %d has no key %q", business, role))
}

// UpdateKey changes scopes, locations, limits, mode, name or state of a key.
// Its value changes with RotateKey only.
func (s *Sandbox) UpdateKey(value string, change func(*Key)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.keys.values[value]
	if !ok {
		return fmt.Errorf("update key: no such key")
	}
	k := v.app.clone()
	change(&k)
	k.Value, k.Business, k.BusinessID, k.BusinessName = v.app.Value, v.app.Business, v.app.BusinessID, v.app.BusinessName
	v.app.Key = k
	return nil
}

// RotateKey regenerates a key; the old value stays valid for the overlap (the
// service may keep it for 24 hours).
func (s *Sandbox) RotateKey(value string, overlap time.Duration) (Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.keys.values[value]
	if !ok || v.expires != 0 {
		return Key{}, fmt.Errorf("rotate key: no such key, or rotated before")
	}
	v.expires = s.opts.Now().Add(overlap).UnixMicro()
	s.keys.values[value] = v
	g := seeded.New(seeded.Hash(value), uint64(len(s.keys.values)))
	v.app.Value = keyText(v.app.Mode, &g)
	s.keys.values[v.app.Value] = keyValue{app: v.app}
	return v.app.clone(), nil
}

// find is the app of a value that is valid now, nil for a wrong or deleted key.
func (r *keyring) find(value string, now int64) *app {
	v, ok := r.values[value]
	if !ok || v.expires != 0 && now >= v.expires || v.app.State == KeyDeleted {
		return nil
	}
	return v.app
}
