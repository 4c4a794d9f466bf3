package mapping

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

// refused appends a bad row behind a good one, and checks that only the good one
// is there afterwards.
func refused(t *testing.T, p *Plan, good, row string) *RowError {
	t.Helper()
	b := sinks.NewBatch(p.Table(), 2)
	m := p.NewMapper()
	if _, err := m.Append(b, []byte(good)); err != nil {
		t.Fatal(err)
	}
	if err := b.EndRow(sinks.Row{ID: "good"}); err != nil {
		t.Fatal(err)
	}
	_, err := m.Append(b, []byte(row))
	var bad *RowError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a row error for\n%.300s", err, row)
	}
	for i := range b.Vectors {
		if n := b.Vectors[i].Len(); n != 1 {
			t.Errorf("column %s has %d values after the bad row", b.Table.Columns[i].Name, n)
		}
	}
	if _, err := m.Append(b, []byte(good)); err != nil {
		t.Fatalf("a good row after the bad one: %v", err)
	}
	if err := b.EndRow(sinks.Row{ID: "good"}); err != nil {
		t.Errorf("after the bad row: %v", err)
	}
	return bad
}

func TestBadRows(t *testing.T) {
	order := plan[types.SalesOrder](t, "sales_orders")
	product := plan[types.Product](t, "products")
	for _, c := range []struct {
		name          string
		plan          *Plan
		row, old, new string // the good row with one thing replaced
		field, reason string
		value         string
	}{
		{"price of letters", order, orderRow(4), `"unit_price":"28.50","extras":[],"discount_percent":10.5,"vat_rate":9,"total":"100.65"`, `"unit_price":"abc","extras":[],"discount_percent":10.5,"vat_rate":9,"total":"100.65"`, "items.3.unit_price", notDecimal, `"abc"`},
		{"three decimals", order, orderRow(1), `"price":"1.50"`, `"price":"1.501"`, "items.0.extras.1.price", "3 decimals, at most 2 fit", `"1.501"`},
		{"three decimals, zeros", order, orderRow(1), `"tip":"5.00"`, `"tip":"5.000"`, "totals.tip", "3 decimals, at most 2 fit", `"5.000"`},
		{"17 digits", order, orderRow(1), `"tip":"5.00"`, `"tip":"10000000000000000.00"`, "totals.tip", "more than 16 digits", `"10000000000000000.00"`},
		{"money as number", order, orderRow(1), `"tip":"5.00"`, `"tip":5.00`, "totals.tip", "want a string", "5.00"},
		{"number as string", order, orderRow(1), `"discount_percent":10.5`, `"discount_percent":"10.5"`, "items.0.discount_percent", "want a number", `"10.5"`},
		{"number where a string belongs", order, orderRow(1), `"channel":"pos"`, `"channel":7`, "channel", "want a string", "7"},
		{"null where a string belongs", order, orderRow(1), `"channel":"pos"`, `"channel":null`, "channel", "want a string", "null"},
		{"object where a string belongs", order, orderRow(1), `"channel":"pos"`, `"channel":{"a":[1]}`, "channel", "want a string", `{"a":[1]}`},
		{"null list", order, orderRow(1), `"refunds":[{"amount":"10.00","method":"card","at":"2025-03-15T09:00:00Z","item_id":null}]`, `"refunds":null`, "refunds", "want an array", "null"},
		{"list of the wrong thing", order, orderRow(1), `"refunds":[`, `"refunds":["x",`, "refunds.0", "want an object", `"x"`},
		{"object instead of a list", order, orderRow(1), `"refunds":[{"amount":"10.00","method":"card","at":"2025-03-15T09:00:00Z","item_id":null}]`, `"refunds":{}`, "refunds", "want an array", "{}"},
		{"list instead of an object", order, orderRow(1), `"totals":{`, `"totals":[],"x":{`, "totals", "want an object", "[]"},
		{"missing", order, orderRow(1), `"number":"1042","location_id":"loc_1",`, ``, "location_id", "missing", ""},
		{"missing in an element", order, orderRow(2), `"id":"itm_01J8ZQ40001",`, ``, "items.1.id", "missing", ""},
		{"missing in an object", order, orderRow(1), `"tip":"5.00",`, ``, "totals.tip", "missing", ""},
		{"year 1", order, orderRow(1), `"created_at":"2025-03-14T18:03:11.123456Z"`, `"created_at":"0001-01-01T00:00:00Z"`, "created_at", outOfRange, `"0001-01-01T00:00:00Z"`},
		{"no such day", order, orderRow(1), `"business_day":"2025-03-14"`, `"business_day":"2025-02-29"`, "business_day", noSuch + "day out of range", `"2025-02-29"`},
		{"fields twice", order, orderRow(1), `"channel":"pos"`, `"channel":"pos","channel":"pos"`, "channel", "there twice", ""},
		{"fields twice, deep", order, orderRow(2), `"vat_rate":9,"total":"50.65"`, `"vat_rate":9,"vat_rate":9,"total":"50.65"`, "items.1.vat_rate", "there twice", ""},
		{"unknown field of an object that is none", order, orderRow(1), `"channel":"pos"`, `"x":[01],"channel":"pos"`, "x", "not valid JSON", "1]"},
		{"bool as text", product, productRow, `"available":true`, `"available":"true"`, "available", "want true or false", `"true"`},
		{"bool as number", product, productRow, `"available":true`, `"available":1`, "available", "want true or false", `1`},
		{"a fraction of an integer", product, productRow, `"position":3`, `"position":3.5`, "position", "want a whole number", "3.5"},
		{"a large integer", product, productRow, `"position":3`, `"position":9223372036854775808`, "position", "does not fit in 64 bits", "9223372036854775808"},
		{"null in a list of texts", product, productRow, `["vegetarian"]`, `["vegetarian",null]`, "diets.1", "want a string", "null"},
		{"map value of the wrong shape", product, productRow, `"platform_a":{"enabled":false,"price":"36.50"}`, `"platform_a":null`, "channels.platform_a", "want an object", "null"},
		{"map key twice", product, productRow, `"platform_a":{`, `"online":{`, "channels.online", "there twice", ""},
		{"missing in a map value", product, productRow, `"enabled":false,`, ``, "channels.platform_a.enabled", "missing", ""},
		{"deleted of the wrong kind", product, productRow, `"deleted":false`, `"deleted":0`, "deleted", "want true or false", "0"},
		{"cut short", order, orderRow(1), `"totals":{"items":"94.50","discount"`, "\x00", "", "not valid JSON", "\x00"},
		{"not UTF-8", order, orderRow(1), `"number":"1042"`, "\"number\":\"10\xff42\"", "number", "not valid JSON: invalid UTF-8", ""},
		{"control character", order, orderRow(1), `"number":"1042"`, "\"number\":\"a\nb\"", "number", "not valid JSON", ""},
		{"number that is none", order, orderRow(1), `"discount_percent":10.5`, `"discount_percent":010`, "items.0", "not valid JSON", "10,"},
		{"not a number", order, orderRow(1), `"discount_percent":10.5`, `"discount_percent":NaN`, "items.0.discount_percent", "not valid JSON", "NaN"},
		{"two values", order, orderRow(1), `"item_id":null}]}`, `"item_id":null}]} {}`, "", "more than one JSON value", ""},
		{"text behind", order, orderRow(1), `"item_id":null}]}`, `"item_id":null}]}x`, "", "not valid JSON", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(c.row, c.old) {
				t.Fatalf("the good row has no %s", c.old)
			}
			bad := refused(t, c.plan, c.row, strings.Replace(c.row, c.old, c.new, 1))
			if bad.Field != c.field || !strings.HasPrefix(bad.Explained(), c.reason) || !strings.HasPrefix(bad.Value, c.value) {
				t.Errorf("got field %q, reason %q, detail %q, value %q", bad.Field, bad.Reason, bad.Detail, bad.Value)
			}
			if want := map[*Plan]string{order: "ord_01J8ZQ4M7T", product: "prd_7"}[c.plan]; bad.ID != want {
				t.Errorf("got id %q, want %q", bad.ID, want)
			}
		})
	}
}

func TestBadWholes(t *testing.T) {
	p := plan[types.Category](t, "categories")
	for _, c := range []struct{ row, id, field, reason string }{
		{``, "", "", "no JSON"},
		{`   `, "", "", "no JSON"},
		{`null`, "", "", "want an object"},
		{`[]`, "", "", "want an object"},
		{`<html>`, "", "", "not valid JSON"},
		{`{`, "", "", "the JSON ends early"},
		{`{"id":"c1","name":"x`, "c1", "name", "the JSON ends early"},
		{strings.Replace(categoryRow, `"id":"cat_1",`, ``, 1), "", "id", "missing"},
		{strings.Replace(categoryRow, `"id":"cat_1"`, `"id":""`, 1), "", "id", "want a string that is not empty"},
		{strings.Replace(categoryRow, `"id":"cat_1"`, `"id":12`, 1), "", "id", "want a string that is not empty"},
		{strings.Replace(categoryRow, `"id":"cat_1"`, `"id":null`, 1), "", "id", "want a string that is not empty"},
		{strings.Replace(categoryRow, `"id":"cat_1"`, "\"id\":\"\xff\"", 1), "", "id", "not valid JSON"},
		{strings.Replace(categoryRow, `"id":"cat_1"`, `"id":"\ud800"`, 1), "", "id", halfSurrogate},
		{`{"deleted":true,"id":"cat\ud800"}`, "", "id", halfSurrogate},
		{"{\"name\":7,\"\xff\\t\":1,\"id\":\"behind\"}", "behind", "name", "want a string"},
		{`{"name":7,"\udfff":1,"id":"behind"}`, "behind", "name", "want a string"},
		{`{"name":7,"id":"late"}`, "late", "name", "want a string"},
		{`{"name":7,"\u0069d":"escaped"}`, "escaped", "name", "want a string"},
		{`{"name":7,"x":{"id":"inner"},"id":"outer"}`, "outer", "name", "want a string"},
	} {
		bad := refused(t, p, categoryRow, c.row)
		if bad.ID != c.id || bad.Field != c.field || !strings.HasPrefix(bad.Reason, c.reason) {
			t.Errorf("%s: got id %q, field %q, reason %q", c.row, bad.ID, bad.Field, bad.Reason)
		}
	}
	if bad := refused(t, plan[types.Me](t, "api_keys"), meRow, strings.Replace(meRow, `"all_locations":true`, `"all_locations":1`, 1)); bad.ID != "app_1" {
		t.Errorf("the key's id came as %q", bad.ID)
	}
}

// Nested deeper than any parser's stack, in a known and in an unknown field.
func TestDepthBombs(t *testing.T) {
	p := plan[types.Category](t, "categories")
	for _, bomb := range []string{strings.Repeat("[", 1_000_000), strings.Repeat(`{"a":`, 1_000_000), strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000)} {
		for _, name := range []string{"name", "unknown"} {
			bad := refused(t, p, categoryRow, `{"id":"c1","`+name+`":`+bomb+`}`)
			if bad.ID != "c1" || !strings.HasPrefix(bad.Field, name) || len(bad.Field) > excerptSize || len(bad.Value) > excerptSize {
				t.Errorf("got id %q, field %.50q of %d bytes, reason %q", bad.ID, bad.Field, len(bad.Field), bad.Reason)
			}
		}
	}
}

// Many names must not cost a quadratic time.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		b.WriteString(`,"` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("0", i/7%5) + `-` + strings.Repeat("1", i%3) + `":0`)
	}
	mapped(t, plan[types.Category](t, "categories"), categoryRow[:len(categoryRow)-1]+b.String()+"}")
	b.Reset()
	for i := range 100_000 {
		b.WriteString(`"k` + strconv.Itoa(i%50_000) + `":"` + strconv.Itoa(i) + `.00",`)
	}
	got, _ := mapped(t, plan[types.SalesDay](t, "sales_daily"), strings.Replace(dayRow, `"payments":{`, `"payments":{`+b.String(), 1))
	if payments := got["payments"].(values); payments["k7"] != "7.00" || len(payments) != 50_000+2 {
		t.Errorf("k7 is %v among %d entries", payments["k7"], len(payments))
	}
}

func TestErrorText(t *testing.T) {
	bad := refused(t, plan[types.Category](t, "categories"), categoryRow, strings.Replace(categoryRow, `"position":1`, `"position":"one"`, 1))
	if got, want := bad.Error(), `row "cat_1", field position: want a number: "one"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	long := refused(t, plan[types.Category](t, "categories"), categoryRow, strings.Replace(categoryRow, `"position":1`, `"position":"`+strings.Repeat("ă", 500)+`"`, 1))
	if len(long.Value) > excerptSize || !strings.HasSuffix(long.Value, "ă") {
		t.Errorf("excerpt of %d bytes ends in %q", len(long.Value), long.Value[len(long.Value)-3:])
	}
}
