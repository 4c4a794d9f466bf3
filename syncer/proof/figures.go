package proof

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// The figures of docs/openapi.yaml, Breakdown, and of its ProductSales. A figure that
// the service adds later is no figure of the mirror, so it is not compared; a key
// that it adds to one of the maps is, when there is an amount under it.
var (
	dailyFigures = []string{"orders", "net_sales", "items", "discounts", "delivery_fees", "tips", "deposits", "refunds"}
	dailyMaps    = []struct {
		name  string
		known []string // keys that the API's description names
	}{
		{"payments", []string{"cash", "card", "card_at_counter", "online", "voucher", "protocol", "other"}},
		{"by_type", []string{"dine_in", "takeaway", "delivery"}},
		{"by_channel", []string{"pos", "platform_a", "platform_b", "direct"}},
	}
	productFigures = []string{"quantity", "weight_kg", "gross", "line_discounts", "net"}
)

// dayFigures are all figures of one day by name, those of a product's line with the
// line in front: "net_sales", "payments/cash", "p/42: net".
type dayFigures map[string]string

// reported is what the service reports of one day.
type reported struct {
	figures dayFigures
	bad     string // why it cannot be compared
	// ignored are entries that the service added to its maps and that are no amounts, by the names that
	// figures would have ("payments/x_pay"): the mirror's have nothing to be compared with, though orders may
	// have been sold under such a key (docs/rules.md R9).
	ignored map[string]string
}

func newReported() *reported { return &reported{figures: dayFigures{}, ignored: map[string]string{}} }

// readReport reads what the service reports of every day of a span.
func readReport(sp Span, r answer, lines bool) map[types.Date]*reported {
	days := map[types.Date]*reported{}
	for _, day := range sp.Days() {
		days[day] = newReported()
	}
	read := (*reported).readDay
	if lines {
		read = (*reported).readLine
	}
	seen := map[types.Date]bool{}
	for i, raw := range r.Rows {
		date := r.days[i].Date
		day := days[date]
		switch {
		case day == nil && lines:
			for _, other := range days {
				other.bad = fmt.Sprintf("the service lists a line of %q, which is no day that was asked for: it may belong to this one", date)
			}
		case day == nil: // a day will be missing
		case seen[date] && !lines:
			day.bad = "the service lists the day twice"
		default:
			seen[date] = true
			if bad := read(day, raw); bad != "" {
				day.bad = bad
			}
		}
	}
	for date, day := range days {
		if !lines && !seen[date] && day.bad == "" {
			day.bad = "the day is missing from the service's answer"
		}
	}
	return days
}

// reportTotals reports totals of an answer that its days do not add up to, as drift. What
// cannot be read of a day or of the totals is not compared.
func (b *bracket) reportTotals(ctx context.Context, sp Span, r answer, days map[types.Date]*reported) error {
	st, stated := b.totals, newReported()
	if st.Def.LinesMayVanish || stated.readDay(r.Totals) != "" {
		return nil
	}
	sums, ok := addUp(days)
	if !ok {
		return nil
	}
	var items []mapping.DriftItem
	for _, d := range differ(stated.figures, sums, nil) {
		example := fmt.Sprintf(`{"totals":%q,"days":%q}`, d.Service, d.Mirror)
		items = append(items, mapping.DriftItem{Path: "totals." + strings.ReplaceAll(d.Figure, "/", "."), Kind: mapping.DriftTotals, Example: []byte(example)})
	}
	in := st.Writer.Begin(st.Writer.NextWalk(), 0)
	if in.Drifted(items, DayKey(sp.From, sp.Location), r.Date); in.Empty() {
		return nil
	}
	return st.Writer.Store(ctx, in)
}

// addUp adds up days, unless one of them cannot be compared.
func addUp(days map[types.Date]*reported) (_ dayFigures, ok bool) {
	sums := map[string]*sum{}
	for _, day := range days {
		if day.bad != "" {
			return nil, false
		}
		for name, amount := range day.figures {
			if sums[name] == nil {
				sums[name] = &sum{}
			}
			sums[name].add(amount)
		}
	}
	figures := dayFigures{}
	for name, s := range sums {
		figures[name] = s.value().FloatString(sumDecimals)
	}
	return figures, true
}

// sumDecimals are more than any amount of the service has.
const sumDecimals = 10

// sum is the exact sum of amounts: hundredths of amounts with two decimals, as the service writes them, and the rest.
type sum struct {
	hundredths int64
	rest       big.Rat
}

func (s *sum) add(amount string) {
	whole, fraction, _ := strings.Cut(amount, ".")
	if len(whole) <= 13 && len(fraction) <= 2 { // nine thousand of them do not overflow
		if n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64); err == nil {
			s.hundredths += n
			return
		}
	}
	s.rest.Add(&s.rest, ratOf(amount))
}

func (s *sum) value() *big.Rat { return new(big.Rat).Add(big.NewRat(s.hundredths, 100), &s.rest) }

// readDay adds the figures of a row of /sales/daily; it returns what cannot be
// compared of it.
func (r *reported) readDay(raw []byte) string {
	row := make(map[string]jsontext.Value, 16)
	if err := mapping.Unmarshal(raw, &row); err != nil {
		return "the service's day is no JSON object"
	}
	for _, name := range dailyFigures {
		if bad := r.figures.take(name, row[name]); bad != "" {
			return bad
		}
	}
	for _, m := range dailyMaps {
		var entries map[string]jsontext.Value
		if mapping.Unmarshal(row[m.name], &entries) != nil || entries == nil {
			return fmt.Sprintf("%s is %s, and no object", m.name, shortJSON(row[m.name]))
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			name, value := m.name+"/"+key, entries[key]
			// What is under a key that the API's description names must be an amount; under another key it may be anything
			// (docs/rules.md R9). What is none is in no column, so the mirror has no such figure.
			var text string
			if !slices.Contains(m.known, key) && (mapping.Unmarshal(value, &text) != nil || !amount.MatchString(text)) {
				r.ignored[name] = shortJSON(value)
			} else if bad := r.figures.take(name, value); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// aside lists the figures of the service that were not compared; empty for none.
func (r *reported) aside() string {
	if len(r.ignored) == 0 {
		return ""
	}
	var listed []string
	for name, value := range r.ignored {
		listed = append(listed, name+" is "+value)
	}
	return "not compared, being no amount: " + strings.Join(text.Few(listed), ", ")
}

// amount is money as a column holds it (docs/openapi.yaml, Values).
var amount = regexp.MustCompile(`^-?0{0,99}[0-9]{1,16}(\.[0-9]{1,2})?$`)

// isDecimal reports whether a text is a decimal without an exponent, or spaces, no longer than is computed with.
func isDecimal(text string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return areDigits(whole) && (!point || areDigits(fraction))
}

// areDigits reports whether a text is 1 to 100 digits.
func areDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != "" && len(text) <= 100
}

// readLine adds the figures of a row of /sales/products.
func (r *reported) readLine(raw []byte) string {
	figures := r.figures
	var row map[string]jsontext.Value
	if err := mapping.Unmarshal(raw, &row); err != nil {
		return "the service's line is no JSON object"
	}
	var product, name *string
	if value := row["product_id"]; mapping.Unmarshal(value, &product) != nil {
		return fmt.Sprintf("product_id is %s, and no text", shortJSON(value))
	}
	if value := row["name"]; product == nil && (mapping.Unmarshal(value, &name) != nil || name == nil) {
		return fmt.Sprintf("name is %s, and no text", shortJSON(value))
	}
	var line string
	if product != nil {
		line = "p/" + *product
	} else {
		line = "n/" + *name
	}
	if _, twice := figures[line+": net"]; twice {
		return fmt.Sprintf("the service lists the line %q twice", line)
	}
	figures[line+": net"] = "0"
	for _, name := range productFigures {
		value := row[name]
		if name == "weight_kg" && (value == nil || string(value) == "null") {
			continue
		}
		if bad := figures.take(line+": "+name, value); bad != "" {
			return bad
		}
	}
	return ""
}

// take adds one figure from its JSON.
func (f dayFigures) take(name string, value jsontext.Value) string {
	text := string(bytes.TrimSpace(value))
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		if inner = strings.TrimSuffix(inner, `"`); isDecimal(inner) { // nearly all
			text = inner
		} else if mapping.Unmarshal(value, &text) != nil {
			text = ""
		}
	}
	if !isDecimal(text) {
		return fmt.Sprintf("%s is %s, and no number", name, shortJSON(value))
	}
	f[name] = text
	return ""
}

func shortJSON(value []byte) string {
	if value == nil {
		return "missing"
	}
	return text.Short(string(value), 100)
}

// figureOr is a figure's text for a person; what is not there is zero.
func (f dayFigures) figureOr(name string) string {
	if text, ok := f[name]; ok {
		return text
	}
	return "0"
}

// mostFigures is how many figures that differ are kept of a day.
const mostFigures = 100

// differ compares the figures of the two sides, to the last digit. It returns those that
// differ, by name.
func differ(service, mirror dayFigures, ignored map[string]string) (found []sinks.Difference) {
	look := func(name string) {
		d := sinks.Difference{Figure: name, Service: service.figureOr(name), Mirror: mirror.figureOr(name)}
		if d.Service == d.Mirror || numberOf(d.Service) == numberOf(d.Mirror) {
			return
		}
		line, figure := lineFigure(name)
		if _, ignore := ignored[name]; !ignore && (line == "" || figure != sinks.RoundedLines) { // else the service does not report it, or no amount
			found = append(found, d)
		}
	}
	for name := range service {
		look(name)
	}
	for name := range mirror {
		if _, both := service[name]; !both {
			look(name)
		}
	}
	slices.SortFunc(found, func(a, b sinks.Difference) int { return cmp.Compare(a.Figure, b.Figure) })
	return found
}

// number is a decimal without the zeros that change nothing: numbers are equal when decimals are.
type number struct {
	negative bool
	digits   string // empty for zero
}

func numberOf(decimal string) number {
	digits, negative := strings.CutPrefix(decimal, "-")
	if digits = strings.TrimLeft(digits, "0"); strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	return number{negative && digits != "", digits}
}

// lineFigure splits the name of a figure of a line of products; line is empty for another.
func lineFigure(name string) (line, figure string) {
	at := strings.LastIndex(name, ": ")
	if at < 0 || !strings.HasPrefix(name, "p/") && !strings.HasPrefix(name, "n/") {
		return "", name
	}
	return name[:at], name[at+len(": "):]
}

// gapHash is a hash of service minus mirror, by figure: figures may move on both sides alike.
func gapHash(all []sinks.Difference) (sum uint64) {
	for _, d := range all {
		sum += maphash.Comparable(seed, [2]string{d.Figure, gapOf(d).RatString()})
	}
	return sum | 1
}

// gapOf is service minus mirror; both are decimals, as [dayFigures] takes no others.
func gapOf(d sinks.Difference) *big.Rat { return new(big.Rat).Sub(ratOf(d.Service), ratOf(d.Mirror)) }

// ratOf is the value of a decimal, 0 for what is none.
func ratOf(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// mirrored arranges what the sink has computed by day.
func mirrored(all []sinks.DayFigures) map[types.Date]dayFigures {
	days := map[types.Date]dayFigures{}
	for _, d := range all {
		day := days[types.Date(d.Day)]
		if day == nil {
			day = dayFigures{}
			days[types.Date(d.Day)] = day
		}
		for name, value := range d.Figures {
			if d.Line != "" {
				name = d.Line + ": " + name
			}
			day[name] = value
		}
	}
	return days
}

// sumOf hashes figures, in any order, so that a later change of them is noticed.
func (f dayFigures) sumOf() (sum uint64) {
	var h maphash.Hash
	h.SetSeed(seed)
	for name, text := range f {
		n := numberOf(text)
		if n.digits == "" {
			continue
		}
		h.Reset()
		_, _ = h.WriteString(name) // maphash never fails
		if _ = h.WriteByte(0); n.negative {
			_ = h.WriteByte('-')
		}
		_, _ = h.WriteString(n.digits)
		sum += h.Sum64()
	}
	return sum
}
