-- The totals of a day side by side: as the service reports them, and as the mirrored orders
-- give them.

{{define "compared" -}}
    `verdict` LowCardinality(String) COMMENT 'open: the day is not over. Of days that reconciliation has compared, of the daily totals and of the products the worse: proven; healed (it differed and was repaired); drift (it differs, and repairing did not help); unsettled (it kept changing while it was compared); unproven (it could not be compared, or has changed since). Of other days: equal or differs, when the service was asked after the last order came in; else unproven',
    `verdict_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Since when the verdict stands: when reconciliation asked the service; null when it has not asked',
    `verdict_differences.figure` Array(String) COMMENT 'Differences that reconciliation found, of a healed day those before: the figure, such as net_sales, payments/cash, or p/42: net of a product line',
    `verdict_differences.service` Array(String) COMMENT 'Differences that reconciliation found: the figure as the service reported it',
    `verdict_differences.mirror` Array(String) COMMENT 'Differences that reconciliation found: the figure from the mirrored orders',
    `verdict_order_ids` Array(String) COMMENT 'Orders involved in those differences, at most 100 of each comparison',
    `verdict_reason` String COMMENT 'Why it is unproven or unsettled',
    `differences` Array(String) COMMENT 'Figures beside that differ now; no totals when the service was not asked',
    {{range figures}}`service_{{.Name}}` {{.Maybe}} COMMENT '{{.Comment}} (as the service reports it; {{if .Map}}empty{{else}}null{{end}} when it was not asked)',
    `mirror_{{.Name}}` {{.Type}} COMMENT '{{.Comment}} (from the mirrored orders)',
    {{end -}}
    `service_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service reported the totals; null when it was not asked',
    `mirror_fetched_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service answered with the newest of the orders; null when there are none'
{{- end}}

{{define "verdicts" -}}
    CAST([], 'Array(Tuple(UInt8, String, DateTime64(6, \'Europe/Bucharest\'), Array(String), Array(String), Array(String), Array(String), String))')
{{- end}}

{{/* The dot says by what, beside the restaurant and the day: nothing, or the location. */}}
{{define "comparison" -}}
SELECT
    business_id, {{.}}date,
    multiIf(
        date >= toDate32(now('Europe/Bucharest')), 'open',
        notEmpty(worst) AND NOT (moved AND worst[1].2 IN ('proven', 'healed')), worst[1].2,
        isNull(service_fetched_at), 'unproven',
        empty(differences), 'equal',
        mirror_fetched_at > greatest(service_fetched_at, ifNull(verdict_at, service_fetched_at)), 'unproven',
        'differs') AS verdict,
    if(empty(worst), NULL, arrayMin(arrayMap(found -> found.3, worst))) AS verdict_at,
    arrayFlatten(arrayMap(found -> found.4, worst)) AS `verdict_differences.figure`,
    arrayFlatten(arrayMap(found -> found.5, worst)) AS `verdict_differences.service`,
    arrayFlatten(arrayMap(found -> found.6, worst)) AS `verdict_differences.mirror`,
    arrayDistinct(arrayFlatten(arrayMap(found -> found.7, worst))) AS verdict_order_ids,
    arrayStringConcat(arrayFilter(reason -> reason != '', arrayMap(found -> found.8, worst)), '; ') AS verdict_reason,
    differences,
    {{range figures}}service_{{.Name}}, mirror_{{.Name}}, {{end}}
    service_fetched_at, mirror_fetched_at
FROM
(
    SELECT
        business_id, {{.}}date, worst, service_fetched_at, mirror_fetched_at,
        {{range figures}}{{if .Map}}sum_service_{{.Name}}{{else}}if(isNull(service_fetched_at), NULL, sum_service_{{.Name}}){{end}} AS service_{{.Name}}, mirror_{{.Name}}, {{end}}
        if(isNull(service_fetched_at), ['no totals'], arrayFilter(figure -> figure != '', [
            {{range $n, $_ := figures}}{{if $n}}, {{end}}if({{if .Map}}mapSort(mapFilter((k, v) -> v != 0, sum_service_{{.Name}})) = mapSort(mapFilter((k, v) -> v != 0, mirror_{{.Name}})){{else}}sum_service_{{.Name}} = mirror_{{.Name}}{{end}}, '', '{{.Name}}'){{end}}
        ])) AS differences,
        isNotNull(service_fetched_at) AND notEmpty(differences) AS moved
    FROM
    (
        SELECT
            business_id, {{.}}date,
            {{range figures}}CAST({{.Sum}}(side_service_{{.Name}}), '{{.Type}}') AS sum_service_{{.Name}}, CAST({{.Sum}}(side_mirror_{{.Name}}), '{{.Type}}') AS mirror_{{.Name}},
            {{end -}}
            max(side_service_fetched_at) AS service_fetched_at,
            max(side_mirror_fetched_at) AS mirror_fetched_at,
            groupArrayArray(side_verdicts) AS verdicts,
            arrayFilter(found -> found.1 = arrayMax(arrayMap(other -> other.1, verdicts)), verdicts) AS worst
        FROM
        (
            SELECT
                business_id, {{.}}date,
                {{range figures}}{{.Name}} AS side_service_{{.Name}}, defaultValueOfTypeName('{{.Type}}') AS side_mirror_{{.Name}},
                {{end -}}
                toNullable(_fetched_at) AS side_service_fetched_at, CAST(NULL, 'Nullable(DateTime64(6, \'Europe/Bucharest\'))') AS side_mirror_fetched_at,
                {{template "verdicts"}} AS side_verdicts
            FROM
            (
                SELECT business_id, {{if .}}assumeNotNull(totals.location_id) AS location_id, {{end}}date, {{names "day_figures"}}, _fetched_at
                FROM {{table "sales_daily"}} AS totals FINAL
                WHERE {{if .}}isNotNull{{else}}isNull{{end}}(totals.location_id)
                {{quick}}
            )

            UNION ALL

            SELECT
                business_id, {{.}}date,
                {{range figures}}defaultValueOfTypeName('{{.Type}}') AS side_service_{{.Name}}, {{.Name}} AS side_mirror_{{.Name}},
                {{end -}}
                NULL AS side_service_fetched_at, toNullable(_fetched_at) AS side_mirror_fetched_at,
                {{template "verdicts"}} AS side_verdicts
            FROM
            (
                SELECT business_id, {{.}}date, {{template "sums"}}
                FROM ({{template "parts"}})
                GROUP BY business_id, {{.}}date
            )

            UNION ALL

            SELECT
                business_id, {{.}}date,
                {{range figures}}defaultValueOfTypeName('{{.Type}}') AS side_service_{{.Name}}, defaultValueOfTypeName('{{.Type}}') AS side_mirror_{{.Name}},
                {{end -}}
                NULL AS side_service_fetched_at, NULL AS side_mirror_fetched_at, groupArray(found) AS side_verdicts
            FROM
            (
                -- Of several sources the worst verdict about all locations counts, and the newest about one.
                SELECT
                    business_id, {{.}}day AS date,
                    argMax(
                        (rank, toString(verdict), asked_at, `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason),
                        ({{if .}}0{{else}}rank{{end}}, asked_at)) AS found
                FROM
                (
                    SELECT
                        business_id, {{.}}day, subject, verdict, asked_at,
                        `differences.figure`, `differences.service`, `differences.mirror`, order_ids, reason,
                        transform(verdict, ['proven', 'healed', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4], 3)::UInt8 AS rank
                    FROM {{table "proofs"}} FINAL
                    WHERE verdict != 'withdrawn' AND proofs.location_id {{if .}}!={{else}}={{end}} ''
                )
                GROUP BY business_id, {{.}}day, subject
            )
            GROUP BY business_id, {{.}}date
        )
        GROUP BY business_id, {{.}}date
    )
) AS days
LEFT ANY JOIN
(
    SELECT business_id, {{.}}toNullable(min(business_day)) AS first_day
    FROM {{table "sales_orders"}}
    WHERE _deleted = 0 OR sales_orders.location_id != ''
    GROUP BY business_id{{if .}}, location_id{{end}}
) AS begun USING (business_id{{if .}}, location_id{{end}})
-- A day before the first order says nothing, unless the service has something there.
WHERE ifNull(date >= first_day, false) OR moved OR verdict = 'drift'
{{- end}}

CREATE OR REPLACE VIEW {{view "reconciliation"}}
(
{{shown "business" "business_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared"}}
)
AS SELECT *
FROM
(
{{template "comparison" ""}}
) AS days
LEFT ANY JOIN {{inner_name "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and day, all locations together: the service totals and those of the mirrored orders side by side, with the verdict';

CREATE OR REPLACE VIEW {{view "reconciliation_by_location"}}
(
{{shown "business" "business_name"}},
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
{{shown "location_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{template "compared"}}
)
AS SELECT *
FROM
(
{{template "comparison" "location_id, "}}
) AS days
LEFT ANY JOIN {{inner_name "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{inner_name "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, location and day: the service totals and those of the mirrored orders side by side, with the verdict';
