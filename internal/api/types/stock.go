package types

// Ingredient is the stock of one ingredient in one location (docs/openapi.yaml, Ingredient).
type Ingredient struct {
	ID         string     `json:"id" row:"id"`
	LocationID string     `json:"location_id"`
	Name       string     `json:"name"`
	Deleted    bool       `json:"deleted" column:"-"`
	Unit       string     `json:"unit" enum:"kg,g,l,ml,buc,portie"`
	Stock      Quantity   `json:"stock"`
	MinStock   Quantity   `json:"min_stock"`
	BelowMin   bool       `json:"below_min"`
	Category   *Named     `json:"category"`
	Warehouse  *Named     `json:"warehouse"`
	SKU        *string    `json:"sku"`
	Barcode    *string    `json:"barcode"`
	IsPrepared bool       `json:"is_prepared"`
	Allergens  []Allergen `json:"allergens"`
	CreatedAt  *Instant   `json:"created_at"`
	UpdatedAt  *Instant   `json:"updated_at"`
}

// Named is a reference to something with a name.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}
