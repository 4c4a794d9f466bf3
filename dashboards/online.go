package dashboards

import "strings"

const (
	// kept are online orders that a restaurant has taken and nobody has cancelled.
	kept = "status IN ('accepted', 'ready', 'completed')"
	// genuine leaves out what a test key has placed: it never reached a kitchen.
	genuine = "NOT test"
)

// online answers what becomes of the orders that guests place online, and what they can
// order.
var online = dashboard{
	name: "online-orders", variables: ofOwner, from: "now-27d/d", to: "now/d", refresh: "1m",
	ranges: []string{"today", "yesterday", "week", "days28", "month", "last_month", "days92"},
	links:  []string{"sales", "products", "stock", "cash-up"},
	panels: []panel{
		{id: 1, key: "today", kind: figures, w: 8, h: 9, sql: `
			SELECT
				countIf(business_day = {today}) AS placed_today,
				sumIf(totals_items, business_day = {today} AND ` + kept + `) AS sales_today,
				countIf(status = 'received') AS waiting,
				countIf(status = 'accepted') AS cooking,
				countIf(status = 'accepted' AND ifNull(estimated_ready_at < {clock}, false)) AS overdue
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day >= {today} - 1`,
			columns: []column{{name: "placed_today", unit: count}, {name: "sales_today", unit: ron}, {name: "waiting", unit: count, steps: wanted0},
				{name: "cooking", unit: count}, {name: "overdue", unit: count, steps: never}}},
		{id: 2, key: "period", kind: figures, w: 8, h: 9, sql: `
			SELECT
				count() AS placed,
				100 * countIf(isNotNull(accepted_at)) / nullIf(countIf(isNotNull(accepted_at) OR status = 'rejected'), 0) AS accepted_share,
				sumIf(totals_items, ` + kept + `) AS net_sales,
				toFloat64(net_sales) / nullIf(countIf(` + kept + `), 0) AS average_order,
				100 * countIf(type = 'delivery') / nullIf(placed, 0) AS delivery_share
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}`,
			columns: []column{{name: "placed", unit: count}, {name: "accepted_share", unit: number, steps: acceptedShare}, {name: "net_sales", unit: ron},
				{name: "average_order", unit: bani}, {name: "delivery_share", unit: number}}},
		{id: 3, key: "waits", kind: figures, w: 8, h: 9, sql: `
			SELECT
				` + halfOf("minutes_to_accept") + ` AS accept_half, ` + ninetyOf("minutes_to_accept") + ` AS accept_ninety,
				` + halfOf(cookedIn) + ` AS ready_half, ` + ninetyOf(cookedIn) + ` AS ready_ninety,
				100 * countIf(minutes_late <= 5) / nullIf(countIf(isNotNull(minutes_late)), 0) AS on_time_share
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}`,
			columns: []column{{name: "accept_half", unit: number, steps: answered}, {name: "accept_ninety", unit: number, steps: answered},
				{name: "ready_half", unit: number}, {name: "ready_ninety", unit: number}, {name: "on_time_share", unit: number, steps: onTime}}},
		{id: 4, key: "funnel", kind: stages, w: 12, h: 10, sql: `
			SELECT
				count() AS ordered, countIf(isNotNull(accepted_at)) AS accepted, countIf(isNotNull(ready_at)) AS ready, countIf(status = 'completed') AS completed,
				countIf(status = 'rejected' AND NOT unanswered) AS rejected, countIf(status = 'rejected' AND unanswered) AS no_answer, countIf(status = 'cancelled') AS cancelled
			FROM
			(
				SELECT status, accepted_at, ready_at, ifNull(rejection_code = 'no_response', false) AS unanswered
				FROM online_orders
				WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}
			)`,
			columns: []column{{name: "ordered", unit: count, steps: as("blue")}, {name: "accepted", unit: count, steps: as("green")}, {name: "ready", unit: count, steps: as("green")},
				{name: "completed", unit: count, steps: as("green")}, {name: "rejected", unit: count, steps: as("orange")}, {name: "no_answer", unit: count, steps: as("red")},
				{name: "cancelled", unit: count, steps: as("orange")}}},
		{id: 5, key: "lost", kind: table, w: 12, h: 10, sql: `
			SELECT
				if(status = 'cancelled', concat('by_', ifNull(toString(cancellation_by), 'nobody')), ifNull(toString(rejection_code), 'other')) AS lost_reason,
				count() AS orders, 100 * orders / any(placed) AS share, sum(totals_items) AS lost
			FROM
			(
				SELECT status, cancellation_by, rejection_code, totals_items, count() OVER () AS placed
				FROM online_orders
				WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}
			)
			WHERE status IN ('rejected', 'cancelled')
			GROUP BY lost_reason
			ORDER BY orders DESC, lost_reason`,
			columns: []column{{name: "lost_reason", words: []string{"lost"}}, {name: "orders", unit: count}, {name: "share", unit: number}, {name: "lost", unit: ron}}},
		{id: 6, key: "answers", kind: lines, w: 12, h: 8, sql: byDay("minutes_to_accept", "accept_half", "accept_ninety"),
			columns: []column{{name: "accept_half", unit: number}, {name: "accept_ninety", unit: number}}},
		{id: 7, key: "kitchen", kind: lines, w: 12, h: 8, sql: byDay(cookedIn, "ready_half", "ready_ninety"),
			columns: []column{{name: "ready_half", unit: number}, {name: "ready_ninety", unit: number}}},
		{id: 8, key: "promised", kind: stages, w: 12, h: 8, sql: `
			SELECT
				countIf(minutes_late < -5) AS early, countIf(minutes_late BETWEEN -5 AND 5) AS in_time,
				countIf(minutes_late > 5 AND minutes_late <= 15) AS late_some, countIf(minutes_late > 15) AS late_much
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}`,
			columns: []column{{name: "early", unit: count, steps: as("blue")}, {name: "in_time", unit: count, steps: as("green")},
				{name: "late_some", unit: count, steps: as("orange")}, {name: "late_much", unit: count, steps: as("red")}}},
		{id: 9, key: "locations", kind: table, w: 12, h: 8, sql: `
			SELECT
				any({place}) AS location, count() AS orders,
				100 * countIf(isNotNull(accepted_at)) / nullIf(countIf(isNotNull(accepted_at) OR status = 'rejected'), 0) AS accepted_share,
				` + ninetyOf("minutes_to_accept") + ` AS accept_ninety,
				100 * countIf(minutes_late <= 5) / nullIf(countIf(isNotNull(minutes_late)), 0) AS on_time_share
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last}
			GROUP BY location_id
			ORDER BY orders DESC, location`,
			columns: []column{{name: "location"}, {name: "orders", unit: count}, {name: "accepted_share", unit: number, steps: acceptedShare},
				{name: "accept_ninety", unit: number, steps: answered}, {name: "on_time_share", unit: number, steps: onTime}}},
		{id: 10, key: "menu", kind: table, w: 12, h: 18, sql: menuChangesSQL,
			columns: []column{{name: "at", unit: day}, {name: "product", least: 92}, {name: "change", words: []string{"menu_change"}, width: 78},
				{name: "old_price", unit: bani, width: 58}, {name: "new_price", unit: bani, width: 58}, {name: "location"}}},
		{id: 11, key: "scheduled", kind: table, w: 12, h: 9, sql: `
			SELECT
				scheduled_for, ifNull(number, external_id) AS order_no, status,
				round(dateDiff('second', scheduled_for, ready_at) / 60) AS after_wanted
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND isNotNull(scheduled_for) AND toDate32(scheduled_for) BETWEEN {first} AND {last}
			ORDER BY scheduled_for DESC, order_no
			LIMIT 50`,
			columns: []column{{name: "scheduled_for", unit: instant}, {name: "order_no"}, {name: "status", words: []string{"order_status"}},
				{name: "after_wanted", unit: count, steps: afterWanted}}},
		{id: 12, key: "returning", kind: columns, w: 12, h: 9, sql: `
			SELECT toDateTime(business_day, 'Europe/Bucharest') AS time, countIf(nth > 1) AS returned, countIf(nth = 1) AS first_time
			FROM
			(
				SELECT business_day, location_id, row_number() OVER (PARTITION BY customer_key ORDER BY created_at, id) AS nth
				FROM online_orders
				WHERE {mine} AND ` + genuine + ` AND isNotNull(customer_key) AND ` + kept + `
			)
			WHERE {here} AND business_day BETWEEN {first} AND {last}
			GROUP BY business_day
			ORDER BY time`,
			columns: []column{{name: "returned", unit: count}, {name: "first_time", unit: count}}},
	},
	texts: texts{
		"title":  {"Comenzi online", "Online orders"},
		"about":  {"Ce se întâmplă cu comenzile online proprii: câte vin, cât de repede li se răspunde și sunt gata, câte se pierd și de ce, și ce s-a schimbat în meniul online. Comenzile de probă nu se numără.", "What becomes of your own online orders: how many come, how fast they are answered and ready, how many are lost and why, and what changed on the online menu. Test orders are left out."},
		"orders": {"Comenzi", "Orders"}, "column.orders": {"Nr.", "No."},
		"placed": {"Comenzi primite", "Orders placed"}, "location": {"Locația", "Location"},

		"today":        {"Acum", "Now"},
		"today.about":  {"Comenzile online de azi, câte așteaptă un răspuns, câte se pregătesc, și câte dintre ele au depășit ora promisă. Vânzările sunt cele acceptate, fără bacșiș și garanții SGR. Portocaliu: cineva așteaptă un răspuns; roșu: o comandă este în întârziere.", "Today's online orders, how many wait for an answer, how many are being prepared, and how many of these are past the promised time. Sales are those accepted, without tips and SGR deposits. Orange: someone waits for an answer; red: an order is late."},
		"today.empty":  {"Nicio comandă online azi", "No online order today"},
		"placed_today": {"Comenzi azi", "Orders today"}, "sales_today": {"Vânzări nete azi", "Net sales today"},
		"waiting": {"Așteaptă răspuns", "Waiting for an answer"},
		"cooking": {"În pregătire", "Being prepared"},
		"overdue": {"Peste ora promisă", "Past the promised time"},

		"period":         {"În perioada aleasă", "In the chosen period"},
		"period.about":   {"Comenzile plasate în perioada aleasă. „Acceptate” este partea celor acceptate din cele la care s-a răspuns sau a expirat timpul: verde de la 95 %, roșu sub 85 %. Vânzările și comanda medie sunt ale comenzilor acceptate și neanulate, fără bacșiș și garanții SGR.", "Orders placed in the chosen period. Accepted is their part of those that were answered or ran out of time: green from 95 %, red below 85 %. Sales and the average order are of orders accepted and not cancelled, without tips and SGR deposits."},
		"accepted_share": {"Acceptate, %", "Accepted, %"}, "column.accepted_share": {"Acc. %", "Acc. %"},
		"average_order":  {"Comanda medie", "Average order"},
		"delivery_share": {"Cu livrare, %", "For delivery, %"},

		"waits":       {"Cât se așteaptă (minute)", "How long guests wait (minutes)"},
		"waits.about": {"Din comenzile perioadei: în câte minute au fost acceptate jumătate din ele, și nouă din zece; apoi câte minute de la acceptare până când au fost gata (fără cele programate). La răspuns, portocaliu: de la 3 minute; roșu: de la 5. La timp: partea celor gata cel mult 5 minute după ora promisă, verde de la 85 %, roșu sub 70 %.", "Of the orders of the period: within how many minutes half of them were accepted, and nine of ten; then the minutes from acceptance to ready (scheduled ones left out). For answers, orange: from 3 minutes; red: from 5. On time: the part that was ready at most 5 minutes after the promised time, green from 85 %, red below 70 %."},
		"accept_half": {"Răspuns: jumătate în", "Answer: half within"}, "accept_ninety": {"Răspuns: 9 din 10 în", "Answer: 9 of 10 within"}, "column.accept_ninety": {"Răsp.", "Answer"},
		"ready_half": {"Gata: jumătate în", "Ready: half within"}, "ready_ninety": {"Gata: 9 din 10 în", "Ready: 9 of 10 within"},
		"on_time_share": {"Gata la timp, %", "Ready on time, %"}, "column.on_time_share": {"Timp %", "Time %"},

		"funnel":       {"Drumul comenzilor", "From order to meal"},
		"funnel.about": {"Câte comenzi din perioada aleasă au fost plasate, acceptate, gata și finalizate, și câte s-au oprit pe drum: respinse de restaurant, expirate fără răspuns, anulate de oricine. Diferența sunt comenzi încă în lucru.", "How many orders of the chosen period were placed, accepted, ready and completed, and how many ended on the way: rejected by the restaurant, timed out without an answer, cancelled by anyone. The rest are still under way."},
		"ordered":      {"Plasate", "Placed"}, "accepted": {"Acceptate", "Accepted"}, "ready": {"Gata", "Ready"}, "completed": {"Finalizate", "Completed"},
		"rejected": {"Respinse", "Rejected"}, "no_answer": {"Expirate", "Timed out"}, "cancelled": {"Anulate", "Cancelled"},

		"lost":       {"Ce s-a pierdut, și de ce", "What was lost, and why"},
		"lost.about": {"Comenzile respinse și anulate din perioada aleasă, după motiv, cu partea lor din toate comenzile și valoarea pierdută, fără bacșiș și garanții SGR. Roșu: nu s-a răspuns la timp, ceea ce se poate evita.", "Rejected and cancelled orders of the chosen period by reason, with their part of all orders and the value lost, without tips and SGR deposits. Red: nobody answered in time, which can be avoided."},
		"lost.empty": {"Nicio comandă pierdută în perioada aleasă", "No order was lost in the chosen period"}, "column.lost": {"Pierdut", "Lost"},
		"lost_reason": {"Motiv", "Reason"},

		"answers":       {"Minute până la răspuns, pe zile", "Minutes to the answer, by day"},
		"answers.about": {"Pentru fiecare zi: în câte minute de la plasare au fost acceptate jumătate din comenzi, și nouă din zece. Clientul află abia atunci că va mânca.", "For each day: within how many minutes of being placed half of the orders were accepted, and nine of ten. Only then do guests know that they will eat."},

		"kitchen":       {"Minute până la gata, pe zile", "Minutes to ready, by day"},
		"kitchen.about": {"Pentru fiecare zi: în câte minute de la acceptare au fost gata jumătate din comenzi, și nouă din zece. Comenzile programate lipsesc: ele așteaptă ora dorită.", "For each day: within how many minutes of acceptance half of the orders were ready, and nine of ten. Scheduled orders are left out: they wait for the time that is wanted."},

		"promised":       {"Promis și real", "Promised and real"},
		"promised.about": {"Comenzile gata din perioada aleasă, după cât de devreme sau târziu au fost față de ora promisă; cinci minute în plus sau în minus înseamnă la timp. Ora promisă este ultima spusă clientului: restaurantul o poate muta.", "Ready orders of the chosen period, by how early or late they were against the promised time; within five minutes of it is on time. The promised time is the last one that the guest was told: the restaurant may move it."},
		"early":          {"Devreme: 5+ min", "Early: 5+ min"}, "in_time": {"La timp: ±5 min", "On time: ±5 min"},
		"late_some": {"Târziu: 5–15 min", "Late: 5–15 min"}, "late_much": {"Târziu: 15+ min", "Late: 15+ min"},

		"locations":       {"Pe locații", "By location"},
		"locations.about": {"Comenzile fiecărei locații în perioada aleasă: câte la sută au fost acceptate, în câte minute li s-a răspuns la nouă din zece, și câte la sută au fost gata la timp: cel mult 5 minute după ora promisă. Culorile sunt cele de mai sus.", "The orders of each location in the chosen period: what percentage was accepted, within how many minutes nine of ten were answered, and what percentage was ready on time: at most 5 minutes after the promised time. The colours are those above."},

		"scheduled":       {"Comenzi programate", "Scheduled orders"},
		"scheduled.about": {"Comenzile cerute pentru o anumită oră din perioada aleasă, cele mai noi întâi, și cu câte minute după ora dorită au fost gata (cu minus: înainte). Portocaliu: peste 5 minute; roșu: peste 15.", "Orders that are wanted at a certain time of the chosen period, the latest first, and how many minutes after it they were ready (with a minus: before it). Orange: over 5 minutes; red: over 15."},
		"scheduled.empty": {"Nicio comandă programată în perioada aleasă", "No scheduled order in the chosen period"},
		"scheduled_for":   {"Pentru", "For"}, "order_no": {"Nr.", "No."}, "status": {"Stare", "Status"}, "after_wanted": {"± min", "± min"},

		"returning":       {"Clienți noi și clienți care revin", "New and returning guests"},
		"returning.about": {"Comenzile acceptate ale fiecărei zile: prima comandă a unui client, sau una de la un client care a mai comandat vreodată, la orice locație. Clienții se deosebesc numai unde Larder păstrează pseudonime ale numerelor de telefon (personal_data: pseudonymise); altfel panoul rămâne gol.", "Accepted orders of each day: the first of a guest, or one of a guest who has ordered before, at any location. Guests are told apart only where Larder keeps pseudonyms of phone numbers (personal_data: pseudonymise); otherwise the panel stays empty."},
		"returning.empty": {"Nicio comandă acceptată, sau nu se păstrează pseudonime după care se deosebesc clienții (personal_data: pseudonymise)", "No accepted orders, or no pseudonyms are kept by which guests can be told apart (personal_data: pseudonymise)"},
		"returned":        {"Au revenit", "Returned"}, "first_time": {"Prima comandă", "First order"},

		"menu":       {"Schimbări în meniul online", "What changed on the online menu"},
		"menu.about": {"Schimbările meniului online din perioada aleasă, cele mai noi întâi: produse adăugate și scoase, prețuri, epuizări, alte schimbări (nume, categorie, variante, extra-opțiuni). Larder le vede de la prima sincronizare.", "Changes of the online menu in the chosen period, the newest first: products added and taken off, prices, sold-out products, other changes (name, category, variants, extras). Larder sees them from the first sync on."},
		"menu.empty": {"Meniul online nu s-a schimbat în perioada aleasă", "The online menu did not change in the chosen period"},
		"at":         {"Când", "When"}, "change": {"Ce", "What"}, "old_price": {"Era", "Was"}, "new_price": {"Este", "Is"},
	},
}

// cookedIn are the minutes from acceptance to ready; what is wanted later is not cooked at once.
const cookedIn = "if(isNull(scheduled_for), minutes_to_ready, NULL)"

// halfOf and ninetyOf are what half and nine of ten do not exceed.
func halfOf(column string) string   { return "quantileExactInclusive(0.5)(" + column + ")" }
func ninetyOf(column string) string { return "quantileExactInclusive(0.9)(" + column + ")" }

// byDay are the two of each day that has any.
func byDay(column, half, ninety string) string {
	return strings.NewReplacer("{column}", column, "{half}", half, "{ninety}", ninety, "{half of}", halfOf(column), "{ninety of}", ninetyOf(column)).Replace(`
			SELECT toDateTime(business_day, 'Europe/Bucharest') AS time, {half of} AS {half}, {ninety of} AS {ninety}
			FROM online_orders
			WHERE {mine} AND {here} AND ` + genuine + ` AND business_day BETWEEN {first} AND {last} AND isNotNull({column})
			GROUP BY business_day
			ORDER BY time`)
}

// menuChangesSQL compares what was offered with what was before and after it. What a
// location offered when Larder first saw its menu is no change.
const menuChangesSQL = `
			SELECT happened.1 AS at, name AS product, happened.2 AS change, happened.3 AS old_price, happened.4 AS new_price, {place} AS location
			FROM
			(
				SELECT
					(SELECT any(business_name) FROM api_keys WHERE {mine}) AS business_name, location_id, location_name, name, price, available, valid_from, valid_to,
					min(valid_from) OVER (PARTITION BY location_id) AS watched_from,
					lagInFrame(valid_to) OVER states AS ended, lagInFrame(toNullable(price)) OVER states AS price_before,
					lagInFrame(available) OVER states AS available_before, leadInFrame(toNullable(valid_from)) OVER states AS begins
				FROM menu_history
				WHERE {mine} AND {here}
				WINDOW states AS (PARTITION BY location_id, product_id ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
			)
			ARRAY JOIN arrayFilter(c -> c.2 != '', [
				(valid_from, if(ifNull(ended = valid_from, false) OR valid_from = watched_from, '', 'added'), NULL, toNullable(price)),
				(valid_from, if(ifNull(ended = valid_from AND price_before != price, false), 'price', ''), price_before, toNullable(price)),
				(valid_from, multiIf(ifNull(ended != valid_from, true) OR available = available_before, '', available, 'back', 'sold_out'), NULL, NULL),
				(valid_from, if(ifNull(ended = valid_from AND price_before = price AND available = available_before, false), 'other', ''), NULL, NULL),
				(ifNull(valid_to, valid_from), if(isNull(valid_to) OR ifNull(begins = valid_to, false), '', 'removed'), toNullable(price), NULL)
			]) AS happened
			WHERE toDate32(at) BETWEEN {first} AND {last}
			ORDER BY at DESC, product, change
			LIMIT 100`
