package dashboards

// sales answers how the day, the month and the chosen period go.
var sales = dashboard{
	name: "sales", variables: ofOwner, from: "now-27d/d", to: "now/d", refresh: "5m",
	ranges: []string{"today", "yesterday", "week", "days28", "month", "last_month", "year"},
	links:  []string{"cash-up", "products", "stock", "online-orders"},
	panels: []panel{
		{id: 1, key: "today", kind: figures, w: 8, h: 6, sql: `
			SELECT
				sum(totals_net_sales) AS net_sales,
				count() AS orders,
				if(orders = 0, NULL, toFloat64(net_sales) / orders) AS average_order
			FROM sales_orders
			WHERE {mine} AND {here} AND business_day = {today}`,
			columns: []column{{name: "net_sales", unit: ron}, {name: "orders", unit: count}, {name: "average_order", unit: bani}}},
		{id: 2, key: "against", kind: figures, w: 8, h: 6, sql: `
			WITH
				{today} AS today,
				if(week_ago = 0, NULL, 100 * (so_far / week_ago - 1)) AS week_ratio,
				if(four_weeks = 0, NULL, 100 * (so_far * days_of_four / four_weeks - 1)) AS four_ratio
			SELECT
				` + signed("week_ratio") + ` AS against_week,
				` + signed("four_ratio") + ` AS against_four,
				whole AS week_ago_whole
			FROM
			(
				SELECT
					toFloat64(sumIf(totals_net_sales, business_day = today)) AS so_far,
					toFloat64(sumIf(totals_net_sales, business_day = today - 7 AND by_now)) AS week_ago,
					toFloat64(sumIf(totals_net_sales, business_day < today AND by_now)) AS four_weeks,
					uniqExactIf(business_day, business_day < today) AS days_of_four,
					sumIf(totals_net_sales, business_day = today - 7) AS whole
				FROM
				(
					SELECT
						business_day, totals_net_sales,
						ifNull(paid_at, created_at) <= addDays({clock}, dateDiff('day', today, business_day)) AS by_now
					FROM sales_orders
					WHERE {mine} AND {here} AND business_day IN (today, today - 7, today - 14, today - 21, today - 28)
				)
			)`,
			columns: []column{{name: "against_week", signed: true}, {name: "against_four", signed: true}, {name: "week_ago_whole", unit: ron}}},
		{id: 3, key: "month", kind: figures, w: 8, h: 6, sql: `
			WITH
				{today} AS today, addMonths(today, -1) AS same_day,
				if(last_month = 0, NULL, 100 * (toFloat64(this_month) / toFloat64(last_month) - 1)) AS month_ratio
			SELECT
				this_month AS month_net_sales,
				` + signed("month_ratio") + ` AS against_month,
				if(orders = 0, NULL, toFloat64(this_month) / orders) AS month_average
			FROM
			(
				SELECT
					sumIf(totals_net_sales, business_day >= toStartOfMonth(today)) AS this_month,
					countIf(business_day >= toStartOfMonth(today)) AS orders,
					sumIf(totals_net_sales, business_day < same_day OR (business_day = same_day AND ifNull(paid_at, created_at) <= addMonths({clock}, -1))) AS last_month
				FROM sales_orders
				WHERE {mine} AND {here} AND business_day >= toStartOfMonth(same_day) AND business_day <= today
			)`,
			columns: []column{{name: "month_net_sales", unit: ron}, {name: "against_month", signed: true}, {name: "month_average", unit: bani}}},
		{id: 4, key: "daily", kind: columns, w: 16, h: 9, sql: `
			SELECT
				toDateTime(day, 'Europe/Bucharest') AS time,
				sumIf(day_net_sales, later = 0) AS net_sales,
				sumIf(day_net_sales, later = 7) AS week_before
			FROM
			(
				SELECT business_day + later AS day, later, day_net_sales
				FROM
				(
					SELECT business_day, sum(totals_net_sales) AS day_net_sales
					FROM sales_orders
					WHERE {mine} AND {here} AND business_day BETWEEN {first} - 7 AND {last}
					GROUP BY business_day
				)
				ARRAY JOIN [0, 7] AS later
			)
			WHERE day BETWEEN {first} AND {last}
			GROUP BY day
			ORDER BY time`,
			columns: []column{{name: "week_before", unit: ron, drawn: "dashed"}, {name: "net_sales", unit: ron}}},
		{id: 5, key: "period", kind: figures, w: 8, h: 9, sql: `
			SELECT
				net_sales, orders,
				if(orders = 0, NULL, toFloat64(net_sales) / orders) AS average_order,
				discounts, tips,
				(SELECT sum(amount) FROM sales_refunds WHERE {mine} AND {here} AND refund_day BETWEEN {first} AND {last}) AS refunds
			FROM
			(
				SELECT sum(totals_net_sales) AS net_sales, count() AS orders, sum(totals_discount) AS discounts, sum(totals_tip) AS tips
				FROM sales_orders
				WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			)`,
			columns: []column{{name: "net_sales", unit: ron}, {name: "orders", unit: count}, {name: "average_order", unit: bani},
				{name: "discounts", unit: ron}, {name: "tips", unit: ron}, {name: "refunds", unit: ron}}},
		{id: 6, key: "hours", kind: heat, w: 12, h: 19, sql: `
			SELECT
				leftPad(toString(hour), 2, '0') AS at_hour,
				sumIf(toNullable(average), weekday = 1) AS monday, sumIf(toNullable(average), weekday = 2) AS tuesday,
				sumIf(toNullable(average), weekday = 3) AS wednesday, sumIf(toNullable(average), weekday = 4) AS thursday,
				sumIf(toNullable(average), weekday = 5) AS friday, sumIf(toNullable(average), weekday = 6) AS saturday,
				sumIf(toNullable(average), weekday = 7) AS sunday
			FROM
			(
				SELECT weekday, hour, toFloat64(hour_net_sales) / length(arrayDistinct(groupArrayArray(sold_on) OVER (PARTITION BY weekday))) AS average
				FROM
				(
					SELECT
						toDayOfWeek(business_day) AS weekday, toHour(created_at) AS hour,
						sum(totals_net_sales) AS hour_net_sales, groupUniqArray(business_day) AS sold_on
					FROM sales_orders
					WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last} AND (business_day < {today} OR {first} = {today})
					GROUP BY weekday, hour
				)
			)
			GROUP BY hour
			QUALIFY 100 * sum(average) >= sum(sum(average)) OVER ()
			ORDER BY hour`,
			columns: []column{{name: "at_hour", width: 40}, {name: "monday", unit: digits}, {name: "tuesday", unit: digits}, {name: "wednesday", unit: digits},
				{name: "thursday", unit: digits}, {name: "friday", unit: digits}, {name: "saturday", unit: digits}, {name: "sunday", unit: digits}}},
		{id: 7, key: "locations", kind: table, w: 12, h: 6, sql: `
			SELECT
				any({place}) AS location, sum(totals_net_sales) AS net_sales, count() AS orders,
				toFloat64(net_sales) / orders AS average_order
			FROM sales_orders
			WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY location_id
			ORDER BY net_sales DESC`,
			columns: []column{{name: "location"}, {name: "net_sales", unit: ron}, {name: "orders", unit: count}, {name: "average_order", unit: bani}}},
		{id: 8, key: "channels", kind: bars, w: 6, h: 7, sql: byWord("channel"),
			columns: []column{{name: "channel", words: []string{"channel"}}, {name: "net_sales", unit: ron}}},
		{id: 9, key: "types", kind: bars, w: 6, h: 7, sql: byWord("type"),
			columns: []column{{name: "type", words: []string{"type"}}, {name: "net_sales", unit: ron}}},
		{id: 10, key: "removed", kind: table, w: 12, h: 6, sql: `
			SELECT reason, count() AS removed_orders, sum(totals_net_sales) AS lost, countIf(NOT value_known) AS unknown_value
			FROM sales_orders_removed
			WHERE {mine} AND reason != 'no_access' AND $__conditionalAll(ifNull(location_id IN (${location:singlequote}), false), $location)
				AND ifNull(business_day, toDate32(ifNull(removed_at, noticed_at))) BETWEEN {first} AND {last}
			GROUP BY reason
			ORDER BY lost DESC, removed_orders DESC`,
			columns: []column{{name: "reason", words: []string{"reason"}}, {name: "removed_orders", unit: count}, {name: "lost", unit: ron}, {name: "unknown_value", unit: count}}},
		{id: 11, key: "payments", kind: bars, w: 12, h: 10, sql: paymentsSQL,
			columns: []column{{name: "method", words: []string{"method"}}, {name: "paid", unit: ron}}},
		{id: 12, key: "ticket", kind: lines, w: 12, h: 10, sql: `
			SELECT toDateTime(business_day, 'Europe/Bucharest') AS time, toFloat64(sum(totals_net_sales)) / count() AS average_order
			FROM sales_orders
			WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY business_day
			ORDER BY time`,
			columns: []column{{name: "average_order", unit: bani}}},
	},
	texts: texts{
		"title": {"Vânzări", "Sales"},
		"about": {"Cum merge ziua, luna și perioada aleasă, pe ore, locații, canale și metode de plată.", "How the day, the month and the chosen period go: by hour, location, channel and payment method."},

		"today":       {"Azi, până acum", "Today so far"},
		"today.about": {"Ce s-a vândut azi: bonurile achitate și neanulate, fără bacșiș și fără garanția SGR. Rambursările nu se scad.", "What was sold today: paid orders that are not cancelled, without tips and SGR deposits. Refunds are not subtracted."},
		"today.empty": {"Încă nicio vânzare azi", "Nothing sold yet today"},

		"against":        {"Azi față de aceeași zi a săptămânii", "Today against the same weekday"},
		"against.about":  {"Vânzările de azi față de cele făcute până la aceeași oră acum o săptămână, și față de media ultimelor patru săptămâni în aceeași zi. Verde: cel puțin la fel; portocaliu: sub; roșu: cu peste 10 % mai puțin.", "Today's sales against those made up to the same hour a week ago, and against the average of this weekday in the last four weeks. Green: at least as much; orange: less; red: over 10 % less."},
		"against_week":   {"față de săptămâna trecută", "against last week"},
		"against_four":   {"față de ultimele 4 săptămâni", "against the last 4 weeks"},
		"week_ago_whole": {"toată ziua, acum o săptămână", "that whole day last week"},

		"month":           {"Luna aceasta", "This month"},
		"month.about":     {"Vânzările de la întâi ale lunii până acum, față de aceleași zile ale lunii trecute, până la aceeași oră.", "Sales from the first of the month until now, against the same days of last month, up to the same hour."},
		"month_net_sales": {"vânzări de la 1 ale lunii", "sales since the 1st"},
		"against_month":   {"față de luna trecută", "against last month"},
		"month_average":   {"bon mediu", "average ticket"},

		"daily":       {"Vânzări pe zile", "Sales by day"},
		"daily.about": {"Vânzările nete ale fiecărei zile din perioada aleasă; linia portocalie arată aceeași zi cu o săptămână înainte.", "Net sales of each day of the chosen period; the orange line is the same weekday a week before."},
		"week_before": {"cu o săptămână înainte", "a week before"},

		"period":       {"În perioada aleasă", "In the chosen period"},
		"period.about": {"Totalurile perioadei. Reducerile sunt cele date pe tot bonul; rambursările se numără în ziua în care s-au făcut și nu sunt scăzute din vânzări.", "Totals of the period. Discounts are those on whole orders; refunds count on the day they were made and are not subtracted from sales."},
		"discounts":    {"Reduceri pe bon", "Order discounts"},

		"hours":       {"Orele bune ale săptămânii", "Hours of the week"},
		"hours.about": {"Cât se vinde în medie în fiecare oră a fiecărei zile, în RON, după ora deschiderii bonului. Orele care aduc sub 1 % lipsesc, și ziua în curs, dacă perioada nu începe cu ea. Cu cât culoarea e mai tare, cu atât ora e mai bună.", "What is sold on average in each hour of each weekday, RON, by the hour the order was opened. Hours that bring less than 1 % are left out, and so is today, unless the period begins with it. The stronger the colour, the better the hour."},
		"at_hour":     {"Ora", "h"}, "monday": {"Lu", "Mo"}, "tuesday": {"Ma", "Tu"}, "wednesday": {"Mi", "We"}, "thursday": {"Jo", "Th"},
		"friday": {"Vi", "Fr"}, "saturday": {"Sâ", "Sa"}, "sunday": {"Du", "Su"},

		"locations":       {"Pe locații", "By location"},
		"locations.about": {"Vânzările nete, bonurile și bonul mediu ale fiecărei locații în perioada aleasă.", "Net sales, orders and average ticket of each location in the chosen period."},

		"channels":       {"Pe canale", "By channel"},
		"channels.about": {"De unde au venit comenzile din perioada aleasă: de la casă, de pe platforme sau din comenzile online proprii. Vânzări nete.", "Where the orders of the chosen period came from: the till, the platforms, own online orders. Net sales."},

		"types":       {"Pe tipuri de comandă", "By order type"},
		"types.about": {"Cât s-a mâncat în local, cât s-a luat la pachet și cât s-a livrat în perioada aleasă. Vânzări nete.", "What was eaten in, taken away and delivered in the chosen period. Net sales."},

		"payments":       {"Cum s-a plătit", "How it was paid"},
		"payments.about": {"Plățile perioadei pe metode, cu bacșiș și garanții SGR; protocolul este din partea casei și nu se încasează.", "Payments of the period by method, tips and SGR deposits included; what is on the house is shown too, and is not taken."},

		"ticket":       {"Bonul mediu pe zile", "Average ticket by day"},
		"ticket.about": {"Vânzările nete ale zilei împărțite la numărul de bonuri.", "Net sales of the day divided by the number of orders."},

		"removed":        {"Anulări și ștergeri", "Cancelled and removed orders"},
		"removed.about":  {"Bonurile din perioada aleasă care nu mai sunt vânzări, cu motivul și valoarea pierdută. Valoarea celor anulate înainte ca Larder să le vadă plătite nu se știe; ele se numără separat („Necunoscut”), în ziua anulării. Bonurile locațiilor la care cheia nu mai are acces nu sunt pierdute și nu se numără.", "Orders of the chosen period that are no sales any more, with the reason and the value lost. What those were worth that were removed before Larder saw them paid is not known; they are counted apart (Unknown), on the day of the removal. Orders of locations that the key no longer has are not lost, and are left out."},
		"removed.empty":  {"Nicio anulare în perioada aleasă", "Nothing was cancelled in the chosen period"},
		"reason":         {"Motiv", "Reason"},
		"removed_orders": {"Bonuri", "Orders"},
		"lost":           {"Pierdut", "Lost"},
		"unknown_value":  {"Necunoscut", "Unknown"},
	},
}

// byWord are net sales by a word of the order.
func byWord(column string) string {
	return `
			SELECT ` + column + `, sum(totals_net_sales) AS net_sales
			FROM sales_orders
			WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY ` + column + `
			ORDER BY net_sales DESC`
}

const paymentsSQL = `
			SELECT method, sum(amount) AS paid
			FROM sales_payments
			WHERE {mine} AND {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY method
			ORDER BY paid DESC`
