package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
)

type (
	// Readings choose between readings that api.md leaves open.
	Readings = world.Readings
	// Restaurant changes one restaurant.
	Restaurant = world.Restaurant
	// OrderSpec says what an order is made of.
	OrderSpec = world.OrderSpec
	// ProductChange says what changes of a product.
	ProductChange = world.ProductChange
	// TruthRow is a row that a mirror must hold.
	TruthRow = world.TruthRow
	// Stamp is when a row was last changed.
	Stamp = world.Stamp
)

// The streams of ordering, as Truth knows them.
const (
	StreamMenus        = "menus"         // by location id
	StreamOnlineOrders = "online_orders" // placed through the key
)

// What callers name of the world: streams, and the rest of package world's constants.
const (
	StreamLocations   = world.StreamLocations
	StreamAllergens   = world.StreamAllergens
	StreamCategories  = world.StreamCategories
	StreamProducts    = world.StreamProducts
	StreamIngredients = world.StreamIngredients
	StreamSalesOrders = world.StreamSalesOrders
	ReasonGone        = world.ReasonGone
	MaxStampDelay     = world.MaxStampDelay
	ZoneName          = units.ZoneName
)
