package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

var products = api.ListAt("/products")

// open starts a sandbox without limits and a client with the key of a role.
func open(t *testing.T, role string, opts sandbox.Options) *api.Client {
	t.Helper()
	opts.Seed, opts.NoLimits = 5, true
	if opts.Orders == 0 {
		opts.Orders, opts.Days = 700, 20
	}
	opts.Inspect = apicheck.Inspect(t)
	sb, err := sandbox.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range sb.Keys() {
		if key.Role == role {
			c, err := api.New(api.Options{
				BaseURL: "http://sandbox.example/v1", Key: func() string { return key.Value }, Transport: sb.Transport(),
				Jitter: func() float64 { return 0.5 },
			})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatalf("the sandbox has no key of role %s", role)
	return nil
}

// walk counts the rows of a whole list, every one of which must fit its type.
func walk[T any](t *testing.T, c *api.Client, l api.List, q api.ListQuery) (rows int) {
	t.Helper()
	for page, err := range l.Pages(t.Context(), c, q) {
		if err != nil {
			t.Fatal(err)
		}
		rows += len(typed[T](t, page.Rows))
	}
	return rows
}

// typed are rows, each of which must fit its type.
func typed[T any](t *testing.T, raws []api.Raw) (rows []T) {
	t.Helper()
	for _, raw := range raws {
		var row T
		if err := json.Unmarshal(raw, &row); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestEveryRouteOfTheSandbox(t *testing.T) {
	c := open(t, sandbox.RoleMain, sandbox.Options{Readings: sandbox.Readings{StrangeIDs: true}})
	ctx := t.Context()
	me, err := c.Me(ctx)
	if err != nil || len(me.Value.Scopes) == 0 || me.Date.IsZero() {
		t.Fatalf("me %+v, %v", me.Value, err)
	}
	locations, err := c.Snapshot(ctx, "/locations")
	if err != nil || len(locations.Rows) != len(me.Value.LocationIDs) {
		t.Fatalf("%d locations, %v", len(locations.Rows), err)
	}
	if allergens, err := c.Snapshot(ctx, "/allergens"); err != nil || len(allergens.Rows) == 0 {
		t.Errorf("allergens: %v", err)
	}
	if n := walk[types.Category](t, c, api.ListAt("/categories"), api.ListQuery{}); n == 0 {
		t.Error("no categories")
	}
	if n := walk[types.Product](t, c, products, api.ListQuery{Limit: 17}); n == 0 || n != walk[types.Product](t, c, products, api.ListQuery{}) {
		t.Errorf("%d products in pages of 17", n)
	}
	if n := walk[types.Ingredient](t, c, api.ListAt("/ingredients"), api.ListQuery{IncludeDeleted: true, LocationID: me.Value.LocationIDs[0]}); n == 0 {
		t.Error("no ingredients")
	}
	// A mirror holds what a range does, and more (tombstones, older orders).
	ranged, mirrored := walk[types.SalesOrder](t, c, api.SalesOrders, api.ListQuery{}), walk[types.SalesOrder](t, c, api.SalesOrders, api.ListQuery{UpdatedSince: me.Date.AddDate(0, 0, -40)})
	if ranged == 0 || mirrored <= ranged {
		t.Errorf("%d orders of the last week, %d in all", ranged, mirrored)
	}
	daily, err := c.SalesDaily(ctx, api.SalesQuery{})
	if err != nil || len(daily.Rows) != 7 {
		t.Fatalf("%d days, %v", len(daily.Rows), err)
	}
	days := typed[types.SalesDay](t, daily.Rows)
	products, err := c.SalesProducts(ctx, api.SalesQuery{From: days[0].Date, To: days[6].Date, ByDay: true})
	if err != nil || len(products.Rows) == 0 {
		t.Errorf("%d product rows, %v", len(products.Rows), err)
	}
	if sold := typed[types.ProductSales](t, products.Rows); sold[0].Date == nil || *sold[0].Date < days[0].Date || *sold[0].Date > days[6].Date {
		t.Errorf("not by day: %+v", sold[0])
	}
}

// TestOddIDsAreFound asks for single rows whose ids hold every awkward character.
func TestOddIDsAreFound(t *testing.T) {
	c := open(t, sandbox.RoleMain, sandbox.Options{Readings: sandbox.Readings{StrangeIDs: true}})
	page, err := products.Page(t.Context(), c, api.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range typed[types.Product](t, page.Rows) {
		if got, err := api.RowAt(t.Context(), c, "/products", want.ID); err != nil || string(got.Raw) != string(page.Rows[i]) {
			t.Errorf("product %q: %s, %v", want.ID, got.Raw, err)
		}
	}
	if _, err := api.RowAt(t.Context(), c, "/products", "no such"); !api.IsNotFound(err) {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestRefusalsOfTheSandbox(t *testing.T) {
	ctx := context.Background()
	// One seed, one world: the limited key may use the first location only.
	locations, err := open(t, sandbox.RoleMain, sandbox.Options{}).Snapshot(ctx, "/locations")
	if err != nil {
		t.Fatal(err)
	}
	other := typed[types.Location](t, locations.Rows)[1]
	products := func(c *api.Client) error { return pageError(ctx, c, api.ListQuery{}) }
	cases := []struct {
		name, role string
		ask        func(*api.Client) error
		is         func(error) bool
	}{
		{"scope", sandbox.RoleSales, products, api.IsScope},
		{"disabled key", sandbox.RoleDisabled, products, api.IsKeyDisabled},
		{"location", sandbox.RoleLimited, func(c *api.Client) error { return pageError(ctx, c, api.ListQuery{LocationID: other.ID}) }, api.IsLocationForbidden},
		{"cursor", sandbox.RoleMain, func(c *api.Client) error { return pageError(ctx, c, api.ListQuery{Cursor: "made up"}) }, api.IsValidation},
		{"limit", sandbox.RoleMain, func(c *api.Client) error { return pageError(ctx, c, api.ListQuery{Limit: 201}) }, api.IsValidation},
		{"93 days", sandbox.RoleMain, func(c *api.Client) error {
			_, err := c.SalesDaily(ctx, api.SalesQuery{From: "2026-01-01", To: "2026-06-01"})
			return err
		}, api.IsValidation},
		{"order that is none", sandbox.RoleMain, func(c *api.Client) error {
			_, err := api.RowAt(ctx, c, "/sales/orders", "none")
			return err
		}, api.IsNotFound},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := c.ask(open(t, c.role, sandbox.Options{})); !c.is(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func pageError(ctx context.Context, c *api.Client, q api.ListQuery) error {
	_, err := products.Page(ctx, c, q)
	return err
}

// TestFaultsOfTheSandbox has each fault strike once and for good: the first must
// pass unnoticed where a new attempt helps, the second must end in its error.
func TestFaultsOfTheSandbox(t *testing.T) {
	body := func(kind api.BodyKind) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*api.BodyError](err)
			return ok && e.Kind == kind
		}
	}
	transport := func(err error) bool { _, ok := errors.AsType[*api.TransportError](err); return ok }
	cases := []struct {
		kind    string
		passing bool
		is      func(error) bool
	}{
		{faults.Hang, true, transport},
		{faults.Reset, true, transport},
		{faults.Truncate, true, transport},
		{faults.Unavailable, true, api.IsTemporary},
		{faults.ServerError, true, api.IsTemporary},
		{faults.CutJSON, true, body(api.BodyTruncated)},
		{faults.HTML, false, body(api.BodyHTML)},
		{faults.Garbage, false, api.IsTemporary},
		{faults.RateLimited, false, api.IsRateLimited},
		{faults.CursorRefused, false, api.IsValidation},
		{faults.CursorMissing, false, func(err error) bool { return errors.Is(err, api.ErrNoCursor) }},
	}
	for _, c := range cases {
		t.Run(c.kind, func(t *testing.T) {
			forGood := faults.Fault{Kind: c.kind, Route: "/products", Probability: 1}
			if err := walkError(t, forGood); !c.is(err) {
				t.Errorf("for good: %v", err)
			}
			once := faults.Fault{Kind: c.kind, Route: "/products", Count: 1}
			if err := walkError(t, once); c.passing && err != nil {
				t.Errorf("once: %v", err)
			}
		})
	}
}

// walkError walks all products past a fault, in simulated time.
func walkError(t *testing.T, fault faults.Fault) (last error) {
	synctest.Test(t, func(t *testing.T) {
		client := open(t, sandbox.RoleMain, sandbox.Options{Orders: -1, Faults: []faults.Fault{fault}})
		for _, err := range products.Pages(t.Context(), client, api.ListQuery{Limit: 40}) {
			last = err
		}
	})
	return last
}

func TestARepeatedCursorOfTheSandbox(t *testing.T) {
	c := open(t, sandbox.RoleMain, sandbox.Options{Faults: []faults.Fault{{Kind: faults.CursorRepeats, Probability: 1}}})
	var last error
	for _, err := range products.Pages(t.Context(), c, api.ListQuery{Limit: 20}) {
		last = err
	}
	if !errors.Is(last, api.ErrRepeatedCursor) && !errors.Is(last, api.ErrNoCursor) {
		t.Errorf("error %v", last)
	}
}
