package syncer

import (
	"context"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// routeKey is asked about a key, whatever streams there are.
const routeKey = "GET /me"

// pageLimit is how many rows a page is asked for.
const pageLimit = api.PageLimit

// The streams that others refer to (DESIGN §1).
const (
	streamKey       = "api_keys"
	streamLocations = "locations"
	streamOrders    = "sales_orders"
	streamDaily     = "sales_daily"
)

// streamKind is how a stream is followed.
type streamKind int

const (
	keyKind      streamKind = iota // the key itself, as /me answers
	snapshotKind                   // a list without a cursor, replaced as a whole
	listKind                       // a cursor list: backfill and incremental walks
	totalsKind                     // the service's own totals, by day
)

// definition is what there is to know about a stream beside its rows. Menus
// (a snapshot per location, with If-None-Match) and online orders (a list with a
// next_updated_since) will be definitions of their own.
type definition struct {
	name   string
	kind   streamKind
	scopes []string // any of them lets it be read; none are needed when empty
	routes []string // that are asked for it, as [api.Exchange] names them
	plan   *mapping.Plan

	// byLocation: asked with location_id where the configuration names locations.
	byLocation bool
	// wholeOnly: there is no telling locations apart, so that a configuration
	// which names some leaves it out.
	wholeOnly bool
	// perLocation: the deep totals ask for each location too.
	perLocation bool
	// vanish: lines can be gone from a day that is asked for again.
	vanish bool
	// backfillSince is the updated_since of a backfill; zero for none, which
	// brings rows without updated_at too.
	backfillSince time.Time

	list func(ctx context.Context, c *api.Client, q api.ListQuery) (api.Page, error)
	// one asks for a row by its id, with what arrived even when it is not
	// understood; nil where the API has no route for it.
	one    func(ctx context.Context, c *api.Client, id string) (api.Raw, time.Time, error)
	whole  func(ctx context.Context, c *api.Client) (api.Snapshot, error)
	totals func(ctx context.Context, c *api.Client, sp span) (report, error)
	lineID func(r dayRow, location string) string
}

// allowed is true when a key with these scopes may read the stream.
func (d *definition) allowed(scopes []string) bool {
	return len(d.scopes) == 0 || slices.ContainsFunc(d.scopes, func(s string) bool { return slices.Contains(scopes, s) })
}

// columns are the values of the table's columns that are not in the row, for totals of a
// location.
func (d *definition) columns(location string) []string {
	if d.name == streamDaily {
		return []string{location}
	}
	return nil
}

// definitions is the registry of streams, in the order of status.
func definitions() ([]*definition, error) {
	var r registry
	add[api.Me](&r, &definition{name: streamKey, kind: keyKind, routes: []string{routeKey}})
	add[api.Location](&r, &definition{
		name: streamLocations, kind: snapshotKind, scopes: []string{api.ScopeLocations, api.ScopeOrders}, routes: []string{"GET /locations"},
		whole: func(ctx context.Context, c *api.Client) (api.Snapshot, error) { return c.Locations(ctx) },
	})
	add[api.Allergen](&r, &definition{
		name: "allergens", kind: snapshotKind, scopes: []string{api.ScopeMenu}, routes: []string{"GET /allergens"},
		whole: func(ctx context.Context, c *api.Client) (api.Snapshot, error) { return c.Allergens(ctx) },
	})
	add[api.Category](&r, &definition{name: "categories", kind: listKind, scopes: []string{api.ScopeMenu}, routes: []string{"GET /categories"}, list: api.Categories.Page})
	add[api.Product](&r, &definition{name: "products", kind: listKind, scopes: []string{api.ScopeMenu}, routes: []string{"GET /products", "GET /products/{id}"}, list: api.Products.Page, one: single((*api.Client).Product), byLocation: true})
	add[api.Ingredient](&r, &definition{name: "ingredients", kind: listKind, scopes: []string{api.ScopeStock}, routes: []string{"GET /ingredients", "GET /ingredients/{id}"}, list: api.Ingredients.Page, one: single((*api.Client).Ingredient), byLocation: true})
	add[api.SalesOrder](&r, &definition{
		name: streamOrders, kind: listKind, scopes: []string{api.ScopeSales}, routes: []string{"GET /sales/orders", "GET /sales/orders/{id}"}, list: api.SalesOrders.Page, one: single((*api.Client).SalesOrder),
		byLocation: true, backfillSince: mirrorStart,
	})
	add[api.SalesDay](&r, &definition{
		name: streamDaily, kind: totalsKind, scopes: []string{api.ScopeSales}, routes: []string{"GET /sales/daily"},
		totals: salesDaily, lineID: dailyID, byLocation: true, perLocation: true,
	}, sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true})
	add[api.ProductSales](&r, &definition{
		name: "sales_products", kind: totalsKind, scopes: []string{api.ScopeSales}, routes: []string{"GET /sales/products"},
		totals: salesProducts, lineID: productLineID, wholeOnly: true, vanish: true,
	})
	return r.definitions, r.err
}

type registry struct {
	definitions []*definition
	err         error
}

func add[T any](r *registry, d *definition, context ...sinks.Column) {
	if r.err == nil {
		d.plan, r.err = mapping.Compile[T](d.name, context...)
		r.definitions = append(r.definitions, d)
	}
}

// single is the route of one row of a list.
func single[T any](route func(*api.Client, context.Context, string) (api.Document[T], error)) func(context.Context, *api.Client, string) (api.Raw, time.Time, error) {
	return func(ctx context.Context, c *api.Client, id string) (api.Raw, time.Time, error) {
		d, err := route(c, ctx, id)
		return d.Raw, d.Date, err
	}
}

func salesDaily(ctx context.Context, c *api.Client, sp span) (report, error) {
	r, err := c.SalesDaily(ctx, api.SalesQuery{From: sp.from, To: sp.to, LocationID: sp.location})
	return report{rows: r.Rows, at: r.Date}, err
}

func salesProducts(ctx context.Context, c *api.Client, sp span) (report, error) {
	r, err := c.SalesProducts(ctx, api.SalesQuery{From: sp.from, To: sp.to, LocationID: sp.location, ByDay: true})
	return report{rows: r.Rows, at: r.Date}, err
}
