-- The totals of a day side by side: as the service reports them, and as the mirrored orders
-- give them.

{{/* The dot says what else of a day that runs. */}}
{{define "compared" -}}
    {{$running := . -}}
    `verdict` LowCardinality(String) COMMENT 'open: the day is not over. Of days that reconciliation has compared, of the daily totals and of the products the worse: proven; healed (it differed and was repaired); drift (it differs, and repairing did not help); unsettled (it kept changing while it was compared); unproven (it could not be compared, or has changed since). Of other days: equal or differs, when the service was asked after the last order came in; else unproven',
    `verdict_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Since when the verdict stands: when reconciliation asked the service; null when it has not asked',
    `verdict_differences.figure` Array(String) COMMENT 'Differences that reconciliation found, of a healed day those before: the figure, such as net_sales, payments/cash, or p/42: net of a product line',
    `verdict_differences.service` Array(String) COMMENT 'Differences that reconciliation found: the figure as the service reported it',
    `verdict_differences.mirror` Array(String) COMMENT 'Differences that reconciliation found: the figure from the mirrored orders',
    `verdict_order_ids` Array(String) COMMENT 'Orders involved in those differences, at most 100 of each comparison',
    `verdict_reason` String COMMENT 'Why it is unproven or unsettled',
    `differences` Array(String) COMMENT 'Figures beside that differ now; no totals when the service was not asked{{$running}}',
    {{range figures}}`service_{{.Name}}` {{.Maybe}} COMMENT '{{.Comment}} (as the service reports it; {{if .Map}}empty{{else}}null{{end}} when it was not asked{{$running}})',
    `mirror_{{.Name}}` {{.Type}} COMMENT '{{.Comment}} (from the mirrored orders)',
    {{end -}}
    `service_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service reported the totals; null when it was not asked{{$running}}',
    `mirror_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service answered with the newest of the orders; null when there are none'
{{- end}}

{{/* The figures of one side in one column: as columns of their own, each would be planned anew on
every level below, which took longer than reading the rows of a restaurant. First the time of the
answer, then the figures in order; maps without zeros, so that equal ones are equal. */}}
{{define "side" -}}
    (_fetched_at, {{range $n, $figure := figures}}{{if $n}}, {{end}}{{if .Map}}mapSort(mapFilter((k, v) -> v != 0, {{.Name}})){{else}}{{.Name}}{{end}}{{end}})
{{- end}}

{{/* The dot says by what, beside the restaurant and the day: nothing, or the location. Levels
are few for the same reason: each one more costs all that is planned below it. */}}
{{define "comparison" -}}
WITH
    date >= toDate32(now('Europe/Bucharest')) AS running,
    arrayFilter(found -> found.1 = gravest, verdicts) AS worst,
    services[1] AS service, mirrors[1] AS mirror,
    notEmpty(services) AS asked, notEmpty(mirrors) AS mirrored, {{if .}}asked AND NOT running{{else}}asked{{end}} AS shown,
    arrayFilter((figure, same) -> NOT same,
        [{{range $n, $_ := figures}}{{if $n}}, {{end}}'{{.Name}}'{{end}}],
        [{{range $n, $_ := figures}}{{if $n}}, {{end}}service.{{position $n}} = mirror.{{position $n}}{{end}}]) AS differing,
    asked AND notEmpty(differing) AS moved
SELECT
    business_id, business_name, {{.}}{{if .}}location_name, {{end}}date,
    multiIf(
        running, 'open',
        notEmpty(worst) AND NOT (moved AND worst[1].2 IN ('proven', 'healed')), worst[1].2,
        NOT asked, 'unproven',
        empty(differing), 'equal',
        mirror_fetched_at > greatest(service.1, ifNull(verdict_at, service.1)), 'unproven',
        'differs') AS verdict,
    if(empty(worst), NULL, arrayMin(worst.3)) AS verdict_at,
    arrayFlatten(worst.4) AS `verdict_differences.figure`,
    arrayFlatten(worst.5) AS `verdict_differences.service`,
    arrayFlatten(worst.6) AS `verdict_differences.mirror`,
    arrayDistinct(arrayFlatten(worst.7)) AS verdict_order_ids,
    arrayStringConcat(arrayFilter(reason -> reason != '', worst.8), '; ') AS verdict_reason,
    if(shown, differing, ['no totals']) AS differences,
    {{range $n, $figure := figures}}if(shown, service.{{position $n}}, {{if .Map}}map(){{else}}NULL{{end}}) AS service_{{.Name}}, mirror.{{position $n}} AS mirror_{{.Name}},
    {{end -}}
    if(shown, service.1, NULL) AS service_fetched_at,
    if(mirrored, mirror.1, NULL) AS mirror_fetched_at
FROM
(
    SELECT
        business_id, {{.}}date,
        groupArrayArray(of_service) AS services, groupArrayArray(of_mirror) AS mirrors,
        groupArrayArray(side_verdicts) AS verdicts, arrayMax(verdicts.1) AS gravest
    FROM
    (
        SELECT
            business_id, {{if .}}assumeNotNull(totals.location_id) AS location_id, {{end}}date,
            [{{template "side"}}] AS of_service, [] AS of_mirror, [] AS side_verdicts
        FROM {{table "sales_daily"}} AS totals FINAL
        WHERE {{if .}}isNotNull{{else}}isNull{{end}}(totals.location_id)
        {{quick}}

        UNION ALL

        WITH {{template "sums"}}
        SELECT business_id, {{.}}date, [] AS of_service, [{{template "side"}}] AS of_mirror, [] AS side_verdicts
        FROM ({{template "parts"}})
        GROUP BY business_id, {{.}}date

        UNION ALL

        -- Of several sources the worst verdict about all locations counts, and the newest about one.
        SELECT
            business_id, {{.}}day AS date, [] AS of_service, [] AS of_mirror,
            [argMax(
                (transform(verdict, ['proven', 'healed', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4], 3)::UInt8 AS rank, toString(verdict), asked_at,
                    `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                {{if .}}asked_at{{else}}(rank, asked_at){{end}})] AS side_verdicts
        FROM {{table "proofs"}} FINAL
        WHERE verdict != 'withdrawn' AND proofs.location_id {{if .}}!={{else}}={{end}} ''
        GROUP BY business_id, {{.}}day, subject
    )
    GROUP BY business_id, {{.}}date
) AS days
LEFT ANY JOIN
(
    SELECT business_id, {{.}}toNullable(min(business_day)) AS first_day
    FROM {{table "sales_orders"}}
    WHERE _deleted = 0 OR sales_orders.location_id != ''
    GROUP BY business_id{{if .}}, location_id{{end}}
) AS begun USING (business_id{{if .}}, location_id{{end}})
{{if .}}LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{end -}}
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
-- A day before the first order says nothing, unless the service has something there.
WHERE ifNull(date >= first_day, false) OR moved OR verdict = 'drift'
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
