package world

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/sandbox/world/catalogue"
)

// catalogueChanges change what is sold, and what it is made of.
type catalogueChanges struct{ change }

// EditProduct changes a product. Orders already taken keep the name and price
// they were sold under.
func (r catalogueChanges) EditProduct(id string, c catalogue.ProductChange) error {
	stamp, unlock := r.lock()
	defer unlock()
	return failed("edit product", id, r.b.catalogue.EditProduct(id, c, stamp))
}

// AddProduct adds a product to a location.
func (r catalogueChanges) AddProduct(locationID string) (string, error) {
	return r.add("product", locationID, r.b.catalogue.AddProduct)
}

// AddCategory adds a category that every location shares.
func (r catalogueChanges) AddCategory(name string) string {
	stamp, unlock := r.lock()
	defer unlock()
	return r.b.catalogue.AddCategory(name, stamp)
}

// RenameCategory changes a category's name.
func (r catalogueChanges) RenameCategory(id, name string) error {
	stamp, unlock := r.lock()
	defer unlock()
	return failed("rename category", id, r.b.catalogue.RenameCategory(id, name, stamp))
}

// AddIngredient adds an ingredient to a location.
func (r catalogueChanges) AddIngredient(locationID string) (string, error) {
	return r.add("ingredient", locationID, r.b.stock.Add)
}

// SetStock counts an ingredient's stock anew, in thousandths of its unit.
func (r catalogueChanges) SetStock(id string, thousandths int64) error {
	stamp, unlock := r.lock()
	defer unlock()
	return failed("set stock of", id, r.b.stock.Set(id, units.Milli(thousandths), stamp))
}

func (r catalogueChanges) add(what, locationID string, add func(loc int, stamp int64) string) (string, error) {
	stamp, unlock := r.lock()
	defer unlock()
	loc, err := r.b.locations.Find(locationID)
	if err != nil {
		return "", fmt.Errorf("add %s: location %q: %w", what, locationID, err)
	}
	return add(loc, stamp), nil
}

// failed says what failed, nil when nothing did.
func failed(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", what, id, err)
}
