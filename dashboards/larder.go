package dashboards

// ofSource chooses series by their source; a source's name is part of no other.
const ofSource = `source=~"$source"`

// unknown stands where there is no figure yet, such as before the first comparison: older
// Grafanas take an empty answer for an error, and then show none of the panel's figures.
const unknown = ` or vector(NaN)`

// othersAreWell are the sources without a series of their own in larder_source_health: that is how those
// which are up to date are written without metrics.detail. Their value puts them below the others.
const othersAreWell = `label_replace(0 * max by (source) (larder_source_held{` + ofSource + `} == 1), "health", "up_to_date", "", "")`

// program answers, from Prometheus, whether Larder itself is well. The alerts lead here.
var program = dashboard{
	name: "larder", variables: ofProgram, from: "now-6h", to: "now", refresh: "30s",
	ranges: []string{"today", "yesterday", "week", "days28"},
	links:  []string{"mirror", "sales"},
	panels: []panel{
		{id: 1, key: "summary", kind: figures, w: 8, h: 11, promql: []metric{
			{expr: `sum(up{job="larder"}) or vector(0)`, legend: "processes", now: true},
			{expr: `count(max without (instance) (larder_source_held{` + ofSource + `}) == 1 unless max without (instance) (larder_source_up{` + ofSource + `}) == 0) or vector(0)`, legend: "sources_up", now: true},
			{expr: `count(max without (instance) (larder_source_up{` + ofSource + `}) == 0) or vector(0)`, legend: "sources_down", now: true},
			{expr: `count(sum without (instance) (larder_source_held{` + ofSource + `}) < 1) or vector(0)`, legend: "sources_unheld", now: true},
			{expr: `count(max without (instance) (larder_stream_behind{` + ofSource + `}) == 1) or vector(0)`, legend: "streams_behind", now: true},
			{expr: `max(larder_sink_failing)` + unknown, legend: "sink_failing", now: true},
			{expr: `sum(larder_warehouse_damaged_parts)` + unknown, legend: "damaged_parts", now: true},
			{expr: `sum(increase(larder_engine_ends_total[15m]))` + unknown, legend: "engine_ends", now: true},
			{expr: `max(larder_walk_expected_left_seconds{` + ofSource + `})` + unknown, legend: "walk_left", now: true},
		}, columns: []column{{name: "processes", unit: count}, {name: "sources_up", unit: count}, {name: "sources_down", unit: count, steps: never},
			{name: "sources_unheld", unit: count, steps: never}, {name: "streams_behind", unit: count, steps: wanted0}, {name: "sink_failing", unit: count, steps: never},
			{name: "damaged_parts", unit: count, steps: never}, {name: "engine_ends", unit: count, steps: wanted0}, {name: "walk_left", unit: seconds}}},
		{id: 2, key: "health", kind: table, w: 8, h: 11, promql: []metric{
			{expr: `sort_desc(max by (source, health) (larder_source_health{` + ofSource + `,source!=""} == 1) or on (source) ` + othersAreWell + `)`, now: true, rows: true},
		}, columns: []column{{name: "source"}, {name: "health", words: []string{"health"}}, {name: "Value", hidden: true}, {name: "Time", hidden: true}}},
		{id: 3, key: "waiting", kind: figures, w: 8, h: 11, promql: []metric{
			{expr: `sum(max without (instance) (larder_quarantine_rows{` + ofSource + `}))` + unknown, legend: "quarantine_rows", now: true},
			{expr: `sum(max without (instance) (larder_sweep_held_rows{` + ofSource + `}))` + unknown, legend: "held_rows", now: true},
			{expr: `sum(max without (instance) (larder_drift_days{` + ofSource + `}))` + unknown, legend: "drift_days", now: true},
			{expr: `clamp_min(max(time() - larder_proven_until_timestamp_seconds{` + ofSource + `}), 0) / 86400` + unknown, legend: "proof_age", now: true},
			{expr: `max(time() - larder_full_resync_timestamp_seconds{` + ofSource + `}) / 86400` + unknown, legend: "resync_age", now: true},
			{expr: `count(larder_config_last_reload_successful == 0) or vector(0)`, legend: "config_refused", now: true},
			{expr: `sum(increase(larder_walk_panics_total[1h]))` + unknown, legend: "panics", now: true},
		}, columns: []column{{name: "quarantine_rows", unit: count, steps: wanted0}, {name: "held_rows", unit: count, steps: wanted0}, {name: "drift_days", unit: count, steps: never},
			{name: "proof_age", unit: number, steps: proofAge}, {name: "resync_age", unit: number, steps: resyncAge}, {name: "config_refused", unit: count, steps: wanted0},
			{name: "panics", unit: count, steps: never}}},
		{id: 4, key: "lag", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `topk(10, max by (source, stream) (larder_stream_lag_seconds{` + ofSource + `}))`, legend: "{{source}} {{stream}}"},
		}, left: "s"},
		{id: 5, key: "requests", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `sum by (code) (rate(larder_api_requests_total{` + ofSource + `}[$__rate_interval]))`, legend: "{{code}}"},
		}, left: "reqps"},
		{id: 6, key: "budget", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `bottomk(10, min by (source, limit) (larder_budget_remaining{` + ofSource + `}))`, legend: "{{source}} {{limit}}"},
		}, left: "none"},
		{id: 7, key: "refused", kind: columns, w: 12, h: 9, promql: []metric{
			{expr: `topk(10, sum by (source) (increase(larder_api_rate_limited_total{` + ofSource + `}[$__rate_interval])))`, legend: "{{source}}"},
		}, left: "none"},
		{id: 8, key: "rows", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `sum by (kind) (rate(larder_rows_total{` + ofSource + `}[$__rate_interval]))`, legend: "{{kind}}"},
		}, columns: []column{{name: "upsert"}, {name: "unchanged"}, {name: "tombstone"}, {name: "quarantined"}}, left: "suffix: /s"},
		{id: 9, key: "walks", kind: lines, w: 12, h: 9, promql: []metric{
			{expr: `histogram_quantile(0.95, sum by (walk, le) (rate(larder_walk_seconds_bucket{}[$__rate_interval])))`, legend: "{{walk}}"},
		}, columns: []column{{name: "incremental"}, {name: "backfill"}, {name: "full"}, {name: "snapshot"}, {name: "totals"}}, left: "s"},
		{id: 10, key: "queue", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `sum(larder_sink_queue_bytes)`, legend: "queue_bytes"},
			{expr: `sum(larder_sink_queue_limit_bytes)`, legend: "queue_limit"},
		}, columns: []column{{name: "queue_limit", unit: octets, drawn: "dashed"}, {name: "queue_bytes", unit: octets}}},
		{id: 11, key: "flushes", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `histogram_quantile(0.95, sum by (le) (rate(larder_sink_flush_duration_seconds_bucket[$__rate_interval])))`, legend: "flush_p95"},
			{expr: `60 * sum(rate(larder_sink_flush_retries_total[$__rate_interval]))`, legend: "flush_retries"},
		}, columns: []column{{name: "flush_retries", unit: permin}, {name: "flush_p95", unit: seconds}}},
		{id: 12, key: "process", kind: lines, w: 8, h: 9, promql: []metric{
			{expr: `sum by (instance) (process_resident_memory_bytes{job="larder"})`, legend: "{{instance}}"},
		}, left: "bytes"},
	},
	texts: texts{
		"title": {"Programul Larder", "Larder"},
		"about": {"Starea programului care oglindește: surse, întârzieri, cereri, buget și scrierea în depozit. Alertele duc aici. Restul cifrelor unei singure surse cer metrics.detail: true.", "The state of the program that mirrors: sources, lag, requests, budget, and writing to the warehouse. The alerts lead here. The other figures of a single source need metrics.detail: true."},

		"summary":        {"Acum", "Now"},
		"summary.about":  {"Procese care răspund, surse care merg și care nu, surse de care nu se ocupă niciun proces, liste rămase în urmă, dacă depozitul refuză rânduri (1 = da), părți deteriorate ale tabelelor, de câte ori s-a oprit motorul în ultimul sfert de oră, și cât mai durează parcurgerea lungă în curs.", "Processes that answer, sources that work and that do not, sources that no process serves, streams that are behind, whether the warehouse takes no rows (1 = so), damaged parts of tables, how often the engine has ended in the last quarter of an hour, and how long a long walk under way still takes."},
		"processes":      {"Procese", "Processes"},
		"sources_up":     {"Surse care merg", "Sources up"},
		"sources_down":   {"Surse căzute", "Sources down"},
		"sources_unheld": {"Surse neservite", "Sources unserved"},
		"walk_left":      {"Parcurgerea mai durează", "Walk still takes"},
		"streams_behind": {"Liste în urmă", "Streams behind"},
		"sink_failing":   {"Depozitul refuză", "Warehouse fails"},
		"damaged_parts":  {"Părți deteriorate", "Damaged parts"},
		"engine_ends":    {"Motorul s-a oprit", "Engine has ended"},

		"health":        {"Sănătatea surselor", "Health of the sources"},
		"health.about":  {"Ce are fiecare sursă mai grav acum; „La zi” înseamnă proaspăt, dovedit și fără carantină. „larder status” spune și ce este de făcut.", "The worst that is the matter with each source now; up to date means fresh, proven and nothing in quarantine. larder status says what to do, too."},
		"column.health": {"Stare", "State"},
		"health.empty":  {"Nicio sursă cunoscută lui Prometheus", "Prometheus knows no source"},
		"Value":         {"Valoare", "Value"}, "Time": {"Timp", "Time"},

		"waiting":         {"Ce așteaptă pe cineva", "What waits for a person"},
		"waiting.about":   {"Rânduri în carantină, rânduri a căror scoatere trebuie confirmată, zile care diferă, vechimea dovezii și a ultimei resincronizări complete, procese care merg cu o configurație veche fiindcă cea nouă are greșeli, și parcurgeri oprite de o greșeală a programului. O linie: nu se știe încă.", "Rows in quarantine, rows whose removal must be confirmed, days that differ, the age of the proof and of the last full resync, processes that go on with an old configuration because the new one is wrong, and walks ended by a fault of the program. A dash: not known yet."},
		"quarantine_rows": {"În carantină", "In quarantine"},
		"held_rows":       {"Scoateri neconfirmate", "Removals to confirm"},
		"drift_days":      {"Zile care diferă", "Days that differ"},
		"proof_age":       {"Vechimea dovezii (zile)", "Age of the proof (days)"},
		"resync_age":      {"Ultima resincronizare (zile)", "Last full resync (days)"},
		"config_refused":  {"Configurații refuzate", "Configurations refused"},
		"panics":          {"Greșeli Larder, ultima oră", "Larder's faults, last hour"},

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

		"upsert": {"Scrise", "Written"}, "unchanged": {"Neschimbate", "Unchanged"}, "tombstone": {"Scoase", "Removed"}, "quarantined": {"În carantină", "Into quarantine"},

		"walks":       {"Durata parcurgerilor", "Time of walks"},
		"walks.about": {"Timpul în care se încheie 95 % din parcurgeri, după fel, de la prima cerere până când totul este salvat.", "Time within which 95 % of walks end, by kind, from the first request until all is durable."},

		"incremental": {"Schimbări", "Changes"}, "backfill": {"Prima încărcare", "Backfill"}, "full": {"Resincronizare", "Full resync"},
		"snapshot": {"Liste întregi", "Whole lists"}, "totals": {"Totaluri", "Totals"},

		"queue":       {"Coada de scriere", "Queue of writing"},
		"queue.about": {"Câți octeți așteaptă să fie scriși în depozit, lângă limita la care parcurgerile așteaptă și ele.", "Bytes that wait to be written to the warehouse, beside the limit at which walks wait, too."},
		"queue_bytes": {"În coadă", "Waiting"}, "queue_limit": {"Limita", "Limit"},

		"flushes":       {"Scrierea în depozit", "Writing to the warehouse"},
		"flushes.about": {"Timpul în care se încheie 95 % din scrieri, și câte încercări pe minut au trebuit repetate.", "Time within which 95 % of flushes end, and how many attempts a minute had to be tried again."},
		"flush_p95":     {"95 % din scrieri", "95 % of flushes"}, "flush_retries": {"Reîncercări", "Retries"},

		"process":       {"Memoria procesului", "Memory of the process"},
		"process.about": {"Memoria folosită de fiecare proces Larder, cu motorul înăuntru.", "Memory that each Larder process uses, the engine within included."},
	},
}
