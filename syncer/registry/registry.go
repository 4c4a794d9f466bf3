// Package registry knows every stream: its name, its kind, the scopes that let it be read,
// the type of its rows, the routes that it is asked with, and the job that asks.
//
// Contents: what can be said of a stream before there is a source.
//
// The configuration's list of names, the scopes that `larder check` asks for and the
// streams of every source are made from this list. The warehouse's tables have the
// streams' names; a test holds both against each other.
package registry

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/schedule"
)

// RouteKey is asked about a key, whatever streams there are.
const (
	RouteKey = "GET " + pathKey
	pathKey  = "/me"
)

// The streams that others refer to.
const (
	Key       = "api_keys"
	Locations = "locations"
	Orders    = "sales_orders"
	Daily     = "sales_daily"
	Online    = "online_orders"
)

// Kind is how a stream is followed.
type Kind int

// The kinds.
const (
	KeyKind      Kind = iota // the key itself, as /me answers
	SnapshotKind             // a list without a cursor, replaced as a whole
	ListKind                 // a cursor list: backfill and incremental walks
	TotalsKind               // the service's own totals, by day
	MenuKind                 // one row for each location, asked for with the version that is stored
)

// MirrorStart is the updated_since of an orders' backfill: every order that exists, in
// mirror mode (docs/openapi.yaml, /sales/orders).
var MirrorStart = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// Definition is what there is to know about a stream beside its rows.
type Definition struct {
	Name   string
	Kind   Kind
	Job    schedule.Job  // that asks for it; where the entry names none, that of its kind
	Scopes []string      // any of them lets it be read; none are needed when empty
	Routes []string      // that are asked for it, as [api.Options] Observe names them: Path, and that of a row
	Plan   *mapping.Plan // from its rows to its columns

	// Path is what is asked, with {id} where an id goes. Of a snapshot or a cursor list it is
	// all that is to be said of asking.
	Path string
	// OneByOne: a row has a route of its own, behind Path.
	OneByOne bool

	// ByLocation: its rows are of locations. It is off where the key has none of those that the
	// configuration names; totals and menus are asked for by location.
	ByLocation bool
	// PerLocation: the deep totals ask for each location too.
	PerLocation bool
	// ByKey: the rows are those of the key alone, whatever locations it has, and none is ever
	// taken back. One that is not shown any more is not gone, and there is no filter.
	ByKey bool
	// Polled are the values of the columns of a list that are not in the row, and Pushed those
	// of a row that the service has sent by itself; nil where it sends none.
	Polled, Pushed []string
	// LinesMayVanish: lines can be gone from a day that is asked for again.
	LinesMayVanish bool
	// BackfillSince is the updated_since of a backfill; zero for none, which brings rows
	// without updated_at too.
	BackfillSince time.Time

	// List asks for a page of a cursor list; that of Path where the entry names no other.
	List func(ctx context.Context, c *api.Client, q api.ListQuery) (api.Page, error)
	// One asks for a row of a list by its id; nil where the API has no route for it.
	One func(ctx context.Context, c *api.Client, id string) (api.Row, error)
	// Totals asks for the rows of days.
	Totals func(ctx context.Context, c *api.Client, q api.SalesQuery) (api.SalesReport, error)
}

// Allowed is true when a key with these scopes may read the stream.
func (d *Definition) Allowed(scopes []string) bool {
	return len(d.Scopes) == 0 || slices.ContainsFunc(d.Scopes, func(s string) bool { return slices.Contains(scopes, s) })
}

// Columns are the values of the table's columns that are not in a row: the location of totals, no
// ETag of a menu, and how a row of a list was received.
func (d *Definition) Columns(location string) []string {
	switch d.Kind {
	case TotalsKind:
		return []string{location}
	case MenuKind:
		return []string{""}
	default:
		return d.Polled
	}
}

// Walks are the kinds of walk that a stream makes.
func (d *Definition) Walks() []string { return kinds[d.Kind].walks }

// All are the streams there are, in the order of status. They are shared: nobody changes
// them. It panics on an entry that is wrong, which every test finds: a type of the API's rows that
// has no columns, a kind without a job.
var All = sync.OnceValue(func() []*Definition {
	return []*Definition{
		entry[types.Me](Definition{Name: Key, Kind: KeyKind, Path: pathKey}),
		entry[types.Location](Definition{
			Name: Locations, Kind: SnapshotKind, Path: "/locations", Scopes: []string{types.ScopeLocations, types.ScopeOrders},
		}),
		entry[types.Allergen](Definition{Name: "allergens", Kind: SnapshotKind, Path: "/allergens", Scopes: []string{types.ScopeMenu}}),
		entry[types.Category](Definition{Name: "categories", Kind: ListKind, Path: "/categories", Scopes: []string{types.ScopeMenu}}),
		entry[types.Product](Definition{
			Name: "products", Kind: ListKind, Path: "/products", OneByOne: true, Scopes: []string{types.ScopeMenu}, ByLocation: true,
		}),
		entry[types.Ingredient](Definition{
			Name: "ingredients", Kind: ListKind, Path: "/ingredients", OneByOne: true, Scopes: []string{types.ScopeStock}, ByLocation: true,
		}),
		entry[types.SalesOrder](Definition{
			Name: Orders, Kind: ListKind, Path: "/sales/orders", OneByOne: true, Scopes: []string{types.ScopeSales}, ByLocation: true,
			BackfillSince: MirrorStart,
		}),
		entry[types.SalesDay](Definition{
			Name: Daily, Kind: TotalsKind, Path: "/sales/daily", Scopes: []string{types.ScopeSales},
			Totals: func(ctx context.Context, c *api.Client, q api.SalesQuery) (api.SalesReport, error) {
				return c.SalesDaily(ctx, q)
			},
			ByLocation: true, PerLocation: true,
		}, sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true}),
		entry[types.ProductSales](Definition{
			Name: "sales_products", Kind: TotalsKind, Path: "/sales/products", Scopes: []string{types.ScopeSales},
			Totals: func(ctx context.Context, c *api.Client, q api.SalesQuery) (api.SalesReport, error) {
				return c.SalesProducts(ctx, q)
			},
			ByLocation: true, LinesMayVanish: true,
		}, sinks.Column{Name: "location_id", Kind: sinks.Text, Nullable: true}),
		entry[types.OrderableMenu](Definition{
			Name: "menus", Kind: MenuKind, Path: "/locations/{id}/menu", Scopes: []string{types.ScopeOrders}, ByLocation: true,
		}, sinks.Column{Name: "etag", Kind: sinks.Text, Nullable: true}),
		entry[types.OnlineOrder](Definition{
			Name: Online, Kind: ListKind, Path: "/orders", OneByOne: true, Job: schedule.OnlineOrders, Scopes: []string{types.ScopeOrders},
			List: api.OnlineOrders.Page, ByKey: true, BackfillSince: MirrorStart, Polled: []string{"polling"}, Pushed: []string{"webhook"},
			One: func(ctx context.Context, c *api.Client, id string) (api.Row, error) { return c.OnlineOrder(ctx, id) },
		}, sinks.Column{Name: "via", Kind: sinks.Text}),
	}
})

// Names are the names of all streams, in the order of status.
func Names() (names []string) {
	for _, d := range All() {
		names = append(names, d.Name)
	}
	return names
}

// kinds are the job that asks for the streams of a kind, and the walks that they make.
var kinds = [...]struct {
	job   schedule.Job
	walks []string
}{
	KeyKind:      {schedule.Snapshots, []string{sinks.WalkSnapshot}},
	SnapshotKind: {schedule.Snapshots, []string{sinks.WalkSnapshot}},
	MenuKind:     {schedule.Snapshots, []string{sinks.WalkMenus}},
	ListKind:     {schedule.Incremental, []string{sinks.WalkIncremental, sinks.WalkBackfill, sinks.WalkFull}},
	TotalsKind:   {schedule.Reconcile, []string{sinks.WalkTotals}},
}

// entry completes a definition whose rows are of type T by what its kind and its path say.
func entry[T any](d Definition, columns ...sinks.Column) *Definition {
	plan, err := mapping.Compile[T](d.Name, columns...)
	if err != nil {
		panic(err)
	}
	d.Plan, d.Job, d.Routes = plan, cmp.Or(d.Job, kinds[d.Kind].job), []string{"GET " + d.Path}
	if d.Kind == ListKind && d.List == nil {
		d.List = api.ListAt(d.Path).Page
	}
	if d.OneByOne {
		d.Routes = append(d.Routes, "GET "+d.Path+"/{id}")
	}
	if d.OneByOne && d.One == nil {
		d.One = func(ctx context.Context, c *api.Client, id string) (api.Row, error) {
			return api.RowAt(ctx, c, d.Path, id)
		}
	}
	return &d
}
