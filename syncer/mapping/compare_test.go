package mapping

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/oracle"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// storedAs is a row as a warehouse holds it.
func storedAs(t testing.TB, p *Plan, raw string, context ...string) *sinks.StoredRow {
	t.Helper()
	b := sinks.NewBatch(p.Table(), 1)
	r, err := p.NewMapper().Append(b, []byte(raw), context...)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.EndRow(sinks.Row{ID: r.ID, Raw: []byte(raw)}); err != nil {
		t.Fatal(err)
	}
	return &sinks.StoredRow{ID: r.ID, Raw: []byte(raw), Columns: sinktest.Columns(b, 0)}
}

// Columns that a row was mapped to do not differ from it, and are those that the oracle expects.
func TestAStoredRowIsTheSame(t *testing.T) {
	for _, c := range listed(t) {
		stored := storedAs(t, c.plan, c.row, c.context...)
		if found := c.plan.NewComparer(0).Differences([]byte(c.row), stored, c.context...); len(found) > 0 {
			t.Errorf("%s: %+v", c.plan.Table().Name, found)
		}
		context := map[string]string{}
		for i := range c.plan.context {
			name := c.plan.Table().Columns[i].Name
			context[name] = string(stored.Columns[name])
		}
		shape, ok := oracle.Of(c.plan.Table().Name)
		if !ok {
			t.Fatalf("no shape of %s", c.plan.Table().Name)
		}
		if found := shape.Wrong([]byte(c.row), stored.Columns, context); len(found) > 0 {
			t.Errorf("%s: %+v", c.plan.Table().Name, found)
		}
	}
}

func TestEachDifferenceIsNamedOnce(t *testing.T) {
	order, products := orderRow(2), plan[types.Product](t, "products")
	orders := plan[types.SalesOrder](t, "sales_orders")
	for name, c := range map[string]struct {
		plan          *Plan
		api, stored   string
		column, holds string // what a column holds instead; absent when holds is empty
		want          []Difference
	}{
		"a column": {orders, order, order, "totals_tip", `"5.10"`, []Difference{{Field: "totals_tip", Column: true, API: `"5.00"`, Mirror: `"5.10"`}}},
		"a column in a list of lists": {orders, order, order, "items.extras_price", `[["3.00","1.50"],["2.00"]]`,
			[]Difference{{Field: "items.extras_price", Column: true, API: `[["3.00","1.50"],[]]`, Mirror: `[["3.00","1.50"],["2.00"]]`}}},
		"null for a value": {products, productRow, productRow, "deposit", `null`, []Difference{{Field: "deposit", Column: true, API: `"0.50"`, Mirror: `null`}}},
		"a value for null": {products, productRow, productRow, "calories", `0`, []Difference{{Field: "calories", Column: true, API: `null`, Mirror: `0`}}},
		"a key of a map": {products, productRow, productRow, "channels_price", `{"online":"34.00","platform_b":"36.50"}`,
			[]Difference{{Field: "channels_price", Column: true, API: `{"online":"34.00","platform_a":"36.50"}`, Mirror: `{"online":"34.00","platform_b":"36.50"}`}}},
		"a column that is not there": {products, productRow, productRow, "position", ``, []Difference{{Field: "position", Column: true, API: `3`}}},
		"an older row": {products, strings.Replace(productRow, `"price":"32.00","unit"`, `"price":"8.00","unit"`, 1), productRow, "price", `"32.00"`,
			[]Difference{{Field: "price", API: `"8.00"`, Mirror: `"32.00"`}}},
		"an older row with a newer column": {products, strings.Replace(productRow, `"price":"32.00","unit"`, `"price":"8.00","unit"`, 1), productRow, "price", `"8.00"`,
			[]Difference{{Field: "price", API: `"8.00"`, Mirror: `"32.00"`}}},
		"an older row with a wrong column": {products, strings.Replace(productRow, `"price":"32.00","unit"`, `"price":"8.00","unit"`, 1), productRow, "price", `"7.00"`,
			[]Difference{{Field: "price", API: `"8.00"`, Mirror: `"32.00"`}, {Field: "price", Column: true, API: `"8.00"`, Mirror: `"7.00"`}}},
		"a value that fits nowhere": {products, strings.Replace(productRow, `"price":"32.00","unit"`, `"price":"9.001","unit"`, 1), productRow, "price", `"32.00"`,
			[]Difference{{Field: "price", API: `"9.001"`, Mirror: `"32.00"`}}},
		"an unknown field": {orders, order[:len(order)-1] + `,"new":{"x":1}}`, order[:len(order)-1] + `,"new":{"y":[],"x":2}}`, "totals_tip", `"5.00"`,
			[]Difference{{Field: "new.x", API: `1`, Mirror: `2`}, {Field: "new.y", Mirror: `[]`}}},
		"a line": {orders, order, strings.Replace(order, `"name":"Ciorbă de burtă"`, `"name":"y"`, 1), "totals_tip", `"5.00"`,
			[]Difference{{Field: "items.0.name", API: `"Ciorbă de burtă"`, Mirror: `"y"`}}},
	} {
		stored := storedAs(t, c.plan, c.stored)
		if c.holds == "" {
			delete(stored.Columns, c.column)
		} else {
			stored.Columns[c.column] = json.RawMessage(c.holds)
		}
		if diff := cmp.Diff(c.want, c.plan.NewComparer(0).Differences([]byte(c.api), stored)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What a warehouse holds need not be what the mapping wrote.
func TestAStoredRowThatCannotBeMapped(t *testing.T) {
	p := plan[types.Category](t, "categories")
	stored := storedAs(t, p, categoryRow)
	bad := strings.Replace(categoryRow, `"position":1`, `"position":"x"`, 1)
	stored.Raw = []byte(bad)
	if found := p.NewComparer(0).Differences([]byte(bad), stored); len(found) != 1 || !strings.Contains(found[0].API, "cannot be stored") {
		t.Errorf("%+v", found)
	}
	if id, tombstone := p.NewComparer(0).Read([]byte(bad)); id != "cat_1" || tombstone != nil {
		t.Errorf("%q, %+v", id, tombstone)
	}
}

// Columns that say how a row came are not compared.
func TestColumnsBesideARowAreNotCompared(t *testing.T) {
	p := plan[types.Allergen](t, "allergens", sinks.Column{Name: "via", Kind: sinks.Text})
	const row = `{"code":"gluten","name":"Gluten"}`
	stored := storedAs(t, p, row, "webhook")
	if found := p.NewComparer(1).Differences([]byte(row), stored, "polling"); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := p.NewComparer(0).Differences([]byte(row), stored, "polling"); len(found) != 1 || found[0].Field != "via" {
		t.Errorf("%+v", found)
	}
	columns := maps.Clone(stored.Columns)
	if columns["name"] = json.RawMessage(`"x"`); len(p.NewComparer(1).Differences([]byte(row), &sinks.StoredRow{Raw: []byte(row), Columns: columns}, "polling")) != 1 {
		t.Error("the columns behind are not compared")
	}
}

func TestEqualInMeaning(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true,null]}`, "{ \"b\" : [true , null],\n\"a\":1 }", true},
		{`{"a":1.50}`, `{"a":15e-1}`, true},
		{`{"a":1.5}`, `{"a":"1.5"}`, false},
		{`{"a":"1.50"}`, `{"a":"1.5"}`, false},
		{`{"a":"é"}`, `{"a":"\u00e9"}`, true},
		{`{"a":null}`, `{}`, false},
		{`{"a":0}`, `{"a":false}`, false},
		{`{"a":1e999999999}`, `{"a":1e999999998}`, false},
		{`{"a":12345678901234567890123456789}`, `{"a":12345678901234567890123456788}`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a"`, `{"a"`, true},
		{`{"a"`, `{}`, false},
		{`{} {}`, `{}`, false},
	} {
		if got := len(jsonDifferences([]byte(c.a), []byte(c.b))) == 0; got != c.want {
			t.Errorf("%s, %s: equal %v", c.a, c.b, got)
		}
		if c.want && !strings.ContainsAny(c.a, "15") && Canonical([]byte(c.a)) != Canonical([]byte(c.b)) {
			t.Errorf("%s is %s, %s is %s", c.a, Canonical([]byte(c.a)), c.b, Canonical([]byte(c.b)))
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	p, row := plan[types.SalesOrder](b, "sales_orders"), orderRow(4)
	stored, c := storedAs(b, p, row), p.NewComparer(0)
	b.SetBytes(int64(len(row)))
	b.ReportAllocs()
	for b.Loop() {
		if id, _ := c.Read([]byte(row)); id == "" || len(c.Differences([]byte(row), stored)) > 0 {
			b.Fatal("a row differs from itself")
		}
	}
}
