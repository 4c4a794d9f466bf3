package dashboards

// stock answers what is missing, what will be missing, and what moves.
var stock = dashboard{
	name: "stock", variables: ofStock, from: "now-27d/d", to: "now/d", refresh: "15m",
	ranges: []string{"today", "yesterday", "week", "days28", "month", "days92"},
	links:  []string{"sales", "products", "cash-up", "online-orders"},
	panels: []panel{
		{id: 1, key: "summary", kind: figures, w: 8, h: 7, sql: `
			SELECT
				countIf(below_min AND (min_stock > 0 OR used > 0)) AS below_minimum,
				countIf(stock < 0) AS negative_count,
				countIf(runs_out_on <= {today} + 7 - toDayOfWeek({today}) AND stock > 0) AS out_by_sunday,
				count() AS ingredients
			FROM stock_cover
			WHERE {mine} AND {here}`,
			columns: []column{{name: "below_minimum", unit: count, steps: wanted0}, {name: "negative_count", unit: count, steps: never},
				{name: "out_by_sunday", unit: count, steps: wanted0}, {name: "ingredients", unit: count}}},
		{id: 2, key: "weekend", kind: table, w: 16, h: 7, sql: `
			SELECT ingredient, left_stock, unit, days_left, location
			FROM
			(
				SELECT ingredient_name AS ingredient, toFloat64(stock) AS left_stock, unit, days_left, {place} AS location, runs_out_on
				FROM stock_cover
				WHERE {mine} AND {here} AND stock > 0
				ORDER BY runs_out_on, days_left, ingredient
				LIMIT 50
			)
			-- Out here, since a condition on what is computed would be computed twice in there.
			WHERE runs_out_on <= {today} + 7 - toDayOfWeek({today})
			ORDER BY days_left, ingredient`,
			columns: []column{{name: "ingredient"}, {name: "left_stock", unit: amounts}, {name: "unit", words: []string{"unit"}, width: 50}, {name: "days_left", unit: number, steps: daysLeft}, {name: "location"}}},
		{id: 3, key: "below", kind: table, w: 12, h: 12, sql: `
			SELECT ingredient_name AS ingredient, toFloat64(stock) AS left_stock, if(min_stock = 0, NULL, toFloat64(min_stock)) AS minimum, unit, {place} AS location
			FROM stock_cover
			WHERE {mine} AND {here} AND below_min AND (min_stock > 0 OR used > 0)
			ORDER BY ifNull(left_stock / minimum, 0), ingredient
			LIMIT 100`,
			columns: []column{{name: "ingredient"}, {name: "left_stock", unit: amounts}, {name: "minimum", unit: amounts}, {name: "unit", words: []string{"unit"}, width: 50}, {name: "location"}}},
		{id: 4, key: "cover", kind: bars, w: 12, h: 12, sql: `
			SELECT ingredient_name AS ingredient, min(days_left) AS lasts
			FROM stock_cover
			WHERE {mine} AND {here} AND stock > 0
			GROUP BY ingredient
			HAVING isNotNull(lasts)
			ORDER BY lasts, ingredient
			LIMIT 15`,
			columns: []column{{name: "ingredient"}, {name: "lasts", unit: number, steps: daysLeft}}},
		{id: 5, key: "movers", kind: table, w: 12, h: 10, sql: `
			SELECT ingredient, used_a_day, unit, days_left, location
			FROM
			(
				SELECT ingredient_name AS ingredient, toFloat64(used) / nullIf(days_seen, 0) AS used_a_day, unit, days_left, {place} AS location
				FROM stock_cover
				WHERE {mine} AND {here}
				ORDER BY unit, used_a_day DESC, ingredient
				LIMIT 10 BY unit
			)
			-- Out here, since a condition on what is computed would be computed twice in there.
			WHERE used_a_day > 0
			ORDER BY unit, used_a_day DESC, ingredient`,
			columns: []column{{name: "ingredient"}, {name: "used_a_day", unit: amounts}, {name: "unit", words: []string{"unit"}, width: 50}, {name: "days_left", unit: number, steps: daysLeft}, {name: "location"}}},
		{id: 6, key: "negative", kind: table, w: 12, h: 10, sql: `
			SELECT name AS ingredient, toFloat64(ingredients.stock) AS left_stock, unit, {place} AS location, updated_at AS changed_at
			FROM ingredients
			WHERE {mine} AND {here} AND ingredients.stock < 0
			ORDER BY changed_at DESC, ingredient
			LIMIT 100`,
			columns: []column{{name: "ingredient"}, {name: "left_stock", unit: amounts}, {name: "unit", words: []string{"unit"}, width: 50}, {name: "location"}, {name: "changed_at", unit: day}}},
		{id: 7, key: "movements", kind: columns, w: 12, h: 9, sql: `
			SELECT toDateTime(toDate32(at), 'Europe/Bucharest') AS time, countIf(direction = 'in') AS came_in, countIf(direction = 'out') AS went_out
			FROM stock_movements
			WHERE {mine} AND {here} AND isNull(kind) AND toDate32(at) BETWEEN {first} AND {last}
			GROUP BY time
			ORDER BY time`,
			columns: []column{{name: "came_in", unit: count}, {name: "went_out", unit: count}}},
		{id: 8, key: "receipts", kind: table, w: 12, h: 9, sql: `
			SELECT at, ingredient_name AS ingredient, toFloat64(difference) AS came, unit, {place} AS location
			FROM stock_movements
			WHERE {mine} AND {here} AND direction = 'in' AND isNull(kind) AND toDate32(at) BETWEEN {first} AND {last}
			ORDER BY at DESC, ingredient
			LIMIT 50`,
			columns: []column{{name: "at", unit: day}, {name: "ingredient"}, {name: "came", unit: amounts}, {name: "unit", words: []string{"unit"}, width: 50}, {name: "location"}}},
	},
	texts: texts{
		"title": {"Stocuri", "Stock"},
		"about": {"Ce lipsește, ce se va termina și ce se consumă repede. Stocurile sunt cele de acum; perioada aleasă privește doar intrările și ieșirile.", "What is missing, what will run out, and what goes fast. Stock is that of now; the chosen period is about what came in and went out only."},

		"summary":        {"Acum", "Now"},
		"summary.about":  {"Câte ingrediente sunt la minimul lor sau sub el (fără minim: terminate), câte au stoc negativ (lipsește o recepție sau o rețetă greșește) și câte se termină până duminică seara la consumul ultimelor 28 de zile.", "How many ingredients are at or below their minimum (without one: used up), how many are negative (a reception was not entered, or a recipe is wrong), and how many run out by Sunday night at the use of the last 28 days."},
		"below_minimum":  {"La minim sau sub", "At or below minimum"},
		"negative_count": {"Stoc negativ", "Negative stock"},
		"out_by_sunday":  {"Se termină până duminică", "Run out by Sunday"},
		"ingredients":    {"Ingrediente în total", "Ingredients in all"},

		"weekend":       {"Se termină până duminică", "What runs out by Sunday"},
		"weekend.about": {"Ingredientele care nu ajung până duminică seara, la consumul pe zile ale săptămânii din ultimele 28 de zile. Roșu: mai puțin de două zile.", "Ingredients that do not last until Sunday night, at the use by weekday of the last 28 days. Red: less than two days."},
		"weekend.empty": {"Nimic nu se termină până duminică, din ce se știe despre consum", "Nothing runs out by Sunday, as far as the use is known"},
		"left_stock":    {"Stoc", "Stock"},
		"days_left":     {"Zile", "Days"},

		"below":       {"Sub minim", "Below minimum"},
		"below.about": {"Ingredientele cu stocul la minimul stabilit sau sub el, cele mai goale întâi. Cele fără minim apar când s-au terminat, dacă s-au consumat în ultimele 28 de zile.", "Ingredients whose stock is at or below the minimum that was set, the emptiest first. Those without a minimum are here when they are used up, if any was used in the last 28 days."},
		"below.empty": {"Niciun ingredient sub minim", "Nothing is below its minimum"},
		"minimum":     {"Minim", "Min."},

		"cover":       {"Câte zile mai ajunge", "Days of cover"},
		"cover.about": {"Ingredientele care se termină primele și câte zile mai ajung, la consumul pe zile ale săptămânii din ultimele 28 de zile. Roșu: sub 2 zile; portocaliu: sub 5.", "The ingredients that run out first, and for how many days they last at the use by weekday of the last 28 days. Red: less than 2 days; orange: less than 5."},
		"cover.empty": {"Consumul nu se cunoaște încă: Larder urmărește stocul de la prima sincronizare", "The use is not known yet: Larder has watched the stock since the first sync"},

		"movers":       {"Cele mai consumate", "Fastest movers"},
		"movers.about": {"Ce se consumă cel mai mult pe zi, pe unități de măsură, din ultimele 28 de zile; pierderile și transferurile sunt incluse, serviciul nu le deosebește.", "What goes fastest a day, by unit, over the last 28 days; waste and transfers are included, the service does not tell them apart."},
		"movers.empty": {"Consumul nu se cunoaște încă: Larder urmărește stocul de la prima sincronizare", "The use is not known yet: Larder has watched the stock since the first sync"},
		"used_a_day":   {"Pe zi", "A day"},

		"negative":       {"Stoc negativ", "Negative stock"},
		"negative.about": {"Ingrediente din care s-a scăzut mai mult decât era: de obicei o recepție neintrodusă sau o rețetă greșită.", "Ingredients of which more was taken than there was: mostly a reception that was not entered, or a wrong recipe."},
		"negative.empty": {"Niciun stoc negativ", "No stock is negative"},
		"changed_at":     {"Când", "When"},

		"movements":       {"Intrări și ieșiri pe zile", "Movements by day"},
		"movements.about": {"Câte intrări și câte ieșiri de stoc a văzut Larder în fiecare zi din perioada aleasă.", "How many stock movements in and out Larder saw on each day of the chosen period."},
		"came_in":         {"Intrări", "In"},
		"went_out":        {"Ieșiri", "Out"},

		"receipts":       {"Ultimele intrări", "What came in last"},
		"receipts.about": {"Ultimele creșteri de stoc din perioada aleasă: recepții, transferuri sau corecții de inventar, pe care serviciul nu le deosebește.", "The last increases of stock in the chosen period: receptions, transfers or corrections, which the service does not tell apart."},
		"receipts.empty": {"Nicio intrare în perioada aleasă", "Nothing came in in the chosen period"},
		"at":             {"Când", "When"},
		"came":           {"Intrat", "In"},
	},
}
