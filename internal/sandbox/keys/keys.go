// Package keys is who may ask the sandbox, and how often: API keys with what they may do, and
// the limits that requests count toward.
//
// Contents: keys, their values, and limits.
package keys

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/webhooks"
)

// The states of a key.
const (
	Active   = "active"
	Disabled = "disabled" // 403 api_key_disabled
	Deleted  = "deleted"  // 401 unauthorized
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
	Value        string           `json:"value"`
	Role         string           `json:"role"`
	AppID        string           `json:"app_id"`
	Name         string           `json:"name"`
	Mode         string           `json:"mode"` // live or test
	State        string           `json:"state"`
	Business     int              `json:"business"` // for Sandbox.Business
	BusinessID   string           `json:"business_id"`
	BusinessName string           `json:"business_name"`
	Scopes       []string         `json:"scopes"`
	AllLocations bool             `json:"all_locations"`
	LocationIDs  []string         `json:"location_ids"` // with AllLocations false
	Limits       types.RateLimits `json:"limits"`
	WebhookURL   string           `json:"webhook_url"`
	// WebhookSecret signs the events of the key's orders.
	WebhookSecret string `json:"webhook_secret"`
	// OrderingOff answers the key's ordering routes with 403 api_disabled, as
	// Restaurant.SwitchOrdering does for all keys.
	OrderingOff bool `json:"ordering_off"`
}

// Business is what a ring has to know of a restaurant.
type Business interface {
	ID() string
	Name() string
	Seed() uint64
}

// Ring is the keys of all restaurants. Its methods may be called from many goroutines.
type Ring struct {
	businesses []Business
	limits     Limits
	now        func() time.Time

	mu     sync.Mutex // guards what follows
	apps   []*app
	values map[string]keyValue
	counts counts
}

// app is a key as the service keeps it; its values change when it is
// regenerated, and its counters do not.
type app struct {
	Key
	limiters [kinds]limiter
}

type keyValue struct {
	app     *app
	expires int64 // 0 = never; an old value after regeneration
}

var readScopes = []string{types.ScopeLocations, types.ScopeMenu, types.ScopeSales, types.ScopeStock}

// New makes the ring of restaurants, empty.
func New(businesses []Business, l Limits, now func() time.Time) *Ring {
	return &Ring{businesses: businesses, limits: l, now: now, values: map[string]keyValue{}, counts: newCounts(l, len(businesses))}
}

// AddUsual makes the keys that every restaurant gets; it has these locations.
func (r *Ring) AddUsual(business int, locationIDs []string) {
	first := locationIDs[:min(1, len(locationIDs))]
	for _, k := range []Key{
		{Role: RoleMain, Scopes: slices.Concat(readScopes, []string{types.ScopeOrders}), AllLocations: true},
		{Role: RoleTest, Mode: "test", Scopes: readScopes, AllLocations: true},
		{Role: RoleLimited, Scopes: readScopes, LocationIDs: first},
		{Role: RoleSales, Scopes: []string{types.ScopeSales}, AllLocations: true},
		{Role: RoleOrders, Scopes: []string{types.ScopeOrders}, AllLocations: true},
		{Role: RoleDisabled, Scopes: readScopes, AllLocations: true, State: Disabled},
	} {
		k.Business = business
		r.AddKey(k)
	}
}

// AddKey makes a key. Empty fields take defaults: live, active, a value and an
// id of its own, the limits of the ring.
func (r *Ring) AddKey(k Key) Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.businesses[k.Business]
	g := seeded.New(b.Seed(), 9, uint64(len(r.apps)))
	k.Mode = cmp.Or(k.Mode, "live")
	k.State = cmp.Or(k.State, Active)
	k.AppID = cmp.Or(k.AppID, "app_"+seeded.Base32(g.Next(), 13))
	k.Role = cmp.Or(k.Role, "extra")
	k.Name = cmp.Or(k.Name, "Cheie "+k.Role)
	k.Limits = cmp.Or(k.Limits, r.limits.PerKey)
	if k.Value == "" {
		k.Value = keyText(k.Mode, &g)
	}
	k.WebhookSecret = cmp.Or(k.WebhookSecret, webhooks.Secret(b.Seed()^seeded.Hash(k.AppID)))
	k.BusinessID, k.BusinessName = b.ID(), b.Name()
	a := &app{Key: k, limiters: r.limits.limiters()}
	r.apps = append(r.apps, a)
	r.values[k.Value] = keyValue{app: a}
	return k
}

// OrdersTestKey adds a key whose orders are test orders.
func (r *Ring) OrdersTestKey(business int) Key {
	return r.AddKey(Key{Role: RoleOrdersTest, Mode: "test", Business: business, Scopes: []string{types.ScopeOrders}, AllLocations: true})
}

// keyText is a key value with the prefix of its mode (docs/openapi.yaml, Keys).
func keyText(mode string, g *seeded.RNG) string {
	return fmt.Sprintf("svc_%s_%016x%016x", mode, g.Next(), g.Next())
}

// Keys are all keys, in order of restaurant.
func (r *Ring) Keys() []Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]Key, len(r.apps))
	for i, a := range r.apps {
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
func (r *Ring) Key(business int, role string) Key {
	for _, k := range r.Keys() {
		if k.Business == business && k.Role == role {
			return k
		}
	}
	panic(fmt.Sprintf("sandbox: business %d has no key %q", business, role))
}

// UpdateKey changes scopes, locations, limits, mode, name or state of a key.
// Its value changes with RotateKey only.
func (r *Ring) UpdateKey(value string, change func(*Key)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.values[value]
	if !ok {
		return errors.New("update key: no such key")
	}
	k := v.app.clone()
	change(&k)
	k.Value, k.Business, k.BusinessID, k.BusinessName = v.app.Value, v.app.Business, v.app.BusinessID, v.app.BusinessName
	v.app.Key = k
	return nil
}

// RotateKey regenerates a key; the old value stays valid for the overlap (the
// service may keep it for 24 hours).
func (r *Ring) RotateKey(value string, overlap time.Duration) (Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.values[value]
	if !ok || v.expires != 0 {
		return Key{}, errors.New("rotate key: no such key, or rotated before")
	}
	v.expires = r.now().Add(overlap).UnixMicro()
	r.values[value] = v
	g := seeded.New(seeded.Hash(value), uint64(len(r.values)))
	v.app.Value = keyText(v.app.Mode, &g)
	r.values[v.app.Value] = keyValue{app: v.app}
	return v.app.clone(), nil
}

// find is the app of a value that is valid now, nil for a wrong or deleted key.
func (r *Ring) find(value string, now int64) *app {
	v, ok := r.values[value]
	if !ok || v.expires != 0 && now >= v.expires || v.app.State == Deleted {
		return nil
	}
	return v.app
}

// Valid is the key of a value that is valid now.
func (r *Ring) Valid(value string, now int64) (Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.find(value, now)
	if a == nil {
		return Key{}, false
	}
	return a.Key, true
}

// OfApp is the key with an AppID.
func (r *Ring) OfApp(id string) (Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.apps {
		if a.AppID == id {
			return a.clone(), true
		}
	}
	return Key{}, false
}
