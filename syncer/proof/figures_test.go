package proof

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
)

// oneOrder is a row of /sales/daily with one order of 10.00 in cash.
func oneOrder(day types.Date, edit ...string) string {
	row := fmt.Sprintf(`{"date":%q,"orders":1,"net_sales":"10.00","items":"10.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00",`+
		`"deposits":"0.00","refunds":"0.00","payments":{"cash":"10.00","card":"0.00"},"by_type":{"dine_in":"10.00"},"by_channel":{"pos":"10.00"}}`, day)
	return strings.NewReplacer(edit...).Replace(row)
}

// reportOf reads rows of days, or lines of products, as the service gives them.
func reportOf(sp Span, lines bool, rows ...string) map[types.Date]*reported {
	var raws [][]byte
	for _, row := range rows {
		raws = append(raws, []byte(row))
	}
	return readReport(sp, answer{SalesReport: api.SalesReport{Rows: raws}, days: PlaceRows(raws, lines)}, lines)
}

func TestAnswersThatCannotBeComparedAreUnproven(t *testing.T) {
	const yesterday, today = types.Date("2026-03-28"), types.Date("2026-03-29")
	mirror := dayFigures{"orders": "1", "net_sales": "10", "items": "10.0", "payments/cash": "10.00", "by_type/dine_in": "10.00", "by_channel/pos": "10.00"}
	for name, c := range map[string]struct {
		rows    []string
		verdict string // of today
		reason  string
	}{
		"equal":                     {[]string{oneOrder(yesterday), oneOrder(today)}, sinks.VerdictProven, ""},
		"a method missing":          {[]string{oneOrder(yesterday), oneOrder(today, `,"card":"0.00"`, "")}, sinks.VerdictProven, ""},
		"a total missing":           {[]string{oneOrder(yesterday), oneOrder(today, `"tips":"0.00",`, "")}, sinks.VerdictUnproven, "tips is missing, and no number"},
		"a map missing":             {[]string{oneOrder(yesterday), oneOrder(today, `,"by_channel":{"pos":"10.00"}`, "")}, sinks.VerdictUnproven, "by_channel is missing, and no object"},
		"a number, not a text":      {[]string{oneOrder(yesterday), oneOrder(today, `"net_sales":"10.00"`, `"net_sales":10`)}, sinks.VerdictProven, ""},
		"a field more":              {[]string{oneOrder(yesterday), oneOrder(today, `"orders":1`, `"orders":1,"covers":3`)}, sinks.VerdictProven, ""},
		"another order of days":     {[]string{oneOrder(today), oneOrder(yesterday)}, sinks.VerdictProven, ""},
		"another figure":            {[]string{oneOrder(yesterday), oneOrder(today, `"items":"10.00"`, `"items":"10.01"`)}, "", ""},
		"a key more":                {[]string{oneOrder(yesterday), oneOrder(today, `"cash":"10.00"`, `"cash":"10.00","crypto":"1.00"`)}, "", ""},
		"a total that is no number": {[]string{oneOrder(yesterday), oneOrder(today, `"tips":"0.00"`, `"tips":"abc"`)}, sinks.VerdictUnproven, `tips is "abc", and no number`},
		"a total that is null":      {[]string{oneOrder(yesterday), oneOrder(today, `"tips":"0.00"`, `"tips":null`)}, sinks.VerdictUnproven, "tips is null, and no number"},
		"a sum of too many digits":  {[]string{oneOrder(yesterday), oneOrder(today, `"net_sales":"10.00"`, `"net_sales":"`+strings.Repeat("9", 101)+`"`)}, sinks.VerdictUnproven, "no number"},
		"a sum in exponents":        {[]string{oneOrder(yesterday), oneOrder(today, `"net_sales":"10.00"`, `"net_sales":"1e1"`)}, sinks.VerdictUnproven, "no number"},
		"a map that is a list":      {[]string{oneOrder(yesterday), oneOrder(today, `{"dine_in":"10.00"}`, `["10.00"]`)}, sinks.VerdictUnproven, `by_type is ["10.00"], and no object`},
		"a method that is no sum":   {[]string{oneOrder(yesterday), oneOrder(today, `"card":"0.00"`, `"card":""`)}, sinks.VerdictUnproven, `payments/card is "", and no number`},
		"the day missing":           {[]string{oneOrder(yesterday)}, sinks.VerdictUnproven, "missing"},
		"the day twice":             {[]string{oneOrder(yesterday), oneOrder(today), oneOrder(today)}, sinks.VerdictUnproven, "twice"},
		"another day in its place":  {[]string{oneOrder(yesterday), oneOrder("2026-04-01")}, sinks.VerdictUnproven, "missing"},
		"no object":                 {[]string{oneOrder(yesterday), `7`}, sinks.VerdictUnproven, "missing"},
		"a date in capitals more":   {[]string{oneOrder(yesterday), oneOrder(today, `"orders":1`, `"Date":7,"orders":1,"ORDERS":null`)}, sinks.VerdictProven, ""},
		"an amount more, of zero":   {[]string{oneOrder(yesterday), oneOrder(today, `"cash":"10.00"`, `"cash":"10.00","crypto":"0.00"`)}, sinks.VerdictProven, ""},
		"a null more":               {[]string{oneOrder(yesterday), oneOrder(today, `"cash":"10.00"`, `"cash":"10.00","crypto":null`)}, sinks.VerdictProven, "not compared, being no amount: payments/crypto is null"},
		"a number more":             {[]string{oneOrder(yesterday), oneOrder(today, `"dine_in":"10.00"`, `"dine_in":"10.00","x":7.00`)}, sinks.VerdictProven, "by_type/x is 7.00"},
		"an object and text more":   {[]string{oneOrder(yesterday), oneOrder(today, `"pos":"10.00"`, `"pos":"10.00","x":{"y":1},"z":"1.000"`)}, sinks.VerdictProven, `by_channel/x is {"y":1}, by_channel/z is "1.000"`},
		"a null more, and a gap":    {[]string{oneOrder(yesterday), oneOrder(today, `"cash":"10.00"`, `"cash":"10.01","crypto":null`)}, "", ""},
		"many more":                 {[]string{oneOrder(yesterday), oneOrder(today, `"pos":"10.00"`, `"pos":"10.00","a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1`)}, sinks.VerdictProven, "by_channel/j is 1, and 2 more"},
	} {
		days := reportOf(Span{From: yesterday, To: today}, false, c.rows...)
		if p := judgeDay(*days[today], mirror, mirror); p.Verdict != c.verdict || !strings.Contains(p.Reason, c.reason) {
			t.Errorf("%s: %+v", name, p)
		}
		if p := judgeDay(*days[yesterday], mirror, mirror); p.Verdict != sinks.VerdictProven {
			t.Errorf("%s: the day beside it: %+v", name, p)
		}
	}
}

// Orders may have been sold under a key whose figure is no amount: the day is proven
// without it, and what else differs is still found.
func TestAFigureThatIsNoAmountHasNothingToBeComparedWith(t *testing.T) {
	const day = types.Date("2026-03-29")
	mirror := dayFigures{
		"orders": "1", "net_sales": "10", "items": "10", "payments/cash": "4.00", "payments/x_pay": "6.00",
		"by_type/dine_in": "9", "by_type/x_type": "1", "by_channel/pos": "8", "by_channel/x_via": "2",
	}
	for _, figure := range []string{`6.00`, `null`, `"6.000"`, `"six"`, `{"amount":"6.00"}`, `["6.00"]`, `true`, `""`, `"99999999999999999.00"`} {
		row := oneOrder(day, `"cash":"10.00"`, `"cash":"4.00","x_pay":`+figure, `"dine_in":"10.00"`, `"dine_in":"9.00","x_type":`+figure, `"pos":"10.00"`, `"pos":"8.00","x_via":`+figure)
		service := reportOf(Span{From: day, To: day}, false, row)[day]
		if p := judgeDay(*service, nil, mirror); p.Verdict != sinks.VerdictProven || strings.Count(p.Reason, "/x_") != 3 {
			t.Errorf("%s: %+v", figure, p)
		}
		other := maps.Clone(mirror)
		other["payments/cash"] = "4.01"
		if p := judgeDay(*service, other, other); p.Verdict != "" || len(p.differences) != 1 || p.differences[0].Figure != "payments/cash" {
			t.Errorf("%s, and cash that differs: %+v", figure, p)
		}
		if mirror["payments/x_pay"] != "6.00" {
			t.Fatal("the mirror's figures were changed")
		}
	}
	// An amount is compared.
	service := reportOf(Span{From: day, To: day}, false, oneOrder(day, `"cash":"10.00"`, `"cash":"10.00","x_pay":"6.00"`))[day]
	if p := judgeDay(*service, nil, dayFigures{}); len(p.differences) == 0 || p.Verdict != "" {
		t.Errorf("an amount: %+v", p)
	}
}

func TestLinesThatCannotBeComparedAreUnproven(t *testing.T) {
	const day = types.Date("2026-03-29")
	line := func(edit ...string) string {
		return strings.NewReplacer(edit...).Replace(`{"date":"2026-03-29","product_id":"42","name":"Mici","category_id":null,"quantity":"2.00","weight_kg":null,"gross":"20.00","line_discounts":"1.00","net":"19.00"}`)
	}
	free := line(`"product_id":"42"`, `"product_id":null`)
	mirror := dayFigures{}
	for _, l := range []string{"p/42", "n/Mici"} {
		for name, value := range map[string]string{"quantity": "2", "gross": "20.00", "line_discounts": "1.00", "net": "19.00"} {
			mirror[l+": "+name] = value
		}
	}
	for name, c := range map[string]struct {
		rows            []string
		verdict, reason string
		differences     int
	}{
		"equal":                  {[]string{line(), free}, sinks.VerdictProven, "", 0},
		"a line missing":         {[]string{line()}, "", "", 4},
		"weighed":                {[]string{line(`"weight_kg":null`, `"weight_kg":"0.500"`), free}, "", "", 1},
		"a line twice":           {[]string{line(), line(), free}, sinks.VerdictUnproven, `"p/42" twice`, 0},
		"no net":                 {[]string{line(`"net":"19.00"`, `"net":null`), free}, sinks.VerdictUnproven, "net is null", 0},
		"no gross":               {[]string{line(`"gross":"20.00",`, ""), free}, sinks.VerdictUnproven, "gross is missing", 0},
		"a line of whatever":     {[]string{line(), line(`"product_id":"42",`, "")}, sinks.VerdictUnproven, "product_id is missing", 0},
		"a nameless product":     {[]string{line(`"name":"Mici"`, `"name":null`), free}, sinks.VerdictProven, "", 0},
		"a product in a number":  {[]string{line(`"42"`, `42`), free}, sinks.VerdictUnproven, "product_id is 42", 0},
		"a line of an odd day":   {[]string{line(), free, line("2026-03-29", "2026-03-01", `"42"`, `"43"`)}, sinks.VerdictUnproven, `"2026-03-01"`, 0},
		"a line without its day": {[]string{line(), line(`"date":"2026-03-29",`, "")}, sinks.VerdictUnproven, "no day that was asked for", 0},
	} {
		p := judgeDay(*reportOf(Span{From: day, To: day}, true, c.rows...)[day], mirror, mirror)
		if p.Verdict != c.verdict || !strings.Contains(p.Reason, c.reason) || len(p.differences) != c.differences {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestDaysAreJudgedByBothSidesOfTheBracket(t *testing.T) {
	at := func(n string) dayFigures { return dayFigures{"orders": n} }
	for _, c := range []struct {
		before, service, after, verdict string
	}{
		{"1", "1", "1", sinks.VerdictProven}, {"1", "1", "2", sinks.VerdictProven}, {"1", "2", "2", sinks.VerdictProven},
		{"1", "2", "3", sinks.VerdictUnsettled}, {"1", "3", "2", sinks.VerdictUnsettled}, {"1", "2", "1", ""}, {"0", "1", "0", ""}, {"1.0", "1", "-0", sinks.VerdictProven},
	} {
		if p := judgeDay(reported{figures: at(c.service)}, at(c.before), at(c.after)); p.Verdict != c.verdict {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	// The first orders of a day come while it is compared.
	if p := judgeDay(reported{figures: at("2")}, nil, at("1")); p.Verdict != sinks.VerdictUnsettled {
		t.Errorf("a day's first orders: %+v", p)
	}
	gap := func(service, mirror string) uint64 { return gapHash(differ(at(service), at(mirror), nil)) }
	if gap("12", "10") != gap("15.0", "13") || gap("12", "10") == gap("12", "11") {
		t.Error("gaps")
	}
	for text, want := range map[string]string{"-0.00": "0", "007.50": "7.5", "-.5": "", "1.": "", "": "", "+1": "", " 1": "", "1,5": "", "1e2": "", "1/3": "", "99999999999999999999.9": "99999999999999999999.9", "-12.340": "-12.34"} {
		f := dayFigures{}
		if bad := f.take("tips", jsontext.Value(strconv.Quote(text))); (bad == "") != (want != "") {
			t.Errorf("%q: %q", text, bad)
		}
		if want != "" && f.sumOf() != (dayFigures{"tips": want}).sumOf() {
			t.Errorf("%q has another sum than %s", f["tips"], want)
		}
		if len(differ(f, dayFigures{"tips": cmp.Or(want, "0")}, nil)) > 0 {
			t.Errorf("%q is not %s", f["tips"], want)
		}
	}
}

// TestFiguresAreComparedAndAddedUpExactly, however many digits the service writes: as rational numbers would be.
func TestFiguresAreComparedAndAddedUpExactly(t *testing.T) {
	decimals := []string{
		"0", "-0", "0.00", "-0.0", "00", "1", "-1", "1.0", "01.00", "0.1", "-0.10", "0.01", "10", "100", "-12.34", "-12.340", "12.345", "0.005",
		"999999999999999", "999999999999999.99", "9999999999999999.99", "-9999999999999999", "0.0000000001", "7.0000000000",
		"00000000000000000000000001.50", strings.Repeat("9", 100) + ".5",
	}
	for _, a := range decimals {
		for _, b := range decimals {
			equal := ratOf(a).Cmp(ratOf(b)) == 0
			x, y := dayFigures{"tips": a}, dayFigures{"tips": b}
			if got := len(differ(x, y, nil)) == 0; got != equal || (x.sumOf() == y.sumOf()) != equal {
				t.Errorf("%s and %s: equal %t, hashes %d and %d", a, b, got, x.sumOf(), y.sumOf())
			}
			sums, ok := addUp(map[types.Date]*reported{"2026-03-01": {figures: x}, "2026-03-02": {figures: y}, "2026-03-03": {figures: x}})
			want := new(big.Rat).Add(new(big.Rat).Add(ratOf(a), ratOf(b)), ratOf(a)).FloatString(sumDecimals)
			if !ok || sums["tips"] != want {
				t.Errorf("%s + %s + %s = %s, want %s", a, b, a, sums["tips"], want)
			}
		}
	}
	for _, amount := range []string{"9999999999999.99", "99999999999999.99", "999999999999999.99"} {
		many := map[types.Date]*reported{}
		for n := range 1000 {
			many[addDays("2026-03-01", n)] = &reported{figures: dayFigures{"tips": amount}}
		}
		want := new(big.Rat).Mul(ratOf(amount), big.NewRat(1000, 1))
		if sums, _ := addUp(many); sums["tips"] != want.FloatString(sumDecimals) {
			t.Errorf("a thousand times %s is %s", amount, sums["tips"])
		}
	}
	if _, ok := addUp(map[types.Date]*reported{"2026-03-01": {bad: "the day is missing"}}); ok {
		t.Error("a day that cannot be compared was added up")
	}
}

// quietDays are the answer of a deep run about a location with few sales, and what the mirror has.
func quietDays() (sp Span, r answer, mirror map[types.Date]dayFigures) {
	sp, mirror = Span{From: "2026-01-01", To: "2026-04-02"}, map[types.Date]dayFigures{}
	var rows []string
	for n, day := range sp.Days() {
		if n%10 == 0 {
			rows = append(rows, oneOrder(day))
			mirror[day] = dayFigures{"orders": "1", "net_sales": "10.00", "items": "10.00", "payments/cash": "10.00", "by_type/dine_in": "10.00", "by_channel/pos": "10.00"}
		} else {
			rows = append(rows, oneOrder(day, "10.00", "0.00", `"orders":1`, `"orders":0`))
		}
	}
	for _, row := range rows {
		r.Rows = append(r.Rows, []byte(row))
	}
	r.days = PlaceRows(r.Rows, false)
	return sp, r, mirror
}

// judgeQuietDays does what a bracket does with an answer.
func judgeQuietDays(sp Span, r answer, mirror map[types.Date]dayFigures) (proven int) {
	service := readReport(sp, r, false)
	for _, day := range sp.Days() {
		p := judgeDay(*service[day], mirror[day], mirror[day])
		if p.hash = service[day].figures.sumOf() ^ mirror[day].sumOf(); p.Verdict == sinks.VerdictProven {
			proven++
		}
	}
	addUp(service)
	return proven
}

func BenchmarkJudge(b *testing.B) {
	sp, r, mirror := quietDays()
	b.ReportAllocs()
	for b.Loop() {
		judgeQuietDays(sp, r, mirror)
	}
}

// TestDaysThatAreProvenTakeLittle: what is allocated for them is what reading the answer takes.
func TestDaysThatAreProvenTakeLittle(t *testing.T) {
	sp, r, mirror := quietDays()
	if proven := judgeQuietDays(sp, r, mirror); proven != MaxRange {
		t.Fatalf("%d days are proven", proven)
	}
	reading := testing.AllocsPerRun(3, func() { readReport(sp, r, false) })
	if all := testing.AllocsPerRun(3, func() { judgeQuietDays(sp, r, mirror) }); all > reading+5*MaxRange {
		t.Errorf("%.0f allocations, %.0f of them to read the answer", all, reading)
	}
}

func TestFiguresThatDifferAreKeptInPart(t *testing.T) {
	service := dayFigures{}
	for n := range 3 * mostFigures {
		service[fmt.Sprintf("p/%04d: net", n)] = "1.00"
	}
	if found := judgeDay(reported{figures: service}, nil, nil).differences; len(found) != mostFigures || found[0].Figure != "p/0000: net" {
		t.Errorf("%d differences kept", len(found))
	}
}

// TestRoundingOfALineIsExplained: half of the last decimal for each line that is rounded, and
// for the sum of them.
func TestRoundingOfALineIsExplained(t *testing.T) {
	with := func(edit dayFigures) dayFigures {
		all := dayFigures{"p/kg: gross": "10.00", "p/kg: line_discounts": "1.00", "p/kg: net": "9.00", "p/kg: quantity": "1.5", "p/kg: rounded_lines": "3", "n/a: gross: gross": "5.00"}
		maps.Copy(all, edit)
		return all
	}
	for name, c := range map[string]struct {
		service, mirror dayFigures
		want            string
	}{
		"gross and discounts": {dayFigures{"p/kg: gross": "10.02", "p/kg: line_discounts": "1.02"}, nil, sinks.VerdictExplained},
		"less":                {dayFigures{"p/kg: gross": "9.98"}, nil, sinks.VerdictExplained},
		"too much":            {dayFigures{"p/kg: gross": "10.03"}, nil, ""},
		"one line":            {dayFigures{"p/kg: gross": "10.01"}, dayFigures{"p/kg: rounded_lines": "1"}, sinks.VerdictExplained},
		"too much of one":     {dayFigures{"p/kg: gross": "10.02"}, dayFigures{"p/kg: rounded_lines": "1"}, ""},
		"nothing is rounded":  {dayFigures{"n/a: gross: gross": "5.01"}, nil, ""},
		"the net too":         {dayFigures{"p/kg: gross": "10.01", "p/kg: net": "9.01"}, nil, ""},
		"equal":               {nil, dayFigures{"p/kg: rounded_lines": "2"}, sinks.VerdictProven},
	} {
		mirror := with(c.mirror)
		p := judgeDay(reported{figures: with(c.service)}, mirror, mirror)
		if p.Verdict != c.want || (p.Reason != "") != (c.want == sinks.VerdictExplained) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestAVerdictOfAnotherReleaseIsCounted as one that proves nothing.
func TestAVerdictOfAnotherReleaseIsCounted(t *testing.T) {
	daily := &stream.Stream{Def: &registry.Definition{Name: registry.Daily}}
	st, r := &Totals{Stream: daily, verdicts: &verdicts{stream: daily}}, newRun(&Shared{source: &stream.Source{Lanes: &stream.Lanes{}}}, true)
	r.count(st, []dayProof{{Day: "2026-03-28", Verdict: "weighed anew"}, {Day: "2026-03-28", Verdict: sinks.VerdictDrift}, {Day: "2026-03-29", Verdict: "weighed anew"}})
	report := r.snapshot()
	if counts, want := report.Days, (VerdictCounts{Drift: 1, Unproven: 1}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
	if counts, want := report.VerdictCounts, (VerdictCounts{Drift: 1, Unproven: 2}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
	for _, verdict := range worse {
		var counts VerdictCounts
		counts.count(rankOf(verdict))
		if text, err := json.Marshal(counts); err != nil || !strings.Contains(string(text), fmt.Sprintf("%q:1", verdict)) {
			t.Errorf("%s is counted as %s, %v", verdict, text, err)
		}
	}
	proof := Of(slices.Values([]sinks.Verdict{{Day: "2026-03-28", Subject: sinks.SubjectDaily, Verdict: "weighed anew"}}), "2026-03-28", "2026-03-30")
	if proof == nil || proof.OpenDays != 1 || proof.ProvenUntil != "" {
		t.Errorf("%+v", proof)
	}
}

// TestRefundsOfSomeReasonsAreCounted: a service counts those of a reason or not.
func TestRefundsOfSomeReasonsAreCounted(t *testing.T) {
	byReason := sinks.Figures{"cancelled": "10.00", "deleted": "4.00", "gone": "0.50"}
	for gap, want := range map[string]bool{"14.50": true, "10.00": true, "0.50": true, "10.5": true, "14.49": false, "9.00": false, "14.51": false, "5.00": false} {
		if got, _ := matchRefunds(ratOf(gap), byReason); got != want {
			t.Errorf("%s: %t", gap, got)
		}
	}
	if exactly, perhaps := matchRefunds(ratOf("1.00"), nil); exactly || perhaps {
		t.Error("nothing was removed")
	}
}
