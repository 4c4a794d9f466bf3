package mapping

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
)

func reported(items []DriftItem) []string {
	var lines []string
	for _, d := range items {
		lines = append(lines, d.Kind+" "+d.Path+" "+string(d.Example))
	}
	return lines
}

func TestUnknownFieldsAndValuesLand(t *testing.T) {
	row := strings.NewReplacer(
		`"channel":"pos"`, `"covers": {"adults": 2} ,"channel":"kiosk"`,
		`"vat_rate":9`, `"vat_rate":9,"discount_code":"VARA","covers":[]`,
		`"name":"Smântână"`, `"name":"Smântână","kcal":12`,
		`"method":"cash"`, `"method":"crypto"`,
		`"tip":"5.00"`, `"tip":"5.00","service":"1.00"`,
	).Replace(orderRow(3))
	got, r := mapped(t, plan[types.SalesOrder](t, "sales_orders"), row)
	want := []string{
		`field covers {"adults": 2}`, `value channel "kiosk"`, `field items.extras.kcal 12`, `field items.discount_code "VARA"`, `field items.covers []`,
		`field totals.service "1.00"`, `value payments.method "crypto"`,
	}
	if diff := cmp.Diff(want, reported(r.Drift)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got["channel"] != "kiosk" || cmp.Diff(list{"card", "crypto"}, got["payments.method"]) != "" {
		t.Errorf("landed as %v, %v", got["channel"], got["payments.method"])
	}
}

func TestUnknownKeysAndListValues(t *testing.T) {
	row := strings.NewReplacer(`"platform_a":{"enabled":false`, `"platform_c":{"commission":"1.00","enabled":false`).Replace(productRow)
	got, r := mapped(t, plan[types.Product](t, "products"), row)
	if diff := cmp.Diff([]string{`value channels "platform_c"`, `field channels.commission "1.00"`}, reported(r.Drift)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(values{"online": "34.00", "platform_c": "36.50"}, got["channels_price"]); diff != "" {
		t.Error(diff)
	}
	_, r = mapped(t, plan[types.SalesDay](t, "sales_daily"), strings.Replace(dayRow, `"card":`, `"vouch\u0065r_2":"0.00","card":`, 1))
	if diff := cmp.Diff([]string{`value payments "vouch\u0065r_2"`}, reported(r.Drift)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, r = mapped(t, plan[types.Me](t, "api_keys"), strings.Replace(meRow, `"menu:read"`, `"menu:write"`, 1))
	if diff := cmp.Diff([]string{`value scopes "menu:write"`}, reported(r.Drift)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An entry that the API's description does not name lands when it fits, and is left to the row's JSON
// when it does not; the row lands either way, and tells of the key once (docs/rules.md R9).
func TestUnknownEntriesOfMaps(t *testing.T) {
	for value, fits := range map[string]any{
		`"1.50"`: "1.50", `"-0.5"`: "-0.50", `"007.00"`: "7.00", `"9999999999999999.99"`: "9999999999999999.99",
		`null`: nil, `true`: nil, `7`: nil, `1.50`: nil, `1e400`: nil, `""`: nil, `"abc"`: nil, `"1.234"`: nil, `"1e2"`: nil, `"+1.00"`: nil,
		`"10000000000000000.00"`: nil, `[]`: nil, `["1.50"]`: nil, `{}`: nil, `{"amount":"1.50","amount":"2.50"}`: nil,
	} {
		for _, in := range []string{"payments", "by_type", "by_channel"} {
			want := values{"k": "1.00"}
			if fits != nil {
				want["x_future"] = fits
			}
			row := strings.NewReplacer(`{"cash":"1.00","card":"199.00"}`, `{"k":"1.00"}`, `{"dine_in":"189.00"}`, `{"k":"1.00"}`, `{"pos":"189.00"}`, `{"k":"1.00"}`).Replace(dayRow)
			row = strings.Replace(row, `"`+in+`":{`, `"`+in+`":{"x_future":`+value+`,`, 1)
			got, r := mapped(t, plan[types.SalesDay](t, "sales_daily"), row)
			if diff := cmp.Diff(want, got[in]); diff != "" {
				t.Errorf("%s of %s (-want +got)\n%s", value, in, diff)
			}
			if found := reported(r.Drift); !slices.Contains(found, "value "+in+` "x_future"`) || len(found) != 4 {
				t.Errorf("%s of %s is reported as %q", value, in, found)
			}
		}
	}
}

func TestUnknownChannels(t *testing.T) {
	for value, fits := range map[string]bool{
		`{"enabled":true,"price":"1.50"}`: true, `{"price":"1.50","enabled":true,"commission":null}`: true,
		`null`: false, `true`: false, `7`: false, `"1.50"`: false, `[]`: false, `{}`: false, `{"enabled":true}`: false, `{"price":"1.50"}`: false,
		`{"enabled":true,"price":null}`: false, `{"price":"1.50","enabled":"yes"}`: false, `{"enabled":true,"price":"1.234"}`: false,
		`{"enabled":true,"price":1.5}`: false, `[{"enabled":true,"price":"1.50"}]`: false,
	} {
		got, r := mapped(t, plan[types.Product](t, "products"), strings.Replace(productRow, `"channels":{`, `"channels":{"x_future":`+value+`,`, 1))
		enabled, price := values{"online": true, "platform_a": false}, values{"online": "34.00", "platform_a": "36.50"}
		if fits {
			enabled["x_future"], price["x_future"] = true, "1.50"
		}
		if diff := cmp.Diff([]any{enabled, price}, []any{got["channels_enabled"], got["channels_price"]}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", value, diff)
		}
		if found := reported(r.Drift); found[0] != `value channels "x_future"` || len(found) > 2 {
			t.Errorf("%s is reported as %q", value, found)
		}
	}
}

func TestTheFirstOfUnknownEntriesCounts(t *testing.T) {
	for entries, want := range map[string]values{
		`"x":"1.00","x":"2.00"`: {"x": "1.00"}, `"x":"1.00","x":null`: {"x": "1.00"}, `"x":null,"\u0078":"2.00","x":"3.00"`: {},
	} {
		want["cash"], want["card"] = "1.00", "199.00"
		got, _ := mapped(t, plan[types.SalesDay](t, "sales_daily"), strings.Replace(dayRow, `"payments":{`, `"payments":{`+entries+`,`, 1))
		if diff := cmp.Diff(want, got["payments"]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", entries, diff)
		}
	}
	for _, twice := range []string{`"x":1,"x":2`, `"x":{"y":1,"y":[{"z":1,"z":2}]}`, `"x":1,"\u0078":2`} {
		_, r := mapped(t, plan[types.SalesOrder](t, "sales_orders"), `{`+twice+`,`+orderRow(1)[1:])
		if len(r.Drift) != 1 {
			t.Errorf("%s is reported as %q", twice, reported(r.Drift))
		}
	}
}

// Digits that are finer than their column cost no row: they are cut, and reported once
// a path, whatever they are.
func TestFineDigitsAreCut(t *testing.T) {
	row := strings.NewReplacer(`"discount_percent":10.5`, `"discount_percent":33.333333333333336`, `11.123456Z`, `11.1234569Z`).Replace(orderRow(2))
	row = strings.Replace(row, `333333336`, `333333337`, 1)
	got, r := mapped(t, plan[types.SalesOrder](t, "sales_orders"), row)
	if got["created_at"] != "2025-03-14T18:03:11.123456Z" || !slices.Equal(got["items.discount_percent"].([]any), []any{"33.3333333333", "33.3333333333"}) {
		t.Errorf("got %v and %v", got["created_at"], got["items.discount_percent"])
	}
	want := []string{`digits created_at "2025-03-14T18:03:11.1234569Z"`, `digits items.discount_percent 33.333333333333337`}
	if diff := cmp.Diff(want, reported(r.Drift)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a, b := DriftItem{Path: "x", Kind: DriftDigits, Example: []byte("1")}, DriftItem{Path: "x", Kind: DriftDigits, Example: []byte("2")}
	if a.Key() != b.Key() {
		t.Error("other digits of a field count as other drift")
	}
}

// Half a surrogate pair is valid JSON: as a text, in a list, as the name of a field and
// as the key of a map.
func TestHalfASurrogateLands(t *testing.T) {
	row := strings.NewReplacer(`"number":"1042"`, `"number":"10\ud83c42"`, `"channel":"pos"`, `"channel":"pos","x\udc00":"\ud83c"`).Replace(orderRow(1))
	got, r := mapped(t, plan[types.SalesOrder](t, "sales_orders"), row)
	if got["number"] != "10\ufffd42" || !slices.Equal(reported(r.Drift), []string{"field x\ufffd \"\\ud83c\""}) {
		t.Errorf("number is %q, reported %q", got["number"], reported(r.Drift))
	}
	row = strings.NewReplacer(`["vegetarian"]`, `["vegetarian","\ud83c\ud83c"]`, `"channels":{`, `"channels":{"\ud83c":{"enabled":true,"price":"1.50"},`).Replace(productRow)
	got, _ = mapped(t, plan[types.Product](t, "products"), row)
	if diff := cmp.Diff([]any{"vegetarian", "\ufffd\ufffd"}, got["diets"]); diff != "" || got["channels_price"].(values)["\ufffd"] != "1.50" {
		t.Errorf("channels %v, diets (-want +got)\n%s", got["channels_price"], diff)
	}
	p := plan[types.SalesOrder](t, "sales_orders")
	tomb, err := p.NewMapper().Append(sinks.NewBatch(p.Table(), 1), []byte(`{"id":"a","deleted":true,"reason":"\ud83c","x":"\ud83c"}`))
	if err != nil || tomb.Tombstone.Reason != "\ufffd" {
		t.Errorf("a tombstone: %+v, %v", tomb.Tombstone, err)
	}
}

func TestDriftIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		b.WriteString(`,"u` + strings.Repeat("ș", i%300) + time.Duration(i).String() + `":"` + strings.Repeat("é", 300) + `"`)
	}
	p := plan[types.Category](t, "categories")
	m := p.NewMapper()
	r, err := m.Append(sinks.NewBatch(p.Table(), 1), []byte(categoryRow[:len(categoryRow)-1]+b.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Drift) != maxDrift || len(m.paths) > maxPaths {
		t.Errorf("%d items, %d paths", len(r.Drift), len(m.paths))
	}
	for _, d := range r.Drift {
		if len(d.Example) > excerptSize || len(d.Path) > excerptSize {
			t.Fatalf("an example of %d bytes, a path of %d", len(d.Example), len(d.Path))
		}
	}
}

func TestSeen(t *testing.T) {
	var seen Seen
	field := DriftItem{Path: "items.discount_code", Kind: DriftField, Example: []byte(`1`)}
	value := DriftItem{Path: "items.discount_code", Kind: DriftValue}
	before := seen.Has(field)
	seen.Add(field.Key())
	if before || !seen.Has(field) || seen.Has(value) {
		t.Error("the set forgets or makes up")
	}
	if n := testing.AllocsPerRun(100, func() { seen.Has(field) }); n > 0 {
		t.Errorf("asking allocates %v times", n)
	}
}

// A field that the service added is in every row from then on.
func TestKnownDriftDoesNotAllocate(t *testing.T) {
	p := plan[types.SalesOrder](t, "sales_orders")
	m, b, raw := p.NewMapper(), sinks.NewBatch(p.Table(), 1), []byte(`{"covers":4,`+strings.ReplaceAll(orderRow(4), `"pos"`, `"kiosk"`)[1:])
	if n := testing.AllocsPerRun(100, func() {
		if _, err := m.Append(b, raw); err != nil {
			t.Fatal(err)
		}
		b.Rollback()
	}); n > 1 {
		t.Errorf("%v allocations a row", n)
	}
}

func TestTombstones(t *testing.T) {
	at := time.Date(2025, 3, 14, 18, 3, 11, 0, time.UTC)
	for _, c := range []struct {
		row   string
		want  Tombstone
		drift []string
	}{
		{`{"id":"a","deleted":true,"deleted_at":"2025-03-14T18:03:11Z","updated_at":"2025-03-14T20:03:11+02:00","reason":"cancelled"}`, Tombstone{"a", at, at, "cancelled"}, nil},
		{`{"id":"a","deleted":true,"deleted_at":null,"updated_at":null,"reason":null}`, Tombstone{ID: "a", Reason: "deleted"}, nil},
		{` {"deleted":true , "id":"\u0061/b"} `, Tombstone{ID: "a/b", Reason: "deleted"}, nil},
		{`{"id":"a","reason":"merged","by":"x","deleted":true}`, Tombstone{ID: "a", Reason: "merged"}, []string{`value reason "merged"`, `field by "x"`}},
		{`{"id":"a","deleted":true,"x":{"y":1,"y":2},"x":3}`, Tombstone{ID: "a", Reason: "deleted"}, []string{`field x {"y":1,"y":2}`}},
		{`{"id":"a","location_id":null,"deleted":true}`, Tombstone{ID: "a", Reason: "deleted"}, []string{`field location_id null`}},
		{`{"id":"a","deleted":true,"deleted_at":"2025-03-14T18:03:11.0000009Z","updated_at":"2025-03-14T18:03+00"}`, Tombstone{"a", at, at.Add(-11 * time.Second), "deleted"}, []string{`digits deleted_at "2025-03-14T18:03:11.0000009Z"`}},
		// What is not understood is unknown, and stops no burial.
		{`{"id":"a","deleted":true,"deleted_at":"0001-01-01T00:00:00Z","updated_at":"2025-03-14T18:03:11Z"}`, Tombstone{"a", time.Time{}, at, "deleted"}, []string{`value deleted_at "0001-01-01T00:00:00Z"`}},
		{`{"id":"a","deleted":true,"deleted_at":"9999-12-31T23:59:59Z","reason":"unpaid"}`, Tombstone{ID: "a", Reason: "unpaid"}, []string{`value deleted_at "9999-12-31T23:59:59Z"`}},
		{`{"id":"a","deleted":true,"deleted_at":"yesterday","updated_at":5}`, Tombstone{ID: "a", Reason: "deleted"}, []string{`value deleted_at "yesterday"`, `value updated_at 5`}},
		{`{"id":"a","deleted":true,"deleted_at":{"at":1},"reason":5}`, Tombstone{ID: "a", Reason: "deleted"}, []string{`value deleted_at {"at":1}`, `value reason 5`}},
		{`{"id":"a","deleted":true,"reason":""}`, Tombstone{ID: "a", Reason: "deleted"}, []string{`value reason ""`}},
	} {
		p := plan[types.SalesOrder](t, "sales_orders")
		b := sinks.NewBatch(p.Table(), 1)
		r, err := p.NewMapper().Append(b, []byte(c.row))
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		if diff := cmp.Diff(&c.want, r.Tombstone); diff != "" || r.ID != c.want.ID || r.UpdatedAt != c.want.UpdatedAt {
			t.Errorf("%s: id %q, updated %v (-want +got)\n%s", c.row, r.ID, r.UpdatedAt, diff)
		}
		if diff := cmp.Diff(c.drift, reported(r.Drift)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.row, diff)
		}
		for i := range b.Vectors {
			if b.Vectors[i].Len() > 0 {
				t.Errorf("%s: appended to %s", c.row, b.Table.Columns[i].Name)
			}
		}
	}
}

func TestBadTombstones(t *testing.T) {
	p := plan[types.SalesOrder](t, "sales_orders")
	for _, c := range []struct{ row, id, field, reason string }{
		{`{"deleted":true}`, "", "id", "missing"},
		{`{"deleted":true,"id":null}`, "", "id", "want a string"},
		{`{"deleted":true,"id":""}`, "", "id", "want a string that is not empty"},
		{`{"id":"a","deleted":true,"deleted":false}`, "a", "deleted", "there twice"},
		{`{"id":"a","deleted":true,"id":"b"}`, "a", "id", "there twice"},
		{`{"id":"a","deleted":true`, "a", "", "the JSON ends early"},
		{`{"id":"a","deleted":true} x`, "a", "", "not valid JSON"},
	} {
		bad := refused(t, p, orderRow(1), c.row)
		if bad.ID != c.id || bad.Field != c.field || !strings.HasPrefix(bad.Reason, c.reason) {
			t.Errorf("%s: got id %q, field %q, reason %q", c.row, bad.ID, bad.Field, bad.Reason)
		}
	}
	// Lists whose rows have no field deleted have no tombstones either.
	bad := refused(t, plan[types.Allergen](t, "allergens"), `{"code":"a","name":"b"}`, `{"code":"a","deleted":true}`)
	if bad.Field != "name" {
		t.Errorf("got %v", bad)
	}
}

// Every unknown value is reported once, not only the first of its path (docs/rules.md R9).
func TestEachUnknownValueIsReported(t *testing.T) {
	var seen Seen
	for _, example := range []string{`"meal"`, `"points"`} {
		d := DriftItem{Path: "payments.method", Kind: DriftValue, Example: []byte(example)}
		if seen.Has(d) {
			t.Fatalf("%s counts as reported", example)
		}
		seen.Add(d.Key())
		if !seen.Has(d) {
			t.Fatalf("%s does not count as reported", example)
		}
	}
}
