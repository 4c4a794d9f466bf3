package sandbox

import (
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
	"github.com/larder-sync/larder/internal/sandbox/world/rows"
)

func listCategories(c readCall) *refusal.Refusal {
	return c.list(func(l rows.Listing) (rows.Pos, bool) { return c.view.Categories(l, c.addRow) })
}

func listProducts(c readCall) *refusal.Refusal {
	var category *string
	if id, given := c.q.text("category_id"); given {
		category = &id
	}
	available := c.q.optionalFlag("available")
	return c.list(func(l rows.Listing) (rows.Pos, bool) { return c.view.Products(l, category, available, c.addRow) }, "category_id", "available")
}

func oneProduct(c readCall) *refusal.Refusal { return c.one(c.view.Product) }

func listIngredients(c readCall) *refusal.Refusal {
	below := c.q.optionalFlag("below_min")
	return c.list(func(l rows.Listing) (rows.Pos, bool) { return c.view.Ingredients(l, below, c.addRow) }, "below_min")
}

func oneIngredient(c readCall) *refusal.Refusal { return c.one(c.view.Ingredient) }

func listAllergens(c readCall) *refusal.Refusal {
	c.openList()
	for _, a := range catalogue.Allergens() {
		c.addJSON(a)
	}
	c.write("]}")
	return nil
}
