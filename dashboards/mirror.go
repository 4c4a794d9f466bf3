package dashboards

const (
	chosen = "$__conditionalAll(business_id IN (${restaurant:singlequote}), $restaurant)"
	// troubled are the states of a stream that need a person.
	troubled = "state IN ('failing', 'unreachable', 'unauthorized', 'key_disabled')"
)

// mirror answers, from the warehouse alone, whether the mirror is fresh and proven.
var mirror = dashboard{
	name: "mirror", variables: ofMirror, from: "now-91d/d", to: "now/d", refresh: "1m",
	ranges: []string{"today", "yesterday", "week", "days28", "days92"},
	links:  []string{"larder", "sales", "cash-up"},
	panels: []panel{
		{id: 1, key: "summary", kind: figures, w: 8, h: 9, sql: `
			SELECT
				(SELECT uniqExact(business_id) FROM sync_streams WHERE ` + chosen + `) AS restaurants,
				(SELECT countIf(` + troubled + `) FROM sync_streams WHERE ` + chosen + `) AS in_trouble,
				(SELECT countIf(ifNull(backfill_done, true) = false) FROM sync_streams WHERE ` + chosen + `) AS filling,
				(SELECT count() FROM quarantine WHERE ` + chosen + `) AS in_quarantine,
				(SELECT sum(days_differing) FROM proof WHERE isNull(location_id) AND ` + chosen + `) AS differing_days,
				(SELECT max(dateDiff('day', ifNull(proven_until, first_day), {today})) FROM proof WHERE isNull(location_id) AND ` + chosen + `) AS proof_age`,
			columns: []column{{name: "restaurants", unit: count}, {name: "in_trouble", unit: count, steps: never}, {name: "filling", unit: count},
				{name: "in_quarantine", unit: count, steps: wanted0}, {name: "differing_days", unit: count, steps: never}, {name: "proof_age", unit: count, steps: proofAge}}},
		{id: 2, key: "freshness", kind: table, w: 16, h: 9, sql: `
			SELECT
				source, if(max(rank) = 0, '–', argMax(stream_name, rank)) AS worst_stream, argMax(stream_state, rank) AS state,
				dateDiff('minute', max(sign), now()) / 60 AS sign_hours, dateDiff('minute', max(changed), now()) / 60 AS change_hours
			FROM
			(
				SELECT
					toString(source) AS source, toString(stream) AS stream_name, toString(state) AS stream_state,
					if(` + troubled + `, 2, if(ifNull(backfill_done, true), 0, 1)) AS rank, updated_at AS sign, if(stream = 'sales_orders', watermark, NULL) AS changed
				FROM sync_streams
				WHERE ` + chosen + ` AND state NOT IN ('off', 'api_disabled')
				UNION ALL
				SELECT toString(source), '', 'running', -1, toNullable(asked_at), NULL
				FROM proof
				WHERE ` + chosen + `
			)
			GROUP BY source
			ORDER BY max(rank) DESC, sign_hours DESC, source
			LIMIT 200`,
			columns: []column{{name: "source"}, {name: "worst_stream"}, {name: "state", words: []string{"state"}}, {name: "sign_hours", unit: number, steps: nightly}, {name: "change_hours", unit: number}}},
		{id: 3, key: "strip", kind: strip, w: 24, h: 8, sql: `
			SELECT toDateTime(date, 'Europe/Bucharest') AS time, label AS restaurant, transform(day_verdict, ['proven', 'equal', 'healed', 'explained', 'open', 'unsettled', 'unproven', 'differs', 'drift'], [0, 0, 0, 0, 1, 2, 2, 3, 3], 2) AS rank
			FROM
			(
				SELECT date, ifNull(business_name, business_id) AS label, toString(verdict) AS day_verdict
				FROM reconciliation
				WHERE ` + chosen + ` AND date BETWEEN greatest({first}, {today} - 91) AND least({last}, {today})
					AND business_id IN
					(
						SELECT business_id
						FROM proof
						WHERE isNull(location_id) AND ` + chosen + `
						GROUP BY business_id
						ORDER BY max(days_differing) DESC, min(proven_until), business_id
						LIMIT 20
					)
			)
			ORDER BY time, restaurant`,
			columns: []column{{name: "rank", unit: count, words: []string{"verdict_rank"}}}},
		{id: 4, key: "drift", kind: table, w: 12, h: 7, sql: `
			SELECT date, ifNull(business_name, business_id) AS restaurant, verdict, arrayStringConcat(arrayDistinct(arrayConcat(differences, ` + "`verdict_differences.figure`" + `)), ', ') AS figures, verdict_reason
			FROM reconciliation
			WHERE ` + chosen + ` AND date BETWEEN {first} AND {last} AND verdict IN ('drift', 'differs', 'unproven', 'unsettled')
			ORDER BY verdict IN ('drift', 'differs') DESC, date DESC, restaurant
			LIMIT 200`,
			columns: []column{{name: "date", unit: day, width: 60}, {name: "restaurant"}, {name: "verdict", words: []string{"verdict"}}, {name: "figures"}, {name: "verdict_reason"}}},
		{id: 5, key: "proven", kind: table, w: 12, h: 7, sql: `
			SELECT source, proven_from, proven_until, days_differing, asked_at
			FROM proof
			WHERE isNull(location_id) AND ` + chosen + `
			ORDER BY days_differing DESC, proven_until, source
			LIMIT 200`,
			columns: []column{{name: "source"}, {name: "proven_from", unit: day}, {name: "proven_until", unit: day}, {name: "days_differing", unit: count, steps: never}, {name: "asked_at", unit: instant}}},
		{id: 6, key: "quarantined", kind: table, w: 12, h: 6, sql: `
			SELECT source, stream, row_id, field, reason, fetched_at
			FROM quarantine
			WHERE ` + chosen + `
			ORDER BY fetched_at DESC, source, row_id
			LIMIT 200`,
			columns: []column{{name: "source"}, {name: "stream"}, {name: "row_id"}, {name: "field"}, {name: "reason"}, {name: "fetched_at", unit: instant}}},
		{id: 7, key: "unknown", kind: table, w: 12, h: 6, sql: `
			SELECT stream, path, any(example) AS example, count() AS sources, min(first_seen_at) AS first_seen
			FROM schema_drift
			WHERE ` + chosen + `
			GROUP BY stream, path
			ORDER BY first_seen DESC, stream, path
			LIMIT 200`,
			columns: []column{{name: "stream"}, {name: "path"}, {name: "example"}, {name: "sources", unit: count}, {name: "first_seen", unit: instant}}},
		{id: 8, key: "rules", kind: table, w: 8, h: 7, sql: `
			SELECT rule, count() AS orders, max(business_day) AS newest
			FROM data_quality
			WHERE ` + chosen + ` AND business_day BETWEEN {first} AND {last}
			GROUP BY rule
			ORDER BY orders DESC, rule`,
			columns: []column{{name: "rule"}, {name: "orders", unit: count}, {name: "newest", unit: day}}},
		{id: 9, key: "budget", kind: table, w: 16, h: 7, sql: `
			SELECT source, most AS most_a_minute, allowed, 100 * most / nullIf(allowed, 0) AS used_share, all_requests
			FROM
			(
				SELECT source, max(requests_a_minute) AS most, sum(run_requests) AS all_requests
				FROM
				(
					SELECT source, requests AS run_requests, requests / greatest(dateDiff('second', started_at, finished_at) / 60, 1) AS requests_a_minute
					FROM sync_runs
					WHERE ` + chosen + ` AND $__timeFilter(started_at)
				)
				GROUP BY source
			) AS runs
			LEFT ANY JOIN (SELECT _source AS source, toNullable(rate_limits_per_minute) AS allowed FROM api_keys) AS limits USING (source)
			ORDER BY used_share DESC, source
			LIMIT 200`,
			columns: []column{{name: "source"}, {name: "most_a_minute", unit: count}, {name: "allowed", unit: count}, {name: "used_share", unit: number}, {name: "all_requests", unit: count}}},
		{id: 10, key: "walks", kind: columns, w: 12, h: 9, sql: `
			SELECT
				$__timeInterval(started_at) AS time,
				sumIf(requests, walk = 'incremental') AS incremental, sumIf(requests, walk = 'backfill') AS backfill, sumIf(requests, walk = 'full') AS full_resync,
				sumIf(requests, walk NOT IN ('incremental', 'backfill', 'full')) AS other_walks
			FROM sync_runs
			WHERE ` + chosen + ` AND $__timeFilter(started_at)
			GROUP BY time
			ORDER BY time`,
			columns: []column{{name: "incremental", unit: count}, {name: "backfill", unit: count}, {name: "full_resync", unit: count}, {name: "other_walks", unit: count}}},
		{id: 11, key: "rows", kind: columns, w: 12, h: 9, sql: `
			SELECT $__timeInterval(finished_at) AS time, sum(rows) AS written, sum(tombstones) AS removals, sum(quarantined) AS to_quarantine
			FROM sync_runs
			WHERE ` + chosen + ` AND $__timeFilter(finished_at)
			GROUP BY time
			ORDER BY time`,
			columns: []column{{name: "written", unit: count}, {name: "removals", unit: count}, {name: "to_quarantine", unit: count}}},
		{id: 12, key: "failed", kind: table, w: 24, h: 6, sql: `
			SELECT finished_at, source, stream, walk, error
			FROM sync_runs
			WHERE ` + chosen + ` AND $__timeFilter(finished_at) AND error != ''
			ORDER BY finished_at DESC, source, stream
			LIMIT 200`,
			columns: []column{{name: "finished_at", unit: instant}, {name: "source"}, {name: "stream"}, {name: "walk"}, {name: "error"}}},
	},
	texts: texts{
		"title": {"Oglinda datelor", "Mirror"},
		"about": {"Este depozitul la zi, dovedit și complet? Totul este citit din depozit, și fără Prometheus.", "Is the warehouse fresh, proven and complete? All of it is read from the warehouse, without Prometheus."},

		"summary":        {"Acum", "Now"},
		"summary.about":  {"Restaurante oglindite, liste cu probleme, prime încărcări în curs, rânduri în carantină, zile care diferă de totalurile serviciului, și câte zile au trecut de la ultima zi dovedită a celui mai rămas în urmă.", "Restaurants mirrored, streams in trouble, backfills under way, rows in quarantine, days that differ from the service's totals, and how many days the restaurant that is furthest behind is proven short of today."},
		"restaurants":    {"Restaurante", "Restaurants"},
		"in_trouble":     {"Liste cu probleme", "Streams in trouble"},
		"filling":        {"Prime încărcări", "Backfills under way"},
		"in_quarantine":  {"În carantină", "In quarantine"},
		"differing_days": {"Zile care diferă", "Days that differ"},
		"proof_age":      {"Vechimea dovezii (zile)", "Age of the proof (days)"},

		"freshness":         {"Prospețime", "Freshness"},
		"freshness.about":   {"Fiecare sursă, cu lista care are probleme sau se încarcă încă, acum câte ore s-a salvat ceva despre ea, și acum câte ore s-a schimbat ultimul bon. O rundă care nu aduce nimic nu se salvează: într-un restaurant liniștit pot trece ore, până la comparația din fiecare noapte. Dacă starea e „Merge”, ultima rundă a reușit; de când anume spun tabloul Larder și „larder status”.", "Each source, with the stream that is in trouble or still filling, the hours since anything of it was stored, and the hours since an order last changed. A turn that brings nothing is not stored: in a quiet restaurant it may be hours, until the comparison of every night. Where the state is Running, the last turn went well; how long ago it was is told by the dashboard Larder and by larder status."},
		"freshness.empty":   {"Nicio sursă încă", "No source yet"},
		"worst_stream":      {"Lista", "Stream"},
		"state":             {"Stare", "State"},
		"column.sign_hours": {"Salvat h", "Stored h"}, "column.change_hours": {"Bon h", "Order h"},
		"sign_hours":   {"Salvat ultima dată acum", "Last stored ago"},
		"change_hours": {"Ultimul bon acum", "Last order ago"},

		"strip":       {"Dovada ultimelor 92 de zile", "Proof of the last 92 days"},
		"strip.about": {"Câte un pătrat pentru fiecare zi și restaurant, cel mult 20 de restaurante, cele cu probleme întâi. Verde: comparată cu totalurile serviciului, și la fel; albastru: zi în curs; portocaliu: nedovedită; roșu: diferă.", "A square for each day and restaurant, at most 20 restaurants, those in trouble first. Green: compared with the service's totals, and the same; blue: still open; orange: not proven; red: it differs."},
		"rank":        {"Stare", "Verdict"},

		"drift":          {"Zile care nu sunt dovedite", "Days that are not proven"},
		"drift.about":    {"Zilele din perioada aleasă care diferă sau nu au putut fi comparate, cu cifrele care diferă și motivul.", "Days of the chosen period that differ or could not be compared, with the figures that differ and the reason."},
		"drift.empty":    {"Toate zilele sunt dovedite", "Every day is proven"},
		"figures":        {"Cifre", "Figures"},
		"verdict_reason": {"Motiv", "Reason"},

		"proven":         {"Până când este dovedit", "Proven until"},
		"proven.about":   {"Pentru fiecare sursă: zilele dovedite fără întrerupere, câte diferă acum, și din ce moment este ultimul rezultat nou: o comparație care spune la fel nu se salvează.", "For each source: the days that are proven without a gap, how many differ now, and of when the last new result is: a comparison that says the same is not stored."},
		"proven.empty":   {"Nimic comparat încă", "Nothing was compared yet"},
		"proven_from":    {"De la", "From"},
		"proven_until":   {"Până la", "Until"},
		"days_differing": {"Diferă", "Differ"},
		"asked_at":       {"Întrebat", "Asked"},

		"quarantined":       {"Carantină", "Quarantine"},
		"quarantined.about": {"Rândurile care nu au putut fi înțelese, cu câmpul și motivul. Ele se păstrează întregi și lipsesc din celelalte vederi până când serviciul le trimite corect.", "Rows that could not be understood, with field and reason. They are kept whole, and are missing from the other views until the service sends them right."},
		"quarantined.empty": {"Carantina este goală", "Quarantine is empty"},
		"row_id":            {"Rând", "Row"}, "field": {"Câmp", "Field"}, "reason": {"Motiv", "Reason"}, "fetched_at": {"Primit", "Fetched"},

		"unknown":       {"Câmpuri noi ale serviciului", "New fields of the service"},
		"unknown.about": {"Câmpuri și valori pe care această versiune Larder nu le cunoaște. Se păstrează în _raw; o versiune nouă le poate avea ca coloane.", "Fields and values that this version of Larder does not know. They are kept in _raw; a newer version may have columns for them."},
		"unknown.empty": {"Nimic necunoscut", "Nothing is unknown"},
		"path":          {"Câmp", "Field"}, "example": {"Exemplu", "Example"}, "sources": {"Surse", "Sources"}, "first_seen": {"Văzut întâi", "First seen"},

		"rules":       {"Bonuri care se contrazic", "Orders that contradict themselves"},
		"rules.about": {"Bonuri ale serviciului ale căror cifre nu se adună după regulile lui, pe reguli; ele se păstrează cum au venit.", "Orders of the service whose figures do not add up by its own rules, by rule; they are kept as they came."},
		"rules.empty": {"Niciun bon nu se contrazice", "No order contradicts itself"},
		"rule":        {"Regula", "Rule"}, "newest": {"Ultima zi", "Newest"},

		"budget":        {"Buget de cereri", "Budget of requests"},
		"budget.about":  {"Cele mai multe cereri pe minut ale unei parcurgeri din perioada aleasă, lângă limita cheii. Parcurgerile care nu au adus nimic nu se înregistrează: bugetul rămas în acest moment este pe tabloul Larder.", "The most requests a minute of one walk in the chosen period, beside the key's limit. Walks that brought nothing are not recorded: what is left at this moment is on the dashboard Larder."},
		"most_a_minute": {"Vârf", "Peak"}, "allowed": {"Limita", "Limit"}, "used_share": {"Folosit %", "Used %"}, "all_requests": {"Cereri", "Requests"},

		"walks":       {"Cereri pe feluri de parcurgere", "Requests by kind of walk"},
		"walks.about": {"Cererile făcute de parcurgerile care au adus ceva sau au eșuat, după fel: schimbări, prima încărcare, resincronizare completă, altele.", "Requests of walks that brought something or failed, by kind: changes, backfill, full resync, others."},
		"incremental": {"Schimbări", "Changes"}, "backfill": {"Prima încărcare", "Backfill"}, "full_resync": {"Resincronizare", "Full resync"}, "other_walks": {"Altele", "Others"},

		"rows":       {"Rânduri scrise", "Rows written"},
		"rows.about": {"Rândurile pe care le-au scris parcurgerile, cele scoase și cele ajunse în carantină.", "Rows that walks have written, removals, and rows that went into quarantine."},
		"written":    {"Scrise", "Written"}, "removals": {"Scoase", "Removed"}, "to_quarantine": {"În carantină", "Into quarantine"},

		"failed":       {"Parcurgeri eșuate", "Failed walks"},
		"failed.about": {"Parcurgerile care s-au oprit cu o eroare în perioada aleasă; Larder le reia singur.", "Walks that ended with an error in the chosen period; Larder tries them again by itself."},
		"failed.empty": {"Nicio parcurgere eșuată", "No walk failed"},
		"finished_at":  {"Când", "When"}, "walk": {"Fel", "Kind"}, "error": {"Eroare", "Error"},
	},
}
