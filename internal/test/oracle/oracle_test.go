package oracle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// order is a row with a value of every kind of column but maps, and its columns.
const order = `{"id":"o1","deleted":false,"number":null,"location_id":"l","channel":"pos","type":"dine_in","business_day":"2026-03-29",` +
	`"created_at":"2026-03-29T00:30:00Z","updated_at":"2026-03-29T03:30:00.25+03:00","paid_at":null,` +
	`"items":[{"id":"i1","product_id":null,"name":"Ciorbă","variant_id":null,"variant_name":null,"quantity":"1.500","weight_kg":null,` +
	`"price_per_kg":null,"unit_price":"-12.50","extras":[{"name":"Smântână","price":"1.00"}],"discount_percent":10,"vat_rate":9.5e0,"total":"7"},` +
	`{"id":"i2","name":"x","quantity":"2","unit_price":"1.00","extras":[],"discount_percent":0,"vat_rate":null,"total":"2.00"}],` +
	`"totals":{"items":"9.00","discount":"0.00","delivery_fee":"0.00","tip":"0.00","deposit":"0.00","total":"9.00","net_sales":"9.00"},` +
	`"payments":[],"refunds":[{"amount":"1.00","method":"cash","at":"2026-03-30T00:00:00Z","item_id":null}],"new":{"x":1}}`

const orderColumns = `{"number":null,"location_id":"l","channel":"pos","type":"dine_in","table_id":null,"business_day":"2026-03-29",
	"created_at":"2026-03-29T00:30:00.000000Z","updated_at":"2026-03-29T00:30:00.250000Z","paid_at":null,
	"items.id":["i1","i2"],"items.product_id":[null,null],"items.name":["Ciorb\u0103","x"],"items.variant_id":[null,null],"items.variant_name":[null,null],
	"items.quantity":["1.5000000000","2.0000000000"],"items.weight_kg":[null,null],"items.price_per_kg":[null,null],"items.unit_price":["-12.50","1.00"],
	"items.extras_name":[["Smântână"],[]],"items.extras_price":[["1.00"],[]],"items.discount_percent":["10.0000000000","0.0000000000"],
	"items.vat_rate":["9.5000000000",null],"items.total":["7.00","2.00"],
	"totals_items":"9.00","totals_discount":"0.00","totals_delivery_fee":"0.00","totals_tip":"0.00","totals_deposit":"0.00","totals_total":"9.00","totals_net_sales":"9.00",
	"payments.method":[],"payments.amount":[],"payments.at":[],
	"refunds.amount":["1.00"],"refunds.method":["cash"],"refunds.at":["2026-03-30T00:00:00.000000Z"],"refunds.item_id":[null]}`

const product = `{"id":"p","location_id":"l","category_id":null,"name":"Bere","description":null,"image_url":null,"price":"9.00","unit":"piece",` +
	`"vat_rate":19,"deposit":"0.50","available":true,"allergens":[{"code":"1","name":"Gluten"}],"diets":["vegan"],"calories":null,"prep_minutes":5,` +
	`"station":"bar","channels":{"online":{"enabled":true,"price":"9.00"},"platform_c":{"enabled":false,"price":"10.00"}},"variants":[],` +
	`"extra_groups":[{"id":"g","name":"G","min":0,"max":null,"required":false,"options":[{"id":"x","name":"X","price":"0.00"}]},` +
	`{"id":"h","name":"H","min":1,"max":2,"required":true,"options":[]}],"position":3,"created_at":null,"updated_at":null}`

const productColumns = `{"location_id":"l","category_id":null,"name":"Bere","description":null,"image_url":null,"price":"9.00","unit":"piece",
	"vat_rate":"19.0000000000","deposit":"0.50","available":1,"allergens.code":["1"],"allergens.name":["Gluten"],"diets":["vegan"],"calories":null,"prep_minutes":5,
	"station":"bar","channels_enabled":{"platform_c":0,"online":1},"channels_price":{"online":"9.00","platform_c":"10.00"},
	"variants.id":[],"variants.name":[],"variants.price":[],"variants.price_delta":[],
	"extra_groups.id":["g","h"],"extra_groups.name":["G","H"],"extra_groups.min":[0,1],"extra_groups.max":[null,2],"extra_groups.required":[false,true],
	"extra_groups.options_id":[["x"],[]],"extra_groups.options_name":[["X"],[]],"extra_groups.options_price":[["0.00"],[]],
	"position":3,"created_at":null,"updated_at":null}`

func columnsOf(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var columns map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &columns); err != nil {
		t.Fatal(err)
	}
	return columns
}

func TestRightColumnsDoNotDiffer(t *testing.T) {
	for _, c := range []struct {
		stream, raw, columns string
		context              map[string]string
	}{
		{"sales_orders", order, orderColumns, nil},
		{"products", product, productColumns, nil},
		{"ingredients", `{"id":"i","location_id":"l","name":"n","unit":"kg","stock":"-1.250","min_stock":"0.000","below_min":true,"category":null,` +
			`"warehouse":{"id":"w","name":"W"},"is_prepared":false,"allergens":null}`,
			`{"location_id":"l","name":"n","unit":"kg","stock":"-1.2500000000","min_stock":"0.0000000000","below_min":true,"category_id":null,"category_name":null,
			"warehouse_id":"w","warehouse_name":"W","sku":null,"barcode":null,"is_prepared":false,"allergens.code":[],"allergens.name":[],"created_at":null,"updated_at":null}`, nil},
		{"sales_daily", `{"date":"2026-01-01","orders":0,"net_sales":"0.00","items":"0.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00","deposits":"0.00",` +
			`"refunds":"0.00","payments":{"cash":"1.00","crypto":"2"},"by_type":{},"by_channel":{"pos":"0.00"}}`,
			`{"location_id":"l1","date":"2026-01-01","orders":0,"net_sales":"0.00","items":"0.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00","deposits":"0.00",
			"refunds":"0.00","payments":{"crypto":"2.00","cash":"1.00"},"by_type":{},"by_channel":{"pos":"0.00"}}`, map[string]string{"location_id": `"l1"`}},
	} {
		s, _ := Of(c.stream)
		if found := s.Wrong([]byte(c.raw), columnsOf(t, c.columns), c.context); len(found) > 0 {
			t.Errorf("%s: %+v", c.stream, found)
		}
	}
}

func TestWrongColumnsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		stream, raw, columns, from, to string
		want                           Difference
	}{
		"a value":                    {"sales_orders", order, orderColumns, `"totals_tip":"0.00"`, `"totals_tip":"0.10"`, Difference{"totals_tip", `"0.00"`, `"0.10"`}},
		"an inner list":              {"sales_orders", order, orderColumns, `[["1.00"],[]]`, `[["1.00"],["2.00"]]`, Difference{"items.extras_price", `[["1.00"],[]]`, `[["1.00"],["2.00"]]`}},
		"null for a value":           {"products", product, productColumns, `"deposit":"0.50"`, `"deposit":null`, Difference{"deposit", `"0.50"`, `null`}},
		"a value for null":           {"products", product, productColumns, `"calories":null`, `"calories":0`, Difference{"calories", `null`, `0`}},
		"an hour":                    {"sales_orders", order, orderColumns, `T00:30:00.250000Z`, `T01:30:00.250000Z`, Difference{"updated_at", `"2026-03-29T00:30:00.250000Z"`, `"2026-03-29T01:30:00.250000Z"`}},
		"a key of a map":             {"products", product, productColumns, `"platform_c":"10.00"`, `"platform_d":"10.00"`, Difference{"channels_price", `{"online":"9.00","platform_c":"10.00"}`, `{"online":"9.00","platform_d":"10.00"}`}},
		"a column that is not there": {"products", product, productColumns, `"position":3,`, ``, Difference{"position", `3`, ``}},
		"a column too many":          {"products", product, productColumns, `"position":3`, `"position":3,"place":1`, Difference{"place", ``, `1`}},
	} {
		s, _ := Of(c.stream)
		if diff := cmp.Diff([]Difference{c.want}, s.Wrong([]byte(c.raw), columnsOf(t, replace(t, c.columns, c.from, c.to)), nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func replace(t *testing.T, in, from, to string) string {
	t.Helper()
	if !strings.Contains(in, from) {
		t.Fatalf("%q is not in %s", from, in)
	}
	if from == "" {
		return in
	}
	return strings.Replace(in, from, to, 1)
}

func TestAmountText(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1.00", "-1.5": "-1.50", "0": "0.00", "-0.00": "0.00", "-0.01": "-0.01", "007.10": "7.10", strings.Repeat("0", 300) + "1.00": "1.00",
		"9999999999999999.99": "9999999999999999.99", "10000000000000000": "", "1.000": "", "1e2": "", "1.": "", ".5": "", "-": "", "+1": "", "": "", " 1": "", "1/2": "",
	} {
		got, err := amountText(in, 16, 2)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("amountText(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestEntriesThatDoNotFitHaveNoColumn(t *testing.T) {
	raw := replace(t, product, `"channels":{`, `"channels":{"a":null,"b":7,"c":{"enabled":true},"d":{"enabled":1,"price":"1.00"},"e":{"enabled":true,"price":"1.00"},`)
	columns := replace(t, replace(t, productColumns, `"channels_enabled":{`, `"channels_enabled":{"e":true,`), `"channels_price":{`, `"channels_price":{"e":"1.00",`)
	s, _ := Of("products")
	if found := s.Wrong([]byte(raw), columnsOf(t, columns), nil); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	known := replace(t, product, `"online":{"enabled":true,"price":"9.00"}`, `"online":7`)
	if found := s.Wrong([]byte(known), columnsOf(t, productColumns), nil); len(found) != 2 {
		t.Errorf("a known entry that does not fit: %+v", found)
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		in       string
		decimals int
		want     string
	}{
		{"1", 2, "1.00"}, {"-1.5", 2, "-1.50"}, {"0", 2, "0.00"}, {"-0.00", 2, "0.00"}, {"-0.01", 2, "-0.01"}, {"007.10", 2, "7.10"}, {"0.05", 2, "0.05"}, {"-0", 0, "0"}, {"-12", 0, "-12"}, {"0", 0, "0"},
		{"1e2", 2, "100.00"}, {"1.2E-1", 2, "0.12"}, {"12", 0, "12"}, {"1.0", 0, "1"}, {"1.234", 2, "1.23"}, {"1.230", 2, "1.23"}, {"abc", 2, ""},
		{"33.333333333333336", 10, "33.3333333333"}, {"-0.00000000009", 10, "0.0000000000"}, {"-1.99999999999", 10, "-1.9999999999"}, {"1e-400", 10, "0.0000000000"},
		{"123e-11", 10, "0.0000000012"}, {"1e-1", 0, ""}, {"1.5", 0, ""}, {"15e1", 0, "150"}, {"1.5e1", 0, "15"}, {"0e999999999999", 10, "0.0000000000"},
		{"0." + strings.Repeat("3", 1000), 10, "0.3333333333"}, {"1e28", 10, ""}, {"1e-99999999999999999999", 2, "0.00"},
		{"", 2, ""}, {"1/2", 2, ""}, {"0x10", 2, ""}, {"1e999999999", 2, ""}, {"1e", 2, ""}, {"1_0", 2, ""}, {"123456789012345678901234567.0123456789", 10, "123456789012345678901234567.0123456789"},
	} {
		got, err := decimalText(c.in, c.decimals)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("decimalText(%q, %d) = %q, %v, want %q", c.in, c.decimals, got, err, c.want)
		}
	}
}
