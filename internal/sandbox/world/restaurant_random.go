package world

import (
	"fmt"
	"math/rand/v2"

	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// Mutate makes one change at random, drawn from g alone, and says which.
// Permanent deletions and moves between locations, which only a full resync can
// notice, are made only with unannounced.
func (r Restaurant) Mutate(g *rand.Rand, unannounced bool) (string, error) {
	kinds := mutations
	if unannounced {
		kinds = append(kinds[:len(kinds):len(kinds)], unannouncedMutations...)
	}
	m := kinds[g.IntN(len(kinds))]
	what, err := m.run(r, g)
	if err != nil {
		return "", fmt.Errorf("mutate: %s: %w", m.name, err)
	}
	return m.name + " " + what, nil
}

type mutation struct {
	name string
	run  func(Restaurant, *rand.Rand) (string, error)
}

var mutations = []mutation{
	{"place", func(r Restaurant, g *rand.Rand) (string, error) {
		ids := r.LocationIDs()
		return r.PlaceOrder(sales.OrderSpec{Location: ids[g.IntN(len(ids))], Unpaid: g.IntN(8) == 0})
	}},
	{"edit", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.EditOrder(id) })},
	{"cancel", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.CancelOrder(id) })},
	{"unpay", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.UnpayOrder(id) })},
	{"pay", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.PayOrder(id) })},
	{"delete", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.DeleteOrder(id) })},
	{"restore", onOrder(func(r Restaurant, id string, _ *rand.Rand) error { return r.Restore(StreamSalesOrders, id) })},
	{"refund", onOrder(func(r Restaurant, id string, g *rand.Rand) error { return r.refundPart(id, 100+g.Int64N(5000)) })},
	{"edit product", onRow(StreamProducts, func(r Restaurant, id string, g *rand.Rand) error {
		return r.EditProduct(id, catalogue.ProductChange{Name: fmt.Sprintf("Preparat %d", g.IntN(1000)), Price: 500 + g.Int64N(9000)})
	})},
	{"delete product", onRow(StreamProducts, func(r Restaurant, id string, _ *rand.Rand) error { return r.Delete(StreamProducts, id) })},
	{"add product", func(r Restaurant, g *rand.Rand) (string, error) {
		ids := r.LocationIDs()
		return r.AddProduct(ids[g.IntN(len(ids))])
	}},
	{"rename category", onRow(StreamCategories, func(r Restaurant, id string, g *rand.Rand) error {
		return r.RenameCategory(id, fmt.Sprintf("Categoria %d", g.IntN(1000)))
	})},
	{"delete category", onRow(StreamCategories, func(r Restaurant, id string, _ *rand.Rand) error { return r.Delete(StreamCategories, id) })},
	{"add category", func(r Restaurant, g *rand.Rand) (string, error) {
		return r.AddCategory(fmt.Sprintf("Noutăți %d", g.IntN(1000))), nil
	}},
	{"count stock", onRow(StreamIngredients, func(r Restaurant, id string, g *rand.Rand) error { return r.SetStock(id, g.Int64N(100_000)-20_000) })},
	{"delete ingredient", onRow(StreamIngredients, func(r Restaurant, id string, _ *rand.Rand) error { return r.Delete(StreamIngredients, id) })},
	{"add ingredient", func(r Restaurant, g *rand.Rand) (string, error) {
		ids := r.LocationIDs()
		return r.AddIngredient(ids[g.IntN(len(ids))])
	}},
}

var unannouncedMutations = []mutation{
	{"purge product", onRow(StreamProducts, func(r Restaurant, id string, _ *rand.Rand) error { return r.Purge(StreamProducts, id) })},
	{"purge ingredient", onRow(StreamIngredients, func(r Restaurant, id string, _ *rand.Rand) error { return r.Purge(StreamIngredients, id) })},
	{"move product", moved(StreamProducts)},
	{"move ingredient", moved(StreamIngredients)},
	{"move order", moved(StreamSalesOrders)},
}

func moved(stream string) func(Restaurant, *rand.Rand) (string, error) {
	return onRow(stream, func(r Restaurant, id string, g *rand.Rand) error {
		ids := r.LocationIDs()
		return r.Move(stream, id, ids[g.IntN(len(ids))])
	})
}

// onRow changes a live row at random; an empty list changes nothing.
func onRow(stream string, f func(Restaurant, string, *rand.Rand) error) func(Restaurant, *rand.Rand) (string, error) {
	return func(r Restaurant, g *rand.Rand) (string, error) {
		if stream == StreamSalesOrders {
			return onOrder(f)(r, g)
		}
		ids := r.IDs(stream)
		if len(ids) == 0 {
			return "nothing", nil
		}
		id := ids[g.IntN(len(ids))]
		return id, f(r, id, g)
	}
}

// onOrder changes any order, a removed one too; half of the time a recent one.
func onOrder(f func(Restaurant, string, *rand.Rand) error) func(Restaurant, *rand.Rand) (string, error) {
	return func(r Restaurant, g *rand.Rand) (string, error) {
		id, ok := r.anyOrder(g)
		if !ok {
			return "nothing", nil
		}
		return id, f(r, id, g)
	}
}
