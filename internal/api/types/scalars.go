package types

import "encoding/json"

// The scalar kinds of docs/openapi.yaml, Values. All keep the text that the service
// sent: nothing is parsed through a float, and nothing is rounded.
type (
	// Money is a decimal string in RON with exactly two decimals, maybe negative.
	Money string
	// Quantity is a decimal string with a fractional part.
	Quantity string
	// Number is the literal of a JSON number (percentages).
	Number = json.Number
	// Instant is an ISO 8601 instant in UTC.
	Instant string
	// Date is a calendar day in Europe/Bucharest, YYYY-MM-DD.
	Date string
)

// Currency is the currency of all amounts.
const Currency = "RON"

// Tombstone is a row deleted in the service (docs/openapi.yaml, Tombstone).
type Tombstone struct {
	ID        string   `json:"id"`
	Deleted   bool     `json:"deleted"` // always true
	DeletedAt *Instant `json:"deleted_at"`
	UpdatedAt *Instant `json:"updated_at"`
	// Reason is set on sales orders only.
	Reason string `json:"reason,omitempty" enum:"deleted,cancelled,unpaid"`
}

// Me is the key (docs/openapi.yaml, Me).
type Me struct {
	App          App        `json:"app"`
	Business     Business   `json:"business"`
	Scopes       []string   `json:"scopes" enum:"locations:read,menu:read,sales:read,stock:read,orders:write"`
	LocationIDs  []string   `json:"location_ids"`
	AllLocations bool       `json:"all_locations"`
	RateLimits   RateLimits `json:"rate_limits"`
	Webhook      Webhook    `json:"webhook"`
}

// App is the key's own identity.
type App struct {
	ID   string `json:"id" row:"id"`
	Name string `json:"name"`
	Mode string `json:"mode" enum:"test,live"`
}

// Business is the restaurant that the key belongs to.
type Business struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// RateLimits are the limits of the key, in requests a minute (docs/openapi.yaml, Limits a minute).
type RateLimits struct {
	PerMinute         int `json:"per_minute"`
	BusinessPerMinute int `json:"business_per_minute"`
	HeavyPerMinute    int `json:"heavy_per_minute"`
	OrdersPerMinute   int `json:"orders_per_minute"`
}

// Webhook is whether order events are sent, and where to.
type Webhook struct {
	URL        *string `json:"url"`
	Configured bool    `json:"configured"`
}

// Scopes of a key (docs/openapi.yaml, Keys).
const (
	ScopeLocations = "locations:read"
	ScopeMenu      = "menu:read"
	ScopeSales     = "sales:read"
	ScopeStock     = "stock:read"
	ScopeOrders    = "orders:write"
)
