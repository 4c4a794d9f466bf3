package world

import (
	"errors"
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

var (
	errNoRow      = errors.New("no such row")
	errNoLocation = errors.New("no such location")
)

// changeRow applies a change to a row of any list.
func (b *Business) changeRow(stream, id string, c rowChange, stamp int64) error {
	loc := -1
	if c.location != "" {
		var ok bool
		if loc, ok = b.locationOf(c.location); !ok {
			return errNoLocation
		}
	}
	switch stream {
	case StreamCategories:
		_, err := changeTable(b, b.categories, id, c, loc, stamp)
		return err
	case StreamProducts:
		_, err := changeTable(b, b.products, id, c, loc, stamp)
		b.menuChanged = true
		if c.purge {
			clear(b.productDays)
		}
		return err
	case StreamIngredients:
		row, err := changeTable(b, b.ingredients, id, c, loc, stamp)
		if err == nil && loc >= 0 {
			b.stockOf[loc] = append(b.stockOf[loc], row)
		}
		return err
	case StreamSalesOrders:
		return b.changeOrderRow(id, c, loc, stamp)
	}
	return fmt.Errorf("stream %q cannot be changed", stream)
}

func changeTable[T any](b *Business, t *table[T], id string, c rowChange, loc int, stamp int64) (*row[T], error) {
	r := t.byID[id]
	if r == nil {
		return nil, errNoRow
	}
	if c.purge {
		b.purged[t.name] = append(b.purged[t.name], r.id)
		t.purge(r)
		return r, nil
	}
	switch {
	case c.remove:
		r.deletedAt = stamp
		if b.readings.NullTombstones {
			stamp = nullStamp
		}
	case c.restore:
		r.deletedAt = 0
	case c.setRaw:
		r.raw = c.raw
	case loc >= 0:
		r.loc = loc
	}
	t.touch(r, stamp)
	return r, nil
}

func (b *Business) changeOrderRow(id string, c rowChange, loc int, stamp int64) error {
	n, ok := b.findOrder(id)
	switch {
	case !ok:
		return errNoRow
	case c.purge:
		return errors.New("orders cannot be purged")
	case c.setRaw:
		b.ensureMore(n).raw = c.raw
	}
	b.changeOrder(n, stamp, func(o *order) {
		switch {
		case c.remove:
			o.flags |= orderDeleted
		case c.restore:
			o.flags &^= orderDeleted | orderCancelled
			if more := b.more(n); more != nil {
				more.removedAt = 0
			}
		case loc >= 0:
			o.loc = uint8(loc)
		}
	})
	return nil
}

// ProductChange edits a product; empty fields stay.
type ProductChange struct {
	Name      string
	Price     int64 // bani (hundredths of a leu)
	Available *bool
	Category  string // id
}

// EditProduct changes a product. Orders already taken keep the name and price
// they were sold under.
func (r Restaurant) EditProduct(id string, c ProductChange) error {
	stamp, unlock := r.lock()
	defer unlock()
	p := r.b.products.live(id)
	if p == nil {
		return fmt.Errorf("edit product %q: %w", id, errNoRow)
	}
	v := &p.val
	if c.Name != "" {
		v.name = c.Name
	}
	if c.Price != 0 {
		v.reprice(units.Bani(c.Price))
	}
	if c.Available != nil {
		v.available = *c.Available
	}
	if c.Category != "" {
		v.category = c.Category
	}
	v.onMenu = nil
	r.b.menuChanged = true
	r.b.products.touch(p, stamp)
	return nil
}

// AddProduct adds a product to a location.
func (r Restaurant) AddProduct(locationID string) (string, error) {
	stamp, unlock := r.lock()
	defer unlock()
	loc, ok := r.b.locationOf(locationID)
	if !ok {
		return "", fmt.Errorf("add product: location %q: %w", locationID, errNoLocation)
	}
	g := seeded.New(r.b.seed, 13, uint64(len(r.b.products.rows)))
	p := r.b.makeProduct(&g, loc, len(r.b.products.rows), map[string]string{})
	p.created = stamp
	r.b.products.touch(p, stamp)
	r.b.menuChanged = true
	return p.id, nil
}

// AddCategory adds a category that every location shares.
func (r Restaurant) AddCategory(name string) string {
	stamp, unlock := r.lock()
	defer unlock()
	c := r.b.categories.add(r.b.ids.make("cat"), sharedLocation, stamp, stamp, category{name: name, position: len(r.b.categories.rows) + 1})
	return c.id
}

// RenameCategory changes a category's name.
func (r Restaurant) RenameCategory(id, name string) error {
	stamp, unlock := r.lock()
	defer unlock()
	c := r.b.categories.live(id)
	if c == nil {
		return fmt.Errorf("rename category %q: %w", id, errNoRow)
	}
	c.val.name = name
	r.b.categories.touch(c, stamp)
	return nil
}

// AddIngredient adds an ingredient to a location.
func (r Restaurant) AddIngredient(locationID string) (string, error) {
	stamp, unlock := r.lock()
	defer unlock()
	loc, ok := r.b.locationOf(locationID)
	if !ok {
		return "", fmt.Errorf("add ingredient: location %q: %w", locationID, errNoLocation)
	}
	g := seeded.New(r.b.seed, 14, uint64(len(r.b.ingredients.rows)))
	i := r.b.makeIngredient(&g, loc, len(r.b.ingredients.rows))
	i.created = stamp
	r.b.ingredients.touch(i, stamp)
	return i.id, nil
}

// SetStock counts an ingredient's stock anew, in thousandths of its unit.
func (r Restaurant) SetStock(id string, thousandths int64) error {
	stamp, unlock := r.lock()
	defer unlock()
	i := r.b.ingredients.live(id)
	if i == nil {
		return fmt.Errorf("set stock of %q: %w", id, errNoRow)
	}
	i.val.stock = units.Milli(thousandths)
	r.b.ingredients.touch(i, stamp)
	return nil
}
