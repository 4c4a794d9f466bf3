package types

// OrderableMenu is what can be ordered online at one location (docs/openapi.yaml, Menu).
type OrderableMenu struct {
	LocationID string         `json:"location_id" row:"id"`
	Currency   string         `json:"currency" enum:"RON"`
	UpdatedAt  *Instant       `json:"updated_at"`
	Categories []MenuCategory `json:"categories"`
}

// MenuCategory is a category with the products that are offered online.
type MenuCategory struct {
	ID       string        `json:"id"`
	Name     string        `json:"name"`
	ImageURL *string       `json:"image_url"`
	Position int64         `json:"position"`
	Products []MenuProduct `json:"products"`
}

// MenuProduct is a product at its online price: of one unit without extras, of the
// cheapest variant where there are some.
type MenuProduct struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description *string       `json:"description"`
	ImageURL    *string       `json:"image_url"`
	Price       Money         `json:"price"`
	VATRate     *Number       `json:"vat_rate"`
	Available   bool          `json:"available"`
	Allergens   []Allergen    `json:"allergens"`
	Diets       []string      `json:"diets"`
	Calories    int64         `json:"calories"` // 0: not set
	PrepMinutes *int64        `json:"prep_minutes"`
	Deposit     *Money        `json:"deposit"`
	Variants    []MenuVariant `json:"variants"`
	ExtraGroups []ExtraGroup  `json:"extra_groups"`
	Position    int64         `json:"position"`
}

// MenuVariant is a variant with its absolute price.
type MenuVariant struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Price Money  `json:"price"`
}

// OnlineOrder is an order placed through a key (docs/openapi.yaml, Order). Its customer is always there
// in the API; what is kept of it is the client's Options.Keep to say.
type OnlineOrder struct {
	ID               string             `json:"id" row:"id"`
	ExternalID       string             `json:"external_id"`
	Number           *string            `json:"number"`
	PickupCode       *string            `json:"pickup_code"`
	Status           string             `json:"status" enum:"received,accepted,ready,completed,rejected,cancelled"`
	Test             bool               `json:"test"`
	Type             string             `json:"type" enum:"pickup,delivery"`
	LocationID       string             `json:"location_id"`
	ScheduledFor     *Instant           `json:"scheduled_for"`
	PlacedAt         *Instant           `json:"placed_at"`
	AnswerBy         *Instant           `json:"answer_by"`
	AcceptedAt       *Instant           `json:"accepted_at"`
	EstimatedReadyAt *Instant           `json:"estimated_ready_at"`
	ReadyAt          *Instant           `json:"ready_at"`
	CompletedAt      *Instant           `json:"completed_at"`
	RejectedAt       *Instant           `json:"rejected_at"`
	CancelledAt      *Instant           `json:"cancelled_at"`
	Rejection        *OrderRejection    `json:"rejection"`
	Cancellation     *OrderCancellation `json:"cancellation"`
	Customer         *OrderCustomer     `json:"customer"`
	CustomerKey      *string            `json:"customer_key,omitempty"` // ours, not the API's: see Options.Keep of the client
	Delivery         *OrderDelivery     `json:"delivery"`
	Notes            *string            `json:"notes"`
	Allergies        *string            `json:"allergies"`
	Cutlery          *bool              `json:"cutlery"`
	Items            []OnlineItem       `json:"items"`
	Totals           OnlineTotals       `json:"totals"`
	Payment          OnlinePayment      `json:"payment"`
	CreatedAt        Instant            `json:"created_at"`
	UpdatedAt        Instant            `json:"updated_at"`
}

// OrderRejection is why the restaurant did not take an order.
type OrderRejection struct {
	Code    string  `json:"code" enum:"items_unavailable,closing_soon,no_response,other"`
	Message *string `json:"message"`
}

// OrderCancellation is who cancelled an order.
type OrderCancellation struct {
	By     string  `json:"by" enum:"customer,restaurant"`
	Reason *string `json:"reason"`
}

// OrderCustomer is who ordered.
type OrderCustomer struct {
	Name  string  `json:"name"`
	Phone string  `json:"phone"`
	Email *string `json:"email"`
}

// OrderDelivery is where an order is brought. Its address is always there in the API; of
// what is kept of it, only with an Options.Keep that keeps all.
type OrderDelivery struct {
	Address *string `json:"address"`
	City    *string `json:"city"`
	Notes   *string `json:"notes"`
	Lat     *Number `json:"lat"`
	Lng     *Number `json:"lng"`
}

// OnlineItem is one line of an online order: Total is without Deposit.
type OnlineItem struct {
	ProductID   string         `json:"product_id"`
	VariantID   *string        `json:"variant_id"`
	Name        string         `json:"name"`
	VariantName *string        `json:"variant_name"`
	Quantity    int64          `json:"quantity"`
	UnitPrice   Money          `json:"unit_price"`
	Options     []OnlineOption `json:"options"`
	Notes       *string        `json:"notes"`
	Deposit     Money          `json:"deposit"`
	Total       Money          `json:"total"`
}

// OnlineOption is an option of a line; Quantity is per unit of the product.
type OnlineOption struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Quantity  int64  `json:"quantity"`
	UnitPrice Money  `json:"unit_price"`
}

// OnlineTotals are the totals of an online order: Total = Items + Deposit + Tip.
type OnlineTotals struct {
	Items   Money `json:"items"`
	Deposit Money `json:"deposit"`
	Tip     Money `json:"tip"`
	Total   Money `json:"total"`
}

// OnlinePayment says how an order is paid, and whether that has happened.
type OnlinePayment struct {
	Status    string  `json:"status" enum:"paid,unpaid"`
	Method    *string `json:"method"`
	Reference *string `json:"reference"`
}

// WebhookEvent is the body of a webhook (docs/openapi.yaml, webhooks): Data is [OrderData] or
// [PingData], by Type.
type WebhookEvent[Data any] struct {
	ID        string  `json:"id"`
	Type      string  `json:"type" enum:"order.accepted,order.rejected,order.ready,order.completed,order.cancelled,ping"`
	CreatedAt Instant `json:"created_at"`
	Test      bool    `json:"test"`
	Data      Data    `json:"data"`
}

// OrderData is what an event of an order carries: the order as GET /orders/{id} has it.
type OrderData struct {
	Order OnlineOrder `json:"order"`
}

// PingData is what a ping carries.
type PingData struct {
	App     App    `json:"app"`
	Message string `json:"message"`
}

// WebhookTest is what came of POST /webhooks/test.
type WebhookTest struct {
	OK         bool    `json:"ok"`
	HTTPStatus *int    `json:"http_status"`
	Error      *string `json:"error"`
	EventID    *string `json:"event_id"`
}
