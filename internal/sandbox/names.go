package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/keys"
	"github.com/larder-sync/larder/internal/sandbox/readings"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

type (
	// Key is an API key with what it may do.
	Key = keys.Key
	// Readings choose between readings that the API's description leaves open.
	Readings = readings.Readings
	// Restaurant changes one restaurant.
	Restaurant = world.Restaurant
	// OrderSpec says what an order is made of.
	OrderSpec = sales.OrderSpec
	// ProductChange says what changes of a product.
	ProductChange = catalogue.ProductChange
	// TruthRow is a row that a mirror must hold.
	TruthRow = rows.TruthRow
	// Stamp is when a row was last changed.
	Stamp = rows.Stamp
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
	ReasonGone        = rows.ReasonGone
	ReasonUnpaid      = rows.ReasonUnpaid
	MaxStampDelay     = readings.MaxStampDelay
	ZoneName          = units.ZoneName
)

// What callers name of the keys.
const (
	KeyActive           = keys.Active
	KeyDisabled         = keys.Disabled
	KeyDeleted          = keys.Deleted
	RoleMain            = keys.RoleMain
	RoleTest            = keys.RoleTest
	RoleLimited         = keys.RoleLimited
	RoleSales           = keys.RoleSales
	RoleOrders          = keys.RoleOrders
	RoleDisabled        = keys.RoleDisabled
	AlgorithmFixed      = keys.AlgorithmFixed
	AlgorithmFixedFirst = keys.AlgorithmFixedFirst
	AlgorithmSliding    = keys.AlgorithmSliding
	AlgorithmBucket     = keys.AlgorithmBucket
)
