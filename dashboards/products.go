package dashboards

// soldAs is how much of a line was sold: kilograms of what is weighed, else pieces.
const (
	soldAs = "if(is_weighed, ifNull(weight_kg, 0), quantity)"
	// Each location has products of its own; people mean the dish, so they go by name.
	dish = "coalesce(product_name, name)"
)

// sold adds up the lines of the period by what tells them apart, the id of the product among
// it, and then joins the names of the products: a product has one, and thousands of lines.
func sold(keys, sums, which string) string {
	return `
				(
					SELECT ` + keys + `, ` + sums + `
					FROM sales_lines
					WHERE {mine} AND {here}` + which + ` AND business_day BETWEEN {first} AND {last}
					GROUP BY ` + keys + `
				) AS sold
				LEFT ANY JOIN (SELECT toNullable(product_id) AS product_id, product_name, category_name FROM products_ever WHERE {mine}) AS named USING (product_id)`
}

// products answers what sells, what does not, and why.
var products = dashboard{
	name: "products", variables: ofOwner, from: "now-27d/d", to: "now/d", refresh: "15m",
	ranges: []string{"today", "yesterday", "week", "days28", "month", "last_month", "days92", "year"},
	links:  []string{"sales", "stock", "cash-up", "online-orders"},
	panels: []panel{
		{id: 1, key: "summary", kind: figures, w: 8, h: 10, sql: `
			SELECT items_net, pieces_sold, length(dishes) AS different, length(arrayFilter(name -> NOT has(dishes, name), menu)) AS not_sold, sold_out_now
			FROM
			(
				SELECT sum(product_net) AS items_net, sum(pieces) AS pieces_sold, groupUniqArray(` + dish + `) AS dishes
				FROM` + sold("product_id, name", "sum(net) AS product_net, sum(if(is_weighed, 0, quantity)) AS pieces", "") + `
			) AS dishes_sold
			CROSS JOIN (SELECT groupUniqArray(product_name) AS menu, countIf(NOT available) AS sold_out_now FROM products_ever WHERE {mine} AND {here} AND NOT removed) AS offered`,
			columns: []column{{name: "items_net", unit: ron}, {name: "pieces_sold", unit: count}, {name: "different", unit: count},
				{name: "not_sold", unit: count}, {name: "sold_out_now", unit: count, steps: wanted0}}},
		{id: 2, key: "categories", kind: bars, w: 16, h: 10, sql: `
			SELECT ifNull(category_name, '–') AS category, sum(product_net) AS net_sales
			FROM` + sold("product_id", "sum(net) AS product_net", "") + `
			GROUP BY category
			ORDER BY net_sales DESC
			LIMIT 12`,
			columns: []column{{name: "category"}, {name: "net_sales", unit: ron}}},
		{id: 3, key: "best", kind: table, w: 12, h: 12, sql: `
			SELECT if(by_weight, concat(dish, ' (kg)'), dish) AS product, sold_quantity AS quantity, product_net AS net_sales, 100 * toFloat64(product_net) / nullIf(toFloat64(sum(product_net) OVER ()), 0) AS share
			FROM
			(
				SELECT ` + dish + ` AS dish, sum(line_quantity) AS sold_quantity, any(weighed) AS by_weight, sum(line_net) AS product_net
				FROM` + sold("product_id, name", "sum("+soldAs+") AS line_quantity, any(is_weighed) AS weighed, sum(net) AS line_net", "") + `
				GROUP BY dish
			)
			ORDER BY net_sales DESC, product
			LIMIT 20`,
			columns: []column{{name: "product"}, {name: "quantity", unit: asIs}, {name: "net_sales", unit: ron}, {name: "share", unit: number}}},
		{id: 4, key: "worst", kind: table, w: 12, h: 12, sql: `
			SELECT product, category, ifNull(sold_quantity, 0) AS quantity, ifNull(product_net, 0) AS net_sales
			FROM (SELECT ifNull(product_name, '') AS product, min(category_name) AS category FROM products_ever WHERE {mine} AND {here} AND NOT removed GROUP BY product) AS menu
			LEFT JOIN
			(
				SELECT ` + dish + ` AS product, toNullable(sum(line_quantity)) AS sold_quantity, toNullable(sum(line_net)) AS product_net
				FROM` + sold("product_id, name", "sum("+soldAs+") AS line_quantity, sum(net) AS line_net", "") + `
				GROUP BY product
			) AS dishes_sold USING (product)
			ORDER BY net_sales, product
			LIMIT 20`,
			columns: []column{{name: "product"}, {name: "category"}, {name: "quantity", unit: asIs}, {name: "net_sales", unit: ron}}},
		{id: 5, key: "matrix", kind: table, w: 12, h: 12, sql: `
			SELECT
				product, sold_lines AS times, product_net AS net_sales,
				multiIf(times >= middle_times AND net_sales >= middle_net, 'star', times >= middle_times, 'workhorse', net_sales >= middle_net, 'puzzle', 'weak') AS class
			FROM
			(
				SELECT *, medianExact(sold_lines) OVER () AS middle_times, medianExact(product_net) OVER () AS middle_net
				FROM
				(
					SELECT ` + dish + ` AS product, sum(lines) AS sold_lines, sum(line_net) AS product_net
					FROM` + sold("product_id, name", "count() AS lines, sum(net) AS line_net", " AND isNotNull(product_id)") + `
					GROUP BY product
				)
			)
			ORDER BY net_sales DESC, product
			LIMIT 100`,
			columns: []column{{name: "product"}, {name: "class", words: []string{"class"}}, {name: "times", unit: count}, {name: "net_sales", unit: ron}}},
		{id: 6, key: "variants", kind: table, w: 12, h: 12, sql: `
			SELECT concat(dish, ' · ', variant) AS product, sold_quantity AS quantity, variant_net AS net_sales, 100 * toFloat64(sold_quantity) / nullIf(toFloat64(sum(sold_quantity) OVER (PARTITION BY dish)), 0) AS share
			FROM
			(
				SELECT ` + dish + ` AS dish, assumeNotNull(variant_name) AS variant, sum(line_quantity) AS sold_quantity, sum(line_net) AS variant_net
				FROM` + sold("product_id, name, variant_name", "sum(quantity) AS line_quantity, sum(net) AS line_net", " AND isNotNull(variant_name)") + `
				GROUP BY dish, variant
			)
			ORDER BY sum(variant_net) OVER (PARTITION BY dish) DESC, dish, net_sales DESC
			LIMIT 60`,
			columns: []column{{name: "product"}, {name: "quantity", unit: asIs}, {name: "net_sales", unit: ron}, {name: "share", unit: number}}},
		{id: 7, key: "extras", kind: table, w: 12, h: 9, sql: `
			SELECT
				extra, sum(times_sold) AS times, sum(extra_amount) AS amount,
				100 * sumIf(with_extra, isNotNull(product_id)) / nullIf(sumIf(all_lines, isNotNull(product_id)), 0) AS attach_rate
			FROM
			(
				-- An extra of no name stands for the line itself: so the lines of a product are counted, and read, once.
				SELECT product_id, extra, times_sold, extra_amount, with_extra, sumIf(lines, isNull(extra)) OVER (PARTITION BY product_id) AS all_lines
				FROM
				(
					SELECT
						product_id, added.1 AS extra, count() AS lines, sum(quantity) AS times_sold,
						sum(round(toDecimal256(quantity, 10) * added.2, 2)) AS extra_amount, countIf(added.3) AS with_extra
					FROM
					(
						SELECT product_id, quantity, extras_name, extras_price
						FROM sales_lines
						WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
					)
					ARRAY JOIN arrayConcat(
						[(CAST(NULL, 'Nullable(String)'), toDecimal64(0, 2), false)],
						arrayMap((extra_name, price, nth) -> (toNullable(extra_name), price, indexOf(extras_name, extra_name) = nth), extras_name, extras_price, arrayEnumerate(extras_name))) AS added
					GROUP BY product_id, extra
				)
			)
			WHERE isNotNull(extra)
			GROUP BY extra
			ORDER BY amount DESC, extra
			LIMIT 30`,
			columns: []column{{name: "extra"}, {name: "times", unit: asIs}, {name: "amount", unit: ron}, {name: "attach_rate", unit: number}}},
		{id: 8, key: "prices", kind: table, w: 12, h: 9, sql: `
			WITH
				change.1 AS since, toDate32(since) AS changed_on,
				least(14, dateDiff('day', changed_on, least({today}, toDate32(ifNull(change.2, {clock}))))) AS days_after,
				arrayFilter(line -> isNull(change.7) OR isNull(line.2) OR line.2 = change.7, sold) AS lines
			SELECT
				since, concat(change.3, if(isNull(change.4), '', concat(' · ', change.4))) AS product, change.5 AS price, change.6 AS price_change,
				if(NOT arrayExists(day -> day >= changed_on - 21 AND day < changed_on - 14, sold_on), NULL, toFloat64(arraySum(line -> if(line.1 >= changed_on - 14 AND line.1 < changed_on, line.3, 0), lines)) / 14) AS a_day_before,
				if(days_after < 1, NULL, toFloat64(arraySum(line -> if(line.1 >= changed_on AND line.1 < changed_on + days_after, line.3, 0), lines)) / days_after) AS a_day_after,
				channel
			FROM
			(
				SELECT channel, groupArrayArray(changes) AS changes, groupArrayArray(sold) AS sold, groupUniqArrayArray(groupUniqArrayArray(days)) OVER () AS sold_on
				FROM
				(
					SELECT product_id, channel, [(since, until, product_name, variant_name, new_price, change_percent, variant_id)] AS changes, [] AS sold, [] AS days
					FROM price_changes_by_id
					WHERE {mine} AND {here} AND toDate32(since) BETWEEN {first} AND {last}

					UNION ALL

					-- A week more than two before a change tells whether there was a sale by then.
					SELECT
						assumeNotNull(product_id) AS product_id, toString(channel) AS channel, [] AS changes,
						groupArray((business_day, variant_id, ` + soldAs + `)) AS sold, groupUniqArray(business_day) AS days
					FROM sales_quantities
					WHERE {mine} AND {here} AND isNotNull(product_id) AND business_day BETWEEN {first} - 21 AND {last} + 14
					GROUP BY product_id, channel
				)
				GROUP BY product_id, channel
			)
			ARRAY JOIN changes AS change
			ORDER BY since DESC, product, channel
			LIMIT 50`,
			columns: []column{{name: "since", unit: day}, {name: "product", least: 110}, {name: "price", unit: bani, width: 64}, {name: "price_change", unit: number},
				{name: "a_day_before", unit: number}, {name: "a_day_after", unit: number}, {name: "channel", words: []string{"channel"}}}},
		{id: 9, key: "outages", kind: table, w: 12, h: 7, sql: outagesSQL,
			columns: []column{{name: "product"}, {name: "times", unit: count}, {name: "out_hours", unit: number}, {name: "cost", unit: ron}}},
		{id: 10, key: "out_now", kind: table, w: 12, h: 7, sql: `
			SELECT product_name AS product, {place} AS location, sold_out_from, ifNull(open_minutes, minutes) / 60 AS out_hours
			FROM availability
			WHERE {mine} AND {here} AND isNull(sold_out_to)
			ORDER BY sold_out_from DESC
			LIMIT 50`,
			columns: []column{{name: "product"}, {name: "location"}, {name: "sold_out_from", unit: instant}, {name: "out_hours", unit: number}}},
	},
	texts: texts{
		"title": {"Produse", "Products"},
		"about": {"Ce se vinde bine, ce nu, ce aduc variantele și extra-opțiunile, ce s-a schimbat la prețuri și cât a costat ce s-a epuizat.", "What sells and what does not, what variants and extras bring, which prices changed, and what sold-out products cost."},

		"summary":       {"Pe scurt", "In short"},
		"summary.about": {"Vânzările de produse ale perioadei după toate reducerile, fără taxe de livrare. Bucățile nu cuprind ce se vinde la kilogram. „Nevândute” sunt produsele din meniul de azi fără nicio vânzare în perioadă.", "Sales of products in the period after all discounts, without delivery fees. Pieces leave out what is sold by weight. Not sold: products of today's menu without a sale in the period."},
		"items_net":     {"Vânzări de produse", "Sales of products"},
		"pieces_sold":   {"Bucăți vândute", "Pieces sold"},
		"different":     {"Produse vândute", "Products sold"},
		"not_sold":      {"Nevândute din meniu", "On the menu, not sold"},
		"sold_out_now":  {"Epuizate acum", "Sold out now"},

		"best":       {"Cele mai vândute", "Best sellers"},
		"best.about": {"Produsele care au adus cei mai mulți bani în perioada aleasă, după toate reducerile, și partea lor din total. Cantitatea este în bucăți; la cele cu (kg), în kilograme.", "The products that brought most in the chosen period, after all discounts, and their part of the total. Quantities are pieces; those of products marked (kg) are kilograms."},

		"worst":       {"Cele mai puțin vândute", "Worst sellers"},
		"worst.about": {"Produse din meniul de azi care au adus cel mai puțin în perioada aleasă; cele cu zero nu s-au vândut deloc.", "Products of today's menu that brought least in the chosen period; those with zero were not sold at all."},
		"worst.empty": {"Meniul este gol", "The menu is empty"},

		"categories":       {"Pe categorii", "By category"},
		"categories.about": {"Vânzările nete pe categorii de meniu; linia „–” sunt vânzări fără produs din meniu.", "Net sales by menu category; “–” are sales of no product of the menu."},

		"matrix":       {"Ce se cere și ce aduce bani", "Popularity against revenue"},
		"matrix.about": {"Fiecare produs față de mijlocul meniului: de câte ori s-a cerut și câți bani a adus. Vedetele sunt peste mijloc la amândouă; cele slabe sub mijloc la amândouă.", "Each product against the middle of the menu: how often it was ordered, and what it brought. Stars are above the middle in both, weak ones below it in both."},
		"class":        {"Grupa", "Group"},
		"times":        {"Nr.", "Times"},

		"variants":       {"Variante", "Variants"},
		"variants.about": {"Ce variantă se cere la fiecare produs; ponderea este din cantitatea produsului.", "Which variant of each product is wanted; the share is that of the product's quantity."},
		"variants.empty": {"Nicio variantă vândută în perioada aleasă", "No variant was sold in the chosen period"},

		"extras":       {"Extra-opțiuni", "Extras"},
		"extras.about": {"De câte ori s-au vândut extra-opțiunile, câți bani au adus și la cât la sută din vânzările produselor lor au fost adăugate.", "How often extras were sold, what they brought, and to what part of the lines of their products they were added."},
		"extras.empty": {"Nicio extra-opțiune vândută în perioada aleasă", "No extra was sold in the chosen period"},
		"extra":        {"Extra", "Extra"},
		"amount":       {"Valoare", "Revenue"},
		"attach_rate":  {"% din linii", "% of lines"},

		"prices":       {"Prețuri schimbate și ce a urmat", "Price changes and what followed"},
		"prices.about": {"Schimbările de preț văzute de Larder în perioada aleasă, cu prețul nou, și cât s-a vândut pe zi, pe același canal, în cele 14 zile dinainte și în cel mult 14 zile după. „Înainte” lipsește dacă în săptămâna de dinaintea acelor zile restaurantul nu a vândut nimic; „După”, până se încheie ziua schimbării.", "Price changes that Larder saw in the chosen period, with the new price, and how much was sold a day on the same channel in the 14 days before and up to 14 days after. Before is left out where nothing at all was sold in the week before those days, After until the day of the change is over."},
		"prices.empty": {"Niciun preț schimbat în perioada aleasă", "No price changed in the chosen period"},
		"since":        {"Din", "Since"}, "channel": {"Canal", "Channel"},
		"price": {"Preț", "Price"}, "price_change": {"± %", "± %"},
		"a_day_before": {"Înainte", "Before"}, "a_day_after": {"După", "After"},

		"outages":       {"Epuizări și ce au costat", "Sold out, and what it cost"},
		"outages.about": {"Epuizările începute în perioada aleasă: câte ore din program au durat și vânzările pierdute, estimate din ce aducea produsul pe oră deschisă în cele 28 de zile dinainte.", "Products that were marked sold out in the chosen period: the opening hours until they were back, and the sales that cost: an estimate from what the product brought per open hour in the 28 days before."},
		"outages.empty": {"Nimic epuizat în perioada aleasă", "Nothing was sold out in the chosen period"},
		"out_hours":     {"Ore", "Hours"},
		"cost":          {"Pierdut", "Lost"},

		"out_now":       {"Epuizate chiar acum", "Sold out right now"},
		"out_now.about": {"Produsele marcate epuizate în acest moment, de când, și câte ore din program au trecut.", "Products that are marked sold out at this moment, since when, and how many opening hours have passed."},
		"out_now.empty": {"Totul este disponibil", "Everything is available"},
		"sold_out_from": {"Din", "Since"},
	},
}

// What an outage cost: what the product brought per minute of opening hours in the 28 days
// before, times the minutes it was out. A location without a schedule counts as always open.
const outagesSQL = `
			SELECT any(product_name) AS product, count() AS times, sum(out_minutes) / 60 AS out_hours, sum(out_minutes * before / open_before) AS cost
			FROM
			(
				SELECT
					outages.product_id AS product_id, sold_out_from, any(outages.product_name) AS product_name,
					any(out_minutes) AS out_minutes, any(open_before) AS open_before,
					toFloat64(sumIf(day_net, day >= toDate32(sold_out_from) - 28 AND day < toDate32(sold_out_from))) AS before
				FROM
				(
					SELECT
						product_id, product_name, sold_out_from,
						toFloat64(if(isNull(open_minutes) OR isNull(open_minutes_a_week), minutes, open_minutes)) AS out_minutes,
						4 * if(isNull(open_minutes) OR isNull(open_minutes_a_week), 7 * 1440, assumeNotNull(open_minutes_a_week)) AS open_before
					FROM availability_by_id
					WHERE {mine} AND {here} AND toDate32(sold_out_from) BETWEEN {first} AND {last}
				) AS outages
				LEFT JOIN
				(
					SELECT assumeNotNull(product_id) AS product_id, business_day AS day, sum(net) AS day_net
					FROM sales_lines
					WHERE {mine} AND {here} AND isNotNull(product_id) AND business_day BETWEEN {first} - 28 AND {last}
					GROUP BY product_id, day
				) AS sold ON outages.product_id = sold.product_id
				GROUP BY product_id, sold_out_from
			)
			GROUP BY product_id
			ORDER BY cost DESC, out_hours DESC
			LIMIT 30`
