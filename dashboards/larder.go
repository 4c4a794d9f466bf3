package dashboards

// ofSource chooses series by their source; a source's name is part of no other.
const ofSource = `source=~"$source"`

// program answers, from Prometheus, whether Larder itself is well. The alerts lead here.
var program = dashboard{
	name: "larder", variables: ofProgram, from: "now-6h", to: "now", refresh: "30s",
	ranges: []string{"today", "yesterday", "week", "days28"},
	links:  []string{"mirror", "sales"},
	panels: []panel{
		{key: "summary", kind: figures, w: 8, h: 11, promql: []metric{
			{expr: `sum(up{job="larder"})`, legend: "processes", now: true},
			{expr: `count(max without (instance) (larder_source_up{` + ofSource + `}) == 1) or vector(0)`, legend: "sources_up", now: true},
			{expr: `count(max without (instance) (larder_source_up{` + ofSource + `}) == 0) or vector(0)`, legend: "sources_down", now: true},
			{expr: `count(max without (instance) (larder_stream_behind{` + ofSource + `}) == 1) or vector(0)`, legend: "streams_behind", now: true},
			{expr: `max(larder_sink_failing)`, legend: "sink_failing", now: true},
			{expr: `sum(larder_warehouse_damaged_parts)`, legend: "damaged_parts", now: true},
		}, columns: []column{{name: "processes", unit: count}, {name: "sources_up", unit: count}, {name: "sources_down", unit: count, steps: never},
			{name: "streams_behind", unit: count, steps: wanted0}, {name: "sink_failing", unit: count, steps: never}, {name: "damaged_parts", unit: count, steps: never}}},
		{key: "health", kind: table, w: 8, h: 11, promql: []metric{
			{expr: `sort_desc(max by (source, health) (larder_source_health{` + ofSource + `} == 1))`, now: true, rows: true},
		}, columns: []column{{name: "source"}, {name: "health", words: []string{"health"}}, {name: "Value", hidden: true}, {name: "Time", hidden: true}}},
		{key: "waiting", kind: figures, w: 8, h: 11, promql: []metric{
			{expr: `sum(max without (instance) (larder_quarantine_rows{` + ofSource + `}))`, legend: "quarantine_rows", now: true},
			{expr: `sum(max without (instance) (larder_sweep_held_rows{` + ofSource + `}))`, legend: "held_rows", now: true},
			{expr: `sum(max without (instance) (larder_drift_days{` + ofSource + `}))`, legend: "drift_days", now: true},
			{expr: `max(time() - max without (instance) (larder_proven_until_timestamp_seconds{` + ofSource + `})) / 86400`, legend: "proof_age", now: true},
			{expr: `max(time() - max without (instance) (larder_full_resync_timestamp_seconds{` + ofSource + `})) / 86400`, legend: "resync_age", now: true},
			{expr: `max(larder_walk_expected_left_seconds{` + ofSource + `})`, legend: "walk_left", now: true},
		}, columns: []column{{name: "quarantine_rows", unit: count, steps: wanted0}, {name: "held_rows", unit: count, steps: wanted0}, {name: "drift_days", unit: count, steps: never},
			{name: "proof_age", unit: days, steps: proofAge}, {name: "resync_age", unit: days, steps: resyncAge}, {name: "walk_left", unit: seconds}}},
		{key: "lag", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `topk(10, max by (source, stream) (larder_stream_lag_seconds{` + ofSource + `}))`, legend: "{{source}} {{stream}}"},
		}, left: "s"},
		{key: "requests", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `sum by (code) (rate(larder_api_requests_total{` + ofSource + `}[$__rate_interval]))`, legend: "{{code}}"},
		}, left: "reqps"},
		{key: "budget", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `bottomk(10, min by (source, limit) (larder_budget_remaining{` + ofSource + `}))`, legend: "{{source}} {{limit}}"},
		}, left: "none"},
		{key: "refused", kind: columns, w: 12, h: 9, promql: []metric{
			{expr: `sum by (source) (increase(larder_api_rate_limited_total{` + ofSource + `}[$__rate_interval])) > 0`, legend: "{{source}}"},
		}, left: "none"},
		{key: "rows", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `sum by (kind) (rate(larder_rows_total{` + ofSource + `}[$__rate_interval]))`, legend: "{{kind}}"},
		}, left: "rowsps"},
		{key: "walks", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `histogram_quantile(0.95, sum by (walk, le) (rate(larder_walk_seconds_bucket{}[$__rate_interval])))`, legend: "{{walk}}"},
		}, left: "s"},
		{key: "queue", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `sum(larder_sink_queue_bytes)`, legend: "queue_bytes"},
			{expr: `sum(larder_sink_queue_limit_bytes)`, legend: "queue_limit"},
		}, columns: []column{{name: "queue_limit", unit: octets, drawn: "dashed"}, {name: "queue_bytes", unit: octets}}},
		{key: "flushes", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `histogram_quantile(0.95, sum by (le) (rate(larder_sink_flush_duration_seconds_bucket[$__rate_interval])))`, legend: "flush_p95"},
			{expr: `sum(rate(larder_sink_flush_retries_total[$__rate_interval]))`, legend: "flush_retries"},
		}, columns: []column{{name: "flush_retries", unit: persec}, {name: "flush_p95", unit: seconds}}},
		{key: "process", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `sum by (instance) (process_resident_memory_bytes{job="larder"})`, legend: "{{instance}}"},
		}, left: "bytes"},
	},
	texts: texts{
		"title": {"Programul Larder", "Larder"},
		"about": {"Starea programului care oglindește: surse, întârzieri, cereri, buget și scrierea în depozit. Alertele duc aici.", "The state of the program that mirrors: sources, lag, requests, budget, and writing to the warehouse. The alerts lead here."},

		"summary":        {"Acum", "Now"},
		"summary.about":  {"Procese care răspund, surse care merg și care nu, liste rămase în urmă, dacă depozitul refuză rânduri (1 = da), și părți deteriorate ale tabelelor.", "Processes that answer, sources that work and that do not, streams that are behind, whether the warehouse takes no rows (1 = so), and damaged parts of tables."},
		"summary.empty":  {"Prometheus nu are nimic de la Larder", "Prometheus has nothing of Larder"},
		"processes":      {"Procese", "Processes"},
		"sources_up":     {"Surse care merg", "Sources up"},
		"sources_down":   {"Surse căzute", "Sources down"},
		"streams_behind": {"Liste în urmă", "Streams behind"},
		"sink_failing":   {"Depozitul refuză", "Warehouse fails"},
		"damaged_parts":  {"Părți deteriorate", "Damaged parts"},

		"health":        {"Sănătatea surselor", "Health of the sources"},
		"health.about":  {"Ce are fiecare sursă mai grav acum; „La zi” înseamnă proaspăt, dovedit și fără carantină. „larder status” spune și ce este de făcut.", "The worst that is the matter with each source now; up to date means fresh, proven and nothing in quarantine. larder status says what to do, too."},
		"column.health": {"Stare", "State"},
		"health.empty":  {"Nicio sursă cunoscută lui Prometheus", "Prometheus knows no source"},
		"Value":         {"Valoare", "Value"}, "Time": {"Timp", "Time"},

		"waiting":         {"Ce așteaptă pe cineva", "What waits for a person"},
		"waiting.about":   {"Rânduri în carantină, rânduri a căror scoatere trebuie confirmată, zile care diferă, vechimea dovezii și a ultimei resincronizări complete, și cât mai durează parcurgerea lungă în curs.", "Rows in quarantine, rows whose removal must be confirmed, days that differ, the age of the proof and of the last full resync, and how long a long walk under way still takes."},
		"quarantine_rows": {"În carantină", "In quarantine"},
		"held_rows":       {"Scoateri neconfirmate", "Removals to confirm"},
		"drift_days":      {"Zile care diferă", "Days that differ"},
		"proof_age":       {"Vechimea dovezii", "Age of the proof"},
		"resync_age":      {"Ultima resincronizare acum", "Last full resync ago"},
		"walk_left":       {"Parcurgerea mai durează", "Walk still takes"},

		"lag":       {"Întârziere pe liste", "Lag by stream"},
		"lag.about": {"De cât timp s-a încheiat ultima parcurgere bună a fiecărei liste; cele mai rămase în urmă zece.", "Time since the last good walk of each stream ended; the ten that are furthest behind."},

		"requests":       {"Cereri către serviciu", "Requests to the service"},
		"requests.about": {"Cereri pe secundă, după răspuns; codul 0 înseamnă fără răspuns.", "Requests a second by answer; code 0 is no answer at all."},

		"budget":       {"Buget rămas", "Budget left"},
		"budget.about": {"Câte cereri mai permit limitele în acest minut; cele mai strânse zece.", "How many requests the limits still allow in this minute; the ten that are tightest."},

		"refused":       {"Răspunsuri 429", "Answers 429"},
		"refused.about": {"De câte ori a spus serviciul că sunt prea multe cereri. Larder singur nu depășește limitele: alt program folosește cheia sau restaurantul.", "How often the service said that there were too many requests. Larder alone keeps the limits: another program uses the key or the restaurant."},
		"refused.empty": {"Niciun răspuns 429", "No answer 429"},

		"rows":       {"Rânduri primite", "Rows received"},
		"rows.about": {"Rânduri pe secundă, după ce s-a făcut cu ele: scrise, neschimbate, scoase, în carantină.", "Rows a second, by what became of them: written, unchanged, removed, put into quarantine."},

		"walks":       {"Durata parcurgerilor", "Time of walks"},
		"walks.about": {"Timpul în care se încheie 95 % din parcurgeri, după fel, de la prima cerere până când totul este salvat.", "Time within which 95 % of walks end, by kind, from the first request until all is durable."},

		"queue":       {"Coada de scriere", "Queue of writing"},
		"queue.about": {"Câți octeți așteaptă să fie scriși în depozit, lângă limita la care parcurgerile așteaptă și ele.", "Bytes that wait to be written to the warehouse, beside the limit at which walks wait, too."},
		"queue_bytes": {"În coadă", "Waiting"}, "queue_limit": {"Limita", "Limit"},

		"flushes":       {"Scrierea în depozit", "Writing to the warehouse"},
		"flushes.about": {"Timpul în care se încheie 95 % din scrieri, și câte încercări pe secundă au trebuit repetate.", "Time within which 95 % of flushes end, and how many attempts a second had to be tried again."},
		"flush_p95":     {"95 % din scrieri", "95 % of flushes"}, "flush_retries": {"Reîncercări", "Retries"},

		"process":       {"Memoria procesului", "Memory of the process"},
		"process.about": {"Memoria folosită de fiecare proces Larder, cu motorul înăuntru.", "Memory that each Larder process uses, the engine within included."},
	},
}
