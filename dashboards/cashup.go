package dashboards

import (
	"fmt"
	"strings"
)

// closedDays are the days of the period beside the service's figures: of all locations
// together as the service was asked about them, every few minutes; of chosen ones as it was
// asked about each, every night. $__conditionalAll gives 1=1 while all locations are chosen:
// so is one of the two named, and only the one that is read is planned.
const closedDays = "WITH `1=1` AS" + `
			(
				SELECT {columns}
				FROM days_compared
				WHERE {mine} AND date BETWEEN {first} AND {last}
			),
			chosen AS
			(
				SELECT {columns}
				FROM days_compared_by_location
				WHERE {mine} AND date BETWEEN {first} AND {last} AND location_id IN (${location:singlequote})
			)`

const fromClosedDays = "FROM `$__conditionalAll(chosen, $location)`"

// What was taken, and what of it was left in the drawer, of the figures of a day.
const (
	takenOf  = "mirror['net_sales'] + mirror['tips'] + mirror['deposits'] - mirror['payments/protocol']"
	drawerOf = "mirror['payments/cash'] - mirror['refunds/cash']"
)

// inItsColumn leaves out the bani of a figure from a size on: what is wider than its column
// loses its first digits there, or its sign.
func inItsColumn(figure string, from int) string {
	return fmt.Sprintf("if(abs(%[1]s) < %[2]d, %[1]s, round(%[1]s))", figure, from)
}

// closeFigures are those that stand beside the service's.
var closeFigures = []string{"net_sales", "items", "discounts", "delivery_fees", "tips", "deposits", "refunds"}

// rankOf tells the worst verdict of several days or locations.
const rankOf = "transform(verdict, ['proven', 'equal', 'healed', 'explained', 'open', 'unsettled', 'unproven', 'differs', 'drift'], [0, 1, 2, 3, 4, 5, 6, 7, 8], 6)"

// cashUp answers at closing time what there must be in the drawer, and whether it is proven.
var cashUp = dashboard{
	name: "cash-up", variables: ofOwner, from: "now/d", to: "now/d", refresh: "5m",
	ranges: []string{"today", "yesterday", "week", "month", "last_month"},
	links:  []string{"sales", "products", "stock", "online-orders"},
	panels: []panel{
		{id: 1, key: "taken", kind: figures, w: 8, h: 10, sql: `
			SELECT
				sums['net_sales'] + all_tips + all_deposits - sums['payments/protocol'] AS all_taken, sums['payments/cash'] - sums['refunds/cash'] AS drawer,
				sums['payments/card'] + sums['payments/card_at_counter'] AS cards, sums['tips'] AS all_tips, sums['deposits'] AS all_deposits, sums['refunds'] AS all_refunds
			FROM
			(
				SELECT sumMap(mirror) AS sums
				FROM days_mirrored_by_location
				WHERE {mine} AND {here} AND date BETWEEN {first} AND {last}
			)`,
			columns: []column{{name: "all_taken", unit: bani}, {name: "drawer", unit: bani}, {name: "cards", unit: bani}, {name: "all_tips", unit: bani},
				{name: "all_deposits", unit: bani}, {name: "all_refunds", unit: bani}}},
		{id: 2, key: "proof", kind: oneWord, w: 16, h: 4, sql: strings.ReplaceAll(closedDays, "{columns}", "verdict") + `
			SELECT if(count() = 0, 'none', argMax(toString(verdict), ` + rankOf + `)) AS verdict
			` + fromClosedDays,
			columns: []column{{name: "verdict", words: []string{"verdict"}}}},
		{id: 3, key: "places", kind: table, w: 16, h: 6, sql: `
			SELECT ` + locationValue + ` AS location_value, {place} AS location, ` + inItsColumn("taken", 1e6) + ` AS all_taken, ` + inItsColumn("cash_left", 1e6) + ` AS drawer, verdict
			FROM
			(
				SELECT
					location_id, sum(` + takenOf + `) AS taken, sum(` + drawerOf + `) AS cash_left,
					argMax(toString(days.verdict), ` + rankOf + `) AS verdict
				FROM days_compared_by_location AS days
				WHERE {mine} AND {here} AND date BETWEEN {first} AND {last}
				GROUP BY location_id
			) AS places
			LEFT ANY JOIN (SELECT location_id, location_name, business_name FROM locations_ever WHERE {mine}) AS named USING (location_id)
			ORDER BY taken DESC, location`,
			columns: []column{{name: "location_value", hidden: true}, {name: "location", opens: "cash-up"}, {name: "all_taken", unit: bani}, {name: "drawer", unit: bani}, {name: "verdict", words: []string{"verdict"}}}},
		{id: 4, key: "beside", kind: table, w: 16, h: 16, sql: besideSQL(),
			columns: []column{{name: "figure", words: []string{"figure", "method"}}, {name: "mirrored", unit: bani, least: 86}, {name: "service", unit: bani, least: 86}, {name: "difference", unit: bani, steps: balanced, width: 62}}},
		{id: 5, key: "methods", kind: bars, w: 8, h: 10, sql: paymentsSQL,
			columns: []column{{name: "method", words: []string{"method"}}, {name: "paid", unit: bani}}},
		{id: 6, key: "vat", kind: table, w: 8, h: 6, sql: `
			SELECT if(isNull(vat_rate), '–', concat(toString(vat_rate), ' %')) AS rate, sum(net) AS with_vat, sum(vat_amount) AS vat_inside
			FROM sales_lines
			WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY vat_rate
			ORDER BY with_vat DESC`,
			columns: []column{{name: "rate"}, {name: "with_vat", unit: bani, least: 86}, {name: "vat_inside", unit: bani, least: 86}}},
		{id: 7, key: "refunded", kind: table, w: 12, h: 8, sql: `
			SELECT
				at, concat(ifNull(order_number, order_id), if(days_after_order = 0, '', formatDateTime(business_day, ' (%d.%m)'))) AS order_no, amount, method
			FROM sales_refunds
			WHERE {mine} AND {here} AND refund_day BETWEEN {first} AND {last}
			ORDER BY at DESC
			LIMIT 100`,
			columns: []column{{name: "at", unit: instant}, {name: "order_no"}, {name: "amount", unit: bani, width: 76}, {name: "method", words: []string{"method"}}}},
		{id: 8, key: "each_day", kind: table, w: 12, h: 8, sql: `
			SELECT
				toString(toUnixTimestamp(toDateTime(date, 'Europe/Bucharest')) * 1000) AS day_begins,
				toString(toUnixTimestamp(toDateTime(date + 1, 'Europe/Bucharest')) * 1000 - 1) AS day_ends,
				date, sum(` + takenOf + `) AS all_taken, sum(` + drawerOf + `) AS drawer,
				argMax(toString(days.verdict), ` + rankOf + `) AS verdict
			FROM days_compared_by_location AS days
			WHERE {mine} AND {here} AND date BETWEEN {first} AND {last}
			GROUP BY date
			ORDER BY date DESC
			LIMIT 100`,
			columns: []column{{name: "day_begins", hidden: true}, {name: "day_ends", hidden: true}, {name: "date", unit: day, width: 60, opensDay: "cash-up"},
				{name: "all_taken", unit: bani, least: 86}, {name: "drawer", unit: bani, least: 86}, {name: "verdict", words: []string{"verdict"}}}},
	},
	texts: texts{
		"title": {"Închiderea zilei", "Cash-up"},
		"about": {"Ce s-a încasat într-o zi și ce trebuie să fie în sertar, pe locații, lângă cifrele serviciului, cu dovada că se potrivesc. Alegeți altă zi sau mai multe din perioadă.", "What was taken on a day and what must be in the drawer, by location, beside the service's own figures, and whether they are proven. Choose another day, or several, as the period."},

		"taken":       {"Încasări", "Takings"},
		"taken.about": {"Tot ce s-a încasat: vânzări nete, bacșiș și garanții SGR, fără protocol. Numerarul rămas este cel plătit minus rambursările în numerar din aceeași zi.", "All that was taken: net sales, tips and SGR deposits, less what was on the house. The cash left is what was paid in cash less the refunds in cash of the same day."},
		"all_taken":   {"Total încasat", "Taken in all"}, "column.all_taken": {"Încasat", "Taken"},
		"drawer": {"Numerar rămas", "Cash left"}, "column.drawer": {"Numerar", "Cash"},
		"cards":        {"Carduri", "Cards"},
		"all_tips":     {"Bacșiș", "Tips"},
		"all_deposits": {"Garanții SGR", "SGR deposits"},
		"all_refunds":  {"Rambursări", "Refunds"},

		"proof":       {"Se potrivește?", "Proven?"},
		"proof.about": {"Dovedit: Larder a comparat fiecare cifră cu totalurile serviciului și sunt la fel. O zi în curs se dovedește după miezul nopții. Pentru mai multe zile se arată starea cea mai proastă. Dacă sunt alese toate locațiile, e vorba de totalul lor, iar fiecare stă alături, la „Pe locații”; dacă ați ales câteva, de cea mai proastă dintre ele.", "Proven: Larder has compared every figure with the service's own totals, and they are the same. A day that is still open is proven after midnight. Of several days the worst shows. With all locations chosen it is about their total, and each stands under By location; of chosen ones the worst shows."},

		"beside":       {"Larder lângă serviciu", "Larder beside the service"},
		"beside.about": {"Fiecare cifră cum reiese din bonurile oglindite și cum o dă serviciul, în RON. Unde lipsește cifra serviciului, acesta nu a fost încă întrebat; despre fiecare locație în parte este întrebat noaptea. Diferența se arată după ce ziua s-a încheiat: până atunci bonurile sunt mai noi decât cifra serviciului.", "Each figure as the mirrored orders give it and as the service reports it, RON. Where the figure of the service is missing, it was not asked yet; about each location it is asked at night. The difference shows once the day is over: until then the orders are newer than the figure of the service."},
		"figure":       {"Cifra", "Figure"},
		"mirrored":     {"Larder", "Larder"},
		"service":      {"Serviciul", "Service"},
		"difference":   {"Dif.", "Diff."},

		"places":       {"Pe locații", "By location"},
		"places.about": {"Încasările și numerarul rămas ale fiecărei locații, cu starea dovezii. Atingeți o locație ca s-o vedeți singură.", "Takings and cash left of each location, with its verdict. Tap a location to see it alone."},

		"methods":       {"Metode de plată", "Payment methods"},
		"methods.about": {"Plățile pe metode, cu bacșiș și garanții SGR; protocolul este din partea casei și nu se încasează.", "Payments by method, tips and SGR deposits included; what is on the house is shown too, and is not taken."},

		"vat":        {"TVA", "VAT"},
		"vat.about":  {"Vânzările de produse după toate reducerile și TVA cuprins în ele, pe cote, calculat de Larder pe fiecare linie. O linie: serviciul nu dă cota. Taxele de livrare nu sunt cuprinse: serviciul nu le dă cota.", "Sales of products after all discounts, and the VAT within them by rate, computed by Larder on each line. A dash: the service gives no rate. Delivery fees are left out: the service states no rate for them."},
		"rate":       {"Cota", "Rate"},
		"with_vat":   {"Cu TVA", "With VAT"},
		"vat_inside": {"TVA", "VAT"},

		"refunded":       {"Rambursări", "Refunds"},
		"refunded.about": {"Rambursările făcute în perioada aleasă. Bonul din altă zi are ziua lângă număr.", "Refunds made in the chosen period. An order of another day has its day beside its number."},
		"refunded.empty": {"Nicio rambursare", "No refunds"},
		"at":             {"Când", "When"},
		"order_no":       {"Bon", "Order"},
		"amount":         {"Suma", "Amount"},
		"method":         {"Metoda", "Method"},

		"each_day":       {"Zi cu zi", "Day by day"},
		"each_day.about": {"Închiderea fiecărei zile din perioada aleasă, toate locațiile alese împreună, cu starea cea mai proastă a lor. Atingeți o zi pentru toate cifrele ei.", "The close of each day of the chosen period, all chosen locations together, with the worst of their verdicts. Tap a day for all of its figures."},
	},
}

// besideSQL has a row for each figure and payment method. The service's figure is there
// when it was asked about every day and location. What is beside each other are arrays of
// one length: of tuples the reading interface takes few in one statement.
func besideSQL() string {
	return strings.ReplaceAll(closedDays, "{columns}", "verdict, mirror, service") + `
			SELECT
				replaceOne(name, 'payments/', '') AS figure, ` + inItsColumn("ours", 1e6) + ` AS mirrored, ` + inItsColumn("theirs", 1e6) + ` AS service,
				if(running, NULL, ` + inItsColumn("ours - theirs", 1e3) + `) AS difference
			FROM
			(
				SELECT running, arrayConcat(['` + strings.Join(closeFigures, "', '") + `'], methods) AS names,
					arrayMap(name -> of_mirror[name], names) AS of_mirrors, arrayMap(name -> if(unasked, NULL, of_service[name]), names) AS of_services
				FROM
				(
					SELECT
						countIf(empty(service)) > 0 AS unasked, countIf(verdict = 'open') > 0 AS running,
						sumMap(mirror) AS of_mirror, sumMap(service) AS of_service,
						arrayFilter(name -> startsWith(name, 'payments/') AND (of_mirror[name] != 0 OR of_service[name] != 0),
							arrayDistinct(arrayConcat(mapKeys(of_mirror), mapKeys(of_service)))) AS methods,
						count() AS found
					` + fromClosedDays + `
				)
				WHERE found > 0
			)
			ARRAY JOIN names AS name, of_mirrors AS ours, of_services AS theirs`
}
