package syncer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
)

// verdicts are those that stand about the first restaurant, by subject and dayKey.
func (w *world) verdicts() map[string]sinks.Verdict {
	w.t.Helper()
	all, err := w.sink.Verdicts(w.t.Context(), w.box.Restaurant(0).ID(), "r0", "1900-01-01", "9999-12-31")
	if err != nil {
		w.t.Fatal(err)
	}
	by := map[string]sinks.Verdict{}
	for _, v := range all {
		by[v.Subject+" "+dayKey(api.Date(v.Day), v.Location)] = v
	}
	return by
}

// deep waits for the next deep run of every totals stream and its second look.
func (w *world) deep() {
	next := time.Now()
	for _, st := range w.syncer.served()[0].days.on() {
		next = later(next, w.syncer.timetable().Next(schedule.ReconcileDeep, st.source.name, time.Now()))
	}
	time.Sleep(time.Until(next) + 15*time.Minute)
	synctest.Wait()
}

func TestEveryDayOfAQuietRestaurantIsProven(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 31, Orders: 3000, Days: 60}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", time.Hour, w.filled)
		w.deep()
		all := w.verdicts()
		for key, v := range all {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
		}
		// 92 days overall and of two locations, and of the products.
		if len(all) != 4*92 {
			t.Errorf("%d verdicts, want %d", len(all), 4*92)
		}
		p := w.syncer.Status().Sources[0].Proof
		if p == nil || p.ProvenUntil != string(calendar.DayOf(time.Now())) || p.DriftDays+p.OpenDays != 0 {
			t.Errorf("proof %+v", p)
		}
		stored := w.store.Commits()
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		if n := w.store.Commits() - stored; n > 40 {
			t.Errorf("%d commits while nothing changed", n)
		}
	})
}

// aDay is a row of /sales/daily with one order of 10.00 in cash.
func aDay(day api.Date, edit ...string) string {
	row := fmt.Sprintf(`{"date":%q,"orders":1,"net_sales":"10.00","items":"10.00","discounts":"0.00","delivery_fees":"0.00","tips":"0.00",`+
		`"deposits":"0.00","refunds":"0.00","payments":{"cash":"10.00","card":"0.00"},"by_type":{"dine_in":"10.00"},"by_channel":{"pos":"10.00"}}`, day)
	return strings.NewReplacer(edit...).Replace(row)
}

func TestAnswersThatCannotBeComparedAreUnproven(t *testing.T) {
	const yesterday, today = api.Date("2026-03-28"), api.Date("2026-03-29")
	st := &totals{stream: &stream{def: &registry.Definition{Name: registry.Daily}}}
	mirror := dayFigures{"orders": "1", "net_sales": "10", "items": "10.0", "payments/cash": "10.00", "by_type/dine_in": "10.00", "by_channel/pos": "10.00"}
	for name, c := range map[string]struct {
		rows    []string
		verdict string // of today
		reason  string
	}{
		"equal":                     {[]string{aDay(yesterday), aDay(today)}, sinks.VerdictProven, ""},
		"a method missing":          {[]string{aDay(yesterday), aDay(today, `,"card":"0.00"`, "")}, sinks.VerdictProven, ""},
		"a total missing":           {[]string{aDay(yesterday), aDay(today, `"tips":"0.00",`, "")}, sinks.VerdictUnproven, "tips is missing, and no number"},
		"a map missing":             {[]string{aDay(yesterday), aDay(today, `,"by_channel":{"pos":"10.00"}`, "")}, sinks.VerdictUnproven, "by_channel is missing, and no object"},
		"a number, not a text":      {[]string{aDay(yesterday), aDay(today, `"net_sales":"10.00"`, `"net_sales":10`)}, sinks.VerdictProven, ""},
		"a field more":              {[]string{aDay(yesterday), aDay(today, `"orders":1`, `"orders":1,"covers":3`)}, sinks.VerdictProven, ""},
		"another order of days":     {[]string{aDay(today), aDay(yesterday)}, sinks.VerdictProven, ""},
		"another figure":            {[]string{aDay(yesterday), aDay(today, `"items":"10.00"`, `"items":"10.01"`)}, "", ""},
		"a key more":                {[]string{aDay(yesterday), aDay(today, `"cash":"10.00"`, `"cash":"10.00","crypto":"1.00"`)}, "", ""},
		"a total that is no number": {[]string{aDay(yesterday), aDay(today, `"tips":"0.00"`, `"tips":"abc"`)}, sinks.VerdictUnproven, `tips is "abc", and no number`},
		"a total that is null":      {[]string{aDay(yesterday), aDay(today, `"tips":"0.00"`, `"tips":null`)}, sinks.VerdictUnproven, "tips is null, and no number"},
		"a sum in exponents":        {[]string{aDay(yesterday), aDay(today, `"net_sales":"10.00"`, `"net_sales":"1e1"`)}, sinks.VerdictUnproven, "no number"},
		"a map that is a list":      {[]string{aDay(yesterday), aDay(today, `{"dine_in":"10.00"}`, `["10.00"]`)}, sinks.VerdictUnproven, `by_type is ["10.00"], and no object`},
		"a method that is no sum":   {[]string{aDay(yesterday), aDay(today, `"card":"0.00"`, `"card":""`)}, sinks.VerdictUnproven, `payments/card is "", and no number`},
		"the day missing":           {[]string{aDay(yesterday)}, sinks.VerdictUnproven, "missing"},
		"the day twice":             {[]string{aDay(yesterday), aDay(today), aDay(today)}, sinks.VerdictUnproven, "twice"},
		"another day in its place":  {[]string{aDay(yesterday), aDay("2026-04-01")}, sinks.VerdictUnproven, "missing"},
		"no object":                 {[]string{aDay(yesterday), `7`}, sinks.VerdictUnproven, "missing"},
		"a date in capitals more":   {[]string{aDay(yesterday), aDay(today, `"orders":1`, `"Date":7,"orders":1,"ORDERS":null`)}, sinks.VerdictProven, ""},
		"an amount more, of zero":   {[]string{aDay(yesterday), aDay(today, `"cash":"10.00"`, `"cash":"10.00","crypto":"0.00"`)}, sinks.VerdictProven, ""},
		"a null more":               {[]string{aDay(yesterday), aDay(today, `"cash":"10.00"`, `"cash":"10.00","crypto":null`)}, sinks.VerdictProven, "not compared, being no amount: payments/crypto is null"},
		"a number more":             {[]string{aDay(yesterday), aDay(today, `"dine_in":"10.00"`, `"dine_in":"10.00","x":7.00`)}, sinks.VerdictProven, "by_type/x is 7.00"},
		"an object and text more":   {[]string{aDay(yesterday), aDay(today, `"pos":"10.00"`, `"pos":"10.00","x":{"y":1},"z":"1.000"`)}, sinks.VerdictProven, `by_channel/x is {"y":1}, by_channel/z is "1.000"`},
		"a null more, and a gap":    {[]string{aDay(yesterday), aDay(today, `"cash":"10.00"`, `"cash":"10.01","crypto":null`)}, "", ""},
		"many more":                 {[]string{aDay(yesterday), aDay(today, `"pos":"10.00"`, `"pos":"10.00","a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1`)}, sinks.VerdictProven, "by_channel/e is 1, and 2 more"},
	} {
		var raws [][]byte
		for _, row := range c.rows {
			raws = append(raws, []byte(row))
		}
		days := st.readReport(span{from: yesterday, to: today}, raws)
		if p := judgeDay(*days[today], mirror, mirror); p.verdict != c.verdict || !strings.Contains(p.reason, c.reason) {
			t.Errorf("%s: %+v", name, p)
		}
		if p := judgeDay(*days[yesterday], mirror, mirror); p.verdict != sinks.VerdictProven {
			t.Errorf("%s: the day beside it: %+v", name, p)
		}
	}
}

// Orders may have been sold under a key whose figure is no amount: the day is proven
// without it, and what else differs is still found.
func TestAFigureThatIsNoAmountHasNothingToBeComparedWith(t *testing.T) {
	const day = api.Date("2026-03-29")
	st := &totals{stream: &stream{def: &registry.Definition{Name: registry.Daily}}}
	mirror := dayFigures{
		"orders": "1", "net_sales": "10", "items": "10", "payments/cash": "4.00", "payments/x_pay": "6.00",
		"by_type/dine_in": "9", "by_type/x_type": "1", "by_channel/pos": "8", "by_channel/x_via": "2",
	}
	for _, figure := range []string{`6.00`, `null`, `"6.000"`, `"six"`, `{"amount":"6.00"}`, `["6.00"]`, `true`, `""`, `"99999999999999999.00"`} {
		row := aDay(day, `"cash":"10.00"`, `"cash":"4.00","x_pay":`+figure, `"dine_in":"10.00"`, `"dine_in":"9.00","x_type":`+figure, `"pos":"10.00"`, `"pos":"8.00","x_via":`+figure)
		service := st.readReport(span{from: day, to: day}, [][]byte{[]byte(row)})[day]
		if p := judgeDay(*service, nil, mirror); p.verdict != sinks.VerdictProven || strings.Count(p.reason, "/x_") != 3 {
			t.Errorf("%s: %+v", figure, p)
		}
		other := maps.Clone(mirror)
		other["payments/cash"] = "4.01"
		if p := judgeDay(*service, other, other); p.verdict != "" || len(p.differences) != 1 || p.differences[0].Figure != "payments/cash" {
			t.Errorf("%s, and cash that differs: %+v", figure, p)
		}
		if mirror["payments/x_pay"] != "6.00" {
			t.Fatal("the mirror's figures were changed")
		}
	}
	// An amount is compared.
	service := st.readReport(span{from: day, to: day}, [][]byte{[]byte(aDay(day, `"cash":"10.00"`, `"cash":"10.00","x_pay":"6.00"`))})[day]
	if p := judgeDay(*service, nil, dayFigures{}); len(p.differences) == 0 || p.verdict != "" {
		t.Errorf("an amount: %+v", p)
	}
}

func TestLinesThatCannotBeComparedAreUnproven(t *testing.T) {
	const day = api.Date("2026-03-29")
	st := &totals{stream: &stream{def: &registry.Definition{Name: "sales_products", Vanish: true}}}
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
		var raws [][]byte
		for _, row := range c.rows {
			raws = append(raws, []byte(row))
		}
		p := judgeDay(*st.readReport(span{from: day, to: day}, raws)[day], mirror, mirror)
		if p.verdict != c.verdict || !strings.Contains(p.reason, c.reason) || len(p.differences) != c.differences {
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
		if p := judgeDay(reported{figures: at(c.service)}, at(c.before), at(c.after)); p.verdict != c.verdict {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	// The first orders of a day come while it is compared.
	if p := judgeDay(reported{figures: at("2")}, nil, at("1")); p.verdict != sinks.VerdictUnsettled {
		t.Errorf("a day's first orders: %+v", p)
	}
	if !sameGap(differ(at("12"), at("10")), differ(at("15.0"), at("13"))) || sameGap(differ(at("12"), at("10")), differ(at("12"), at("11"))) {
		t.Error("gaps")
	}
	for text, want := range map[string]string{"-0.00": "0", "007.50": "7.5", "-.5": "", "1.": "", "": "", "+1": "", " 1": "", "1,5": "", "99999999999999999999.9": "99999999999999999999.9", "-12.340": "-12.34"} {
		if got, ok := plainDecimal(text); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v", text, got, ok)
		}
	}
}

func TestDaysAroundTheChangesOfClockAreProven(t *testing.T) {
	for _, end := range []string{"2000-03-27T12:00:00Z", "2000-10-30T12:00:00Z"} {
		epoch, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		inWorld(t, sandbox.Options{Seed: 35, Orders: 800, Days: 5, Epoch: epoch}, func(_ *testing.T, w *world) {
			time.Sleep(time.Until(epoch))
			w.proven()
		})
	}
}

func TestADeepRunThatIsCutShortIsMadeUpFor(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 36, Orders: 300, Days: 10}, func(t *testing.T, w *world) {
		w.run()
		w.until("backfill", time.Hour, w.filled)
		if err := w.box.AddFault(sandbox.Fault{Kind: sandbox.FaultRateLimited, Route: "/sales/daily", Probability: 1}); err != nil {
			t.Fatal(err)
		}
		w.deep()
		n := 0
		for key, v := range w.verdicts() {
			if strings.HasPrefix(key, "daily") && v.Verdict == sinks.VerdictUnproven && strings.Contains(v.Reason, "429") {
				n++
			}
		}
		if n < 80 {
			t.Errorf("%d days are unproven while the service answers 429", n)
		}
		w.box.ClearFaults()
		time.Sleep(time.Hour) // no deep run lies in it
		for key, v := range w.verdicts() {
			if v.Verdict != sinks.VerdictProven {
				t.Errorf("%s: %+v", key, v)
			}
		}
		if len(w.verdicts()) != 4*92 {
			t.Errorf("%d verdicts", len(w.verdicts()))
		}
	})
}

func TestALocationThatIsRefusedInMidRunHoldsUpNoOther(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 37, Orders: 300, Days: 10}, func(t *testing.T, w *world) {
		w.once(Selection{})
		w.once(Selection{})
		all := w.box.Restaurant(0).LocationIDs()
		st := w.syncer.served()[0].days.daily()
		b := st.newBracket(t.Context(), true)
		if err := st.totalsBack(t.Context(), b, 9, []string{all[0], "not the key's", all[1]}); err == nil {
			t.Error("no error for a location that is not the key's")
		}
		of := map[string]int{}
		for _, p := range b.found {
			of[p.location+" "+p.verdict]++
			if p.verdict == sinks.VerdictUnproven && (p.passing || p.reason == "") {
				t.Errorf("%+v", p)
			}
		}
		if of[all[0]+" proven"] != 10 || of["not the key's unproven"] != 10 || of[all[1]+" proven"] != 10 {
			t.Errorf("%v", of)
		}
	})
}

// deepAsked is true when a deep run, which alone asks by location, was among requests.
func deepAsked(requests []sandbox.Request) bool {
	return slices.ContainsFunc(requests, func(r sandbox.Request) bool {
		return r.Route == "/sales/daily" && strings.Contains(r.URI, "location_id=")
	})
}

func TestADeepRunThatComparedNothingIsMadeUpFor(t *testing.T) {
	for _, name := range []string{"the orders could not be walked", "their backfill was under way"} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sandbox.Options{Seed: 38, Orders: 300, Days: 10, Record: true}, func(t *testing.T, w *world) {
				fails := sandbox.Fault{Kind: sandbox.FaultServerError, Route: "/sales/orders", Probability: 1}
				broken := func() {
					if err := w.box.AddFault(fails); err != nil {
						t.Fatal(err)
					}
				}
				if name == "their backfill was under way" {
					broken()
				}
				w.run()
				if name == "the orders could not be walked" {
					w.until("backfill", time.Hour, w.filled)
					broken()
				}
				w.deep()
				w.box.ClearFaults()
				before := len(w.box.Requests())
				time.Sleep(40 * time.Minute)
				if !deepAsked(w.box.Requests()[before:]) {
					t.Error("no deep run since")
				}
				if v := w.verdicts()["daily "+daysAgo(5)]; v.Verdict != sinks.VerdictProven {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// TestADayLeftUnsettledByAProcessBeforeIsAskedSoon: it ended between its two looks.
func TestADayLeftUnsettledByAProcessBeforeIsAskedSoon(t *testing.T) {
	for left, want := range map[string]bool{sinks.VerdictUnsettled: true, sinks.VerdictProven: false} {
		inWorld(t, sandbox.Options{Seed: 39, Orders: 300, Days: 10, Record: true}, func(t *testing.T, w *world) {
			w.say(sinks.Verdict{Day: daysAgo(5), Subject: sinks.SubjectDaily, Verdict: left})
			w.turned()
			if got := deepAsked(w.box.Requests()); got != want {
				t.Errorf("left %s: a deep run %v, want %v", left, got, want)
			}
		})
	}
}

// TestADeepRunWaitsForASecondLookUnderWay: its next turn is a day away.
func TestADeepRunWaitsForASecondLookUnderWay(t *testing.T) {
	inWorld(t, sandbox.Options{Seed: 40, Orders: 100, Days: 4}, func(t *testing.T, w *world) {
		w.once(Selection{})
		w.once(Selection{})
		st := w.syncer.served()[0].days.daily()
		ended := make(chan error, 1)
		if !st.prover.try() {
			t.Fatal("no turn is under way")
		}
		day := api.Date(daysAgo(3))
		go func() { ended <- st.settleOnce(t.Context(), []dayProof{{day: day, found: time.Now()}}, true) }()
		time.Sleep(time.Minute)
		st.prover.free()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if v := w.verdicts()["daily "+string(day)]; v.Verdict != sinks.VerdictProven {
			t.Errorf("%+v", v)
		}
	})
}

func TestFiguresThatDifferAreKeptInPart(t *testing.T) {
	service := dayFigures{}
	for n := range 3 * mostFigures {
		service[fmt.Sprintf("p/%04d: net", n)] = "1.00"
	}
	if found := differ(service, dayFigures{}); len(found) != mostFigures || found[0].Figure != "p/0000: net" {
		t.Errorf("%d differences kept", len(found))
	}
}
