package types

// Allergen is an entry of the restaurant's allergen catalogue (docs/openapi.yaml, Allergen).
type Allergen struct {
	Code string `json:"code" row:"id"`
	Name string `json:"name"`
}

// Category is a menu category (docs/openapi.yaml, Category). A null LocationID is shared
// by every location.
type Category struct {
	ID         string   `json:"id" row:"id"`
	Deleted    bool     `json:"deleted" column:"-"`
	LocationID *string  `json:"location_id"`
	Name       string   `json:"name"`
	ImageURL   *string  `json:"image_url"`
	Position   int64    `json:"position"`
	CreatedAt  *Instant `json:"created_at"`
	UpdatedAt  *Instant `json:"updated_at"`
}

// Product is a product of one location, offered online or not (docs/openapi.yaml, Product).
type Product struct {
	ID          string             `json:"id" row:"id"`
	Deleted     bool               `json:"deleted" column:"-"`
	LocationID  string             `json:"location_id"`
	CategoryID  *string            `json:"category_id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	ImageURL    *string            `json:"image_url"`
	Price       Money              `json:"price"`
	Unit        string             `json:"unit" enum:"piece,kg"`
	VATRate     *Number            `json:"vat_rate"`
	Deposit     *Money             `json:"deposit"`
	Available   bool               `json:"available"`
	Allergens   []Allergen         `json:"allergens"`
	Diets       []string           `json:"diets"`
	Calories    *int64             `json:"calories"`
	PrepMinutes *int64             `json:"prep_minutes"`
	Station     string             `json:"station"`
	Channels    map[string]Channel `json:"channels" enum:"online,platform_a,platform_b"`
	Variants    []Variant          `json:"variants"`
	ExtraGroups []ExtraGroup       `json:"extra_groups"`
	Position    int64              `json:"position"`
	CreatedAt   *Instant           `json:"created_at"`
	UpdatedAt   *Instant           `json:"updated_at"`
}

// Channel is the switch and the price of a product on one sales channel.
type Channel struct {
	Enabled bool  `json:"enabled"`
	Price   Money `json:"price"`
}

// Variant is one of the forms a product is sold in; its id changes when renamed.
type Variant struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Price      Money  `json:"price"`
	PriceDelta Money  `json:"price_delta"`
}

// ExtraGroup is a group of options; a null Max is no limit.
type ExtraGroup struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	Min      int64         `json:"min"`
	Max      *int64        `json:"max"`
	Required bool          `json:"required"`
	Options  []ExtraOption `json:"options"`
}

// ExtraOption is an option; Price is added per unit of the product.
type ExtraOption struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Price Money  `json:"price"`
}
