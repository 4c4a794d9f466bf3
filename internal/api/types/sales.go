package types

// Breakdown is the sales of a day or of a period (docs/openapi.yaml, Breakdown).
// Its three maps may gain keys.
type Breakdown struct {
	Orders       int64            `json:"orders"`
	NetSales     Money            `json:"net_sales"`
	Items        Money            `json:"items"`
	Discounts    Money            `json:"discounts"`
	DeliveryFees Money            `json:"delivery_fees"`
	Tips         Money            `json:"tips"`
	Deposits     Money            `json:"deposits"`
	Refunds      Money            `json:"refunds"`
	Payments     map[string]Money `json:"payments" enum:"cash,card,card_at_counter,online,voucher,protocol,other"`
	ByType       map[string]Money `json:"by_type" enum:"dine_in,takeaway,delivery"`
	ByChannel    map[string]Money `json:"by_channel" enum:"pos,platform_a,platform_b,direct"`
}

// SalesDay is one calendar day of GET /sales/daily.
type SalesDay struct {
	Date Date `json:"date"`
	Breakdown
}

// ProductSales is one row of GET /sales/products. Date is set with
// group_by=day only; ProductID is null for lines with no catalogue product, one
// row per line name.
type ProductSales struct {
	Date          *Date     `json:"date,omitempty" column:"required"`
	ProductID     *string   `json:"product_id"`
	Name          string    `json:"name"`
	CategoryID    *string   `json:"category_id"`
	Quantity      Quantity  `json:"quantity"`
	WeightKg      *Quantity `json:"weight_kg"`
	Gross         Money     `json:"gross"`
	LineDiscounts Money     `json:"line_discounts"`
	Net           Money     `json:"net"`
}

// SalesOrder is a paid order that is not cancelled (docs/openapi.yaml, SalesOrder).
type SalesOrder struct {
	ID          string      `json:"id" row:"id"`
	Deleted     bool        `json:"deleted" column:"-"`
	Number      *string     `json:"number"`
	LocationID  string      `json:"location_id"`
	Channel     string      `json:"channel" enum:"pos,platform_a,platform_b,direct"`
	Type        string      `json:"type" enum:"dine_in,takeaway,delivery"`
	TableID     *string     `json:"table_id"`
	BusinessDay Date        `json:"business_day"`
	CreatedAt   Instant     `json:"created_at"`
	UpdatedAt   Instant     `json:"updated_at"`
	PaidAt      *Instant    `json:"paid_at"`
	Items       []SalesItem `json:"items"`
	Totals      SalesTotals `json:"totals"`
	Payments    []Payment   `json:"payments"`
	Refunds     []Refund    `json:"refunds"`
}

// SalesItem is one line of a sales order.
type SalesItem struct {
	ID              string       `json:"id"`
	ProductID       *string      `json:"product_id"`
	Name            string       `json:"name"`
	VariantID       *string      `json:"variant_id"`
	VariantName     *string      `json:"variant_name"`
	Quantity        Quantity     `json:"quantity"`
	WeightKg        *Quantity    `json:"weight_kg"`
	PricePerKg      *Money       `json:"price_per_kg"`
	UnitPrice       Money        `json:"unit_price"`
	Extras          []SalesExtra `json:"extras"`
	DiscountPercent Number       `json:"discount_percent"`
	VATRate         *Number      `json:"vat_rate"`
	Total           Money        `json:"total"`
}

// SalesExtra is an extra of a line; Price is per unit.
type SalesExtra struct {
	Name  string `json:"name"`
	Price Money  `json:"price"`
}

// SalesTotals are the totals of one order: NetSales = Total - Tip - Deposit.
type SalesTotals struct {
	Items       Money `json:"items"`
	Discount    Money `json:"discount"`
	DeliveryFee Money `json:"delivery_fee"`
	Tip         Money `json:"tip"`
	Deposit     Money `json:"deposit"`
	Total       Money `json:"total"`
	NetSales    Money `json:"net_sales"`
}

// Payment is one payment of an order.
type Payment struct {
	Method string  `json:"method" enum:"cash,card,card_at_counter,online,voucher,protocol,other"`
	Amount Money   `json:"amount"`
	At     Instant `json:"at"`
}

// Refund is one refund, reported on the Bucharest day of At.
type Refund struct {
	Amount Money   `json:"amount"`
	Method string  `json:"method"`
	At     Instant `json:"at"`
	ItemID *string `json:"item_id"`
}
