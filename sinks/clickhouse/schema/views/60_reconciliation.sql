-- The totals of a day side by side: as the service reports them, and as the mirrored orders
-- give them.

{{/* The dot says what else of a day that runs. */}}
{{define "compared" -}}
    {{$running := . -}}
    `verdict` LowCardinality(String) COMMENT 'open: the day is not over. Of days that reconciliation has compared it is the worse of the daily totals and the products. proven: it is equal. healed: it differed and was repaired. explained: it differs by what the API leaves open (refunds of orders removed since, the rounding of the gross of products), and counts as proven. drift: it differs, and repairing did not help. unsettled: it kept changing while it was compared. unproven: it could not be compared, or has changed since. Of other days: equal or differs, when the service was asked after the last order came in; else unproven',
    `verdict_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Since when the verdict stands: when reconciliation asked the service; null when it has not asked',
    `verdict_differences.figure` Array(String) COMMENT 'Differences that reconciliation found, of a healed day those before: the figure, such as net_sales, payments/cash, or p/42: net of a product line',
    `verdict_differences.service` Array(String) COMMENT 'Differences that reconciliation found: the figure as the service reported it',
    `verdict_differences.mirror` Array(String) COMMENT 'Differences that reconciliation found: the figure from the mirrored orders',
    `verdict_order_ids` Array(String) COMMENT 'Orders involved in those differences, at most 100 of each comparison',
    `verdict_reason` String COMMENT 'Why it is explained, unproven or unsettled',
    `differences` Array(String) COMMENT 'Figures beside that differ now; no totals when the service was not asked{{$running}}',
    {{range figures}}`service_{{.Name}}` {{.Maybe}} COMMENT '{{.Comment}} (as the service reports it; {{if .Map}}empty{{else}}null{{end}} when it was not asked{{$running}})',
    `mirror_{{.Name}}` {{.Type}} COMMENT '{{.Comment}} (from the mirrored orders)',
    {{end -}}
    `service_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service reported the totals; null when it was not asked{{$running}}',
    `mirror_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service answered with the newest of the orders; null when there are none'
{{- end}}

{{define "map_of_mirror" -}}
    `mirror` Map(String, Decimal(38, 2)) COMMENT 'Figures from the mirrored orders, RON: orders (their number), net_sales, items, discounts, delivery_fees, tips, deposits, refunds, payments/<method>, by_type/<type>, by_channel/<channel>; and refunds/<method>, refunds made that day by method, which the service does not report'
{{- end}}

{{/* The dot says what else of a day that runs. */}}
{{define "compared_briefly" -}}
    `verdict` LowCardinality(String) COMMENT 'As reconciliation has it',
{{template "map_of_mirror"}},
    `service` Map(String, Decimal(38, 2)) COMMENT 'The same figures as the service reports them, without refunds/<method>; empty when it was not asked{{.}}'
{{- end}}

{{/* The figures of the mirrored orders by name: orders on their own day, refunds on theirs. Each has a
read of its own, so that a filter on the day reaches the orders. The dot says by what, beside the
restaurant and the day: nothing, or the location. */}}
{{define "mirrored" -}}
    WITH
        sum(totals_net_sales) AS net_sales,
        sumMap(`payments.method`, `payments.amount`) AS by_method
    SELECT
        business_id, {{.}}business_day AS date,
        CAST((
            arrayConcat(['orders'{{range figures "Decimal"}}, '{{.Name}}'{{end}}, concat('by_type/', type), concat('by_channel/', channel)],
                arrayMap(method -> concat('payments/', method), by_method.1)),
            arrayConcat([toDecimal128(count(), 2), net_sales, sum(totals_items), sum(totals_discount),
                sum(totals_delivery_fee), sum(totals_tip), sum(totals_deposit), toDecimal128(0, 2), net_sales, net_sales], by_method.2)), 'Map(String, Decimal(38, 2))') AS of_mirror,
        [max(_fetched_at)] AS seen
    FROM {{table "sales_orders"}} FINAL
    GROUP BY business_id, {{.}}date, type, channel

    UNION ALL

    SELECT
        business_id, {{.}}toDate32(refund_at) AS date,
        CAST((['refunds', concat('refunds/', method)], [sum(amount), sum(amount)]), 'Map(String, Decimal(38, 2))') AS of_mirror,
        [max(_fetched_at)] AS seen
    FROM {{table "sales_orders"}} FINAL
    ARRAY JOIN `refunds.at` AS refund_at, `refunds.method` AS method, `refunds.amount` AS amount
    GROUP BY business_id, {{.}}date, method
{{- end}}

{{/* Both sides of a day beside each other, and what reconciliation found. The figures are in a map by
name: as columns of their own, each would be planned anew on every level below, which took longer than
reading the rows of a restaurant. Levels are few for the same reason, and the first day is one side
more, with a row for each day since: a join takes longer to plan. */}}
{{define "sides" -}}
(
    SELECT
        business_id, {{.}}date,
        sumMap(of_mirror) AS mirror_side, sumMap(of_service) AS service_side, maxForEach(seen) AS seen_at,
        groupArrayArray(found) AS findings, arrayFilter(finding -> finding.1 = arrayMax(findings.1), findings) AS worst,
        arrayFilter(name -> NOT startsWith(name, 'refunds/'), mapKeys(mapFilter((name, amount) -> amount != 0, mapSubtract(mirror_side, service_side)))) AS unequal
    FROM
    (
        SELECT business_id, {{.}}date, of_mirror, map() AS of_service, seen, [] AS found
        FROM ({{template "mirrored" .}})

        UNION ALL

        SELECT
            business_id, {{if .}}assumeNotNull(totals.location_id) AS location_id, {{end}}date, map() AS of_mirror,
            CAST((
                arrayConcat(['orders'{{range figures "Decimal"}}, '{{.Name}}'{{end}}]{{range figures "Map"}}, arrayMap(name -> concat('{{.Name}}/', name), mapKeys({{.Name}})){{end}}),
                arrayConcat([toDecimal128(orders, 2){{range figures "Decimal"}}, {{.Name}}{{end}}]{{range figures "Map"}}, mapValues({{.Name}}){{end}})),
                'Map(String, Decimal(38, 2))') AS of_service,
            [toDateTime64(0, 6, 'Europe/Bucharest'), _fetched_at] AS seen, [] AS found
        FROM {{table "sales_daily"}} AS totals FINAL
        WHERE {{if .}}isNotNull{{else}}isNull{{end}}(totals.location_id)
        {{quick}}

        UNION ALL

        -- Of several sources the worst verdict about all locations counts, and the newest about one.
        SELECT
            business_id, {{.}}day AS date, map() AS of_mirror, map() AS of_service, [] AS seen,
            [argMax(
                (transform(verdict, ['proven', 'healed', 'explained', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4, 5], 4)::UInt8 AS rank, toString(verdict), asked_at,
                    `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                {{if .}}asked_at{{else}}(rank, asked_at){{end}})] AS found
        FROM {{table "proofs"}} FINAL
        WHERE verdict != 'withdrawn' AND proofs.location_id {{if .}}!={{else}}={{end}} ''
        GROUP BY business_id, {{.}}day, subject

        UNION ALL

        -- No side is of a day a year from now.
        SELECT
            business_id, {{.}}arrayJoin(arrayMap(day -> toDate32(day), range(toInt32(min(business_day)), toInt32(today()) + 366))) AS date,
            map() AS of_mirror, map() AS of_service, [toDateTime64(0, 6, 'Europe/Bucharest'), toDateTime64(0, 6, 'Europe/Bucharest'), toDateTime64(1, 6, 'Europe/Bucharest')] AS seen, [] AS found
        FROM {{table "sales_orders"}}
        WHERE _deleted = 0 OR sales_orders.location_id != ''
        GROUP BY business_id{{if .}}, location_id{{end}}
    )
    GROUP BY business_id, {{.}}date
)
{{- end}}

{{/* What follows from both sides. A day before the first order says nothing, unless the service has
something there. The dot as above. */}}
{{define "judged" -}}
    date >= toDate32(now('Europe/Bucharest')) AS running,
    seen_at[1] > 0 AS mirrored, seen_at[2] > 0 AS asked, seen_at[3] > 0 AS begun, {{if .}}asked AND NOT running{{else}}asked{{end}} AS shown,
    asked AND notEmpty(unequal) AS moved,
    if(empty(worst), NULL, arrayMin(worst.3)) AS worst_at,
    multiIf(
        running, 'open',
        notEmpty(worst) AND NOT (moved AND (worst[1].2 IN ('proven', 'healed')
            OR worst[1].2 = 'explained' AND NOT hasAll(arrayFlatten(worst.4), unequal))), worst[1].2,
        NOT asked, 'unproven',
        empty(unequal), 'equal',
        seen_at[1] > greatest(seen_at[2], ifNull(worst_at, seen_at[2])), 'unproven',
        'differs') AS judgement,
    begun AND (mirrored OR asked OR notEmpty(worst)) OR moved OR judgement = 'drift' AS counts
{{- end}}

{{/* All that is known of each day, with names. The dot as above. */}}
{{define "comparison" -}}
WITH
    {{template "judged" .}}
SELECT
    business_id, business_name, {{.}}{{if .}}location_name, {{end}}date, judgement AS verdict, worst_at AS verdict_at,
    arrayFlatten(worst.4) AS `verdict_differences.figure`,
    arrayFlatten(worst.5) AS `verdict_differences.service`,
    arrayFlatten(worst.6) AS `verdict_differences.mirror`,
    arrayDistinct(arrayFlatten(worst.7)) AS verdict_order_ids,
    arrayStringConcat(arrayFilter(reason -> reason != '', worst.8), '; ') AS verdict_reason,
    if(shown, arrayFilter(figure -> arrayExists(name -> name = figure OR startsWith(name, concat(figure, '/')), unequal), [{{range $n, $_ := figures}}{{if $n}}, {{end}}'{{.Name}}'{{end}}]), ['no totals']) AS differences,
    {{range figures}}{{if .Map -}}
    if(shown, mapApply((name, amount) -> (substring(name, length('{{.Name}}/') + 1), amount), mapFilter((name, amount) -> startsWith(name, '{{.Name}}/') AND amount != 0, service_side)), map()) AS service_{{.Name}}, mapApply((name, amount) -> (substring(name, length('{{.Name}}/') + 1), amount), mapFilter((name, amount) -> startsWith(name, '{{.Name}}/') AND amount != 0, mirror_side)) AS mirror_{{.Name}},
    {{else -}}
    if(shown, service_side['{{.Name}}'], NULL) AS service_{{.Name}}, mirror_side['{{.Name}}'] AS mirror_{{.Name}},
    {{end}}{{end -}}
    if(shown, seen_at[2], NULL) AS service_fetched_at,
    if(mirrored, seen_at[1], NULL) AS mirror_fetched_at
FROM {{template "sides" .}} AS days
{{if .}}LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{end -}}
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
WHERE counts
{{- end}}

{{/* The same in few columns. */}}
{{define "compact" -}}
WITH
    {{template "judged" .}}
SELECT business_id, {{.}}date, judgement AS verdict, mirror_side AS mirror, if(shown, service_side, map()) AS service
FROM {{template "sides" .}} AS days
WHERE counts
{{- end}}

CREATE OR REPLACE VIEW {{view "reconciliation"}}
(
{{shown "business" "business_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared" ""}}
)
AS {{template "comparison" ""}}
{{joined}}
COMMENT 'One row per restaurant and day, all locations together: the service totals and those of the mirrored orders side by side, with the verdict';

CREATE OR REPLACE VIEW {{view "reconciliation_by_location"}}
(
{{shown "business" "business_name"}},
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
{{shown "location_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared" ", and while the day runs"}}
)
AS {{template "comparison" "location_id, "}}
{{joined}}
COMMENT 'One row per restaurant, location and day: the service totals and those of the mirrored orders side by side, with the verdict. While a day runs its verdict is open and the side of the service is null: about single locations it is asked at night, and would stand hours behind the orders';

CREATE OR REPLACE VIEW {{view "days_mirrored_by_location"}}
(
{{shown "business"}},
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `date` Date32 COMMENT 'Day (Europe/Bucharest): orders on their own, refunds on the day they were made',
{{template "map_of_mirror"}}
)
AS SELECT business_id, location_id, date, sumMap(of_mirror) AS mirror
FROM ({{template "mirrored" "location_id, "}})
GROUP BY business_id, location_id, date
{{plain}}
COMMENT 'One row per restaurant, location and day: the figures of the mirrored orders in one map, for adding up, which plans less than sales_daily_computed_by_location';

CREATE OR REPLACE VIEW {{view "days_compared"}}
(
{{shown "business"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared_briefly" ""}}
)
AS {{template "compact" ""}}
{{plain}}
COMMENT 'One row per restaurant and day, all locations together: reconciliation with the figures of a side in one map and without names, for adding up, which plans less';

CREATE OR REPLACE VIEW {{view "days_compared_by_location"}}
(
{{shown "business"}},
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared_briefly" ", and while the day runs"}}
)
AS {{template "compact" "location_id, "}}
{{plain}}
COMMENT 'One row per restaurant, location and day: reconciliation_by_location with the figures of a side in one map and without names, for adding up, which plans less';
