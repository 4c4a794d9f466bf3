package sandbox

// OrderSpec asks for an order; empty fields are left to chance.
type OrderSpec struct {
	Location string // id; default the first
	Channel  string
	Type     string
	Items    int
}
