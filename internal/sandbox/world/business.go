package world

import (
	"fmt"
	"sync"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/locations"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
	"github.com/larder-sync/larder/internal/sandbox/world/stock"
)

// Business is one restaurant: its rows, and what moves it in time.
type Business struct {
	id, name string
	common   rows.Common

	mu        sync.RWMutex // guards what follows, all of it at once
	locations *locations.List
	catalogue *catalogue.Catalogue
	stock     *stock.Stock
	sales     *sales.Orders
	timeline  *timeline
}

// ID is the restaurant's id.
func (b *Business) ID() string { return b.id }

// Name is the restaurant's name.
func (b *Business) Name() string { return b.name }

// Seed is that of everything about the restaurant.
func (b *Business) Seed() uint64 { return b.common.Seed }

var restaurantNames = []string{"Hanu’ Vechi", "La Ceaun", "Casa Bucovineană", "Vatra Noastră", "Terasa Teilor", "Bistro Lipscani", "Cuptorul cu Lemne", "La Conu’ Mișu", "Crama Domnească", "Grădina cu Nuci", "Poarta Sibiului", "Moara de Piatră", "Cerdacul", "La Doi Cocoși", "Ograda", "Mahalaua Veche"}

func newBusiness(o *Options, cal *units.Calendar, index int) *Business {
	seed := seeded.New(uint64(o.Seed), uint64(index)).S
	idSeed := seed
	if o.Readings.SharedIDs {
		idSeed = uint64(o.Seed)
	}
	precision := o.Precision()
	b := &Business{id: "biz_" + seeded.Base32(seeded.New(seed, 2).S, 13), name: restaurantNames[index%len(restaurantNames)]}
	if index >= len(restaurantNames) {
		b.name = fmt.Sprintf("%s %d", b.name, index/len(restaurantNames)+1)
	}
	b.common = rows.Common{
		Seed: seed, Calendar: cal, Precision: precision, Epoch: precision.Floor(o.Epoch.UnixMicro()), Readings: &o.Readings,
		IDs: rows.NewIDs(idSeed, o.Readings.StrangeIDs),
	}
	b.locations = &locations.List{Business: b.name, Index: index, Calendar: cal, Precision: precision, Readings: &o.Readings}
	b.common.Locations = b.locations
	g := seeded.New(seed, 1)
	for range o.LocationsPer {
		b.locations.Add(b.common.IDs.Make("loc"), &g)
	}
	orders := max(o.Orders, 0)
	perDay := o.Pace * float64(orders) / float64(o.Days)
	b.catalogue = catalogue.New(&b.common, &g, o.ProductsPer, o.Upkeep)
	b.stock = stock.New(&b.common, &g, b.id, b.catalogue, perDay, o.Upkeep)
	b.sales = sales.New(&b.common, b.catalogue, idSeed)
	b.timeline = newTimeline(b, perDay, o.Upkeep)
	b.sales.History(orders, o.Days, b.timeline.pushOrder)
	return b
}

// drawStock draws what an order sold from the stock.
func (b *Business) drawStock(n uint32, stamp int64) {
	b.sales.Used(n, func(loc int, u catalogue.Use, times units.Milli) { b.stock.Draw(loc, u, times, stamp) })
}
