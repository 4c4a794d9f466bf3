-- Until when the mirror is proven, and orders that contradict the rules of the API.

CREATE OR REPLACE VIEW `{{db}}`.`proof`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the proof is of; null is all locations of the source together',
    `first_day` Date32 COMMENT 'Day of the first mirrored order, removed ones included ({{zone}}); where there is none, the first day that was asked about',
    `proven_from` Nullable(Date32) COMMENT 'Every day from this one up to proven_until is proven, healed or explained: all of the mirror is when this is first_day (larder reconcile compares older days); null when proven_until is',
    `proven_until` Nullable(Date32) COMMENT 'The last day up to which each day is proven, healed or explained, of the 92 days up to the last that was asked about. It is never the running day, whose figures go on; null when the first of the 92 days is none of the three',
    `days_differing` Int64 COMMENT 'Number of days that differ now: drift that repairing did not help',
    `differing` Array(Date32) COMMENT 'The days that differ now',
    `days_asked` Int64 COMMENT 'Number of days that have a verdict',
    `asked_at` DateTime64(6, '{{zone}}') COMMENT 'When the service was asked for the newest verdict stored; a later one that says the same is not stored'
)
AS SELECT
    business_id, source, CAST(nullIf(place, ''), 'LowCardinality(Nullable(String))') AS location_id,
    first_day,
    if(proven_days = 0, NULL, toNullable(base - toInt32(days_before))) AS proven_from,
    if(proven_days = 0, NULL, toNullable(base + toInt32(proven_days - 1))) AS proven_until,
    toInt64(length(differing)) AS days_differing,
    differing, days_asked, asked_at
FROM
(
    SELECT
        business_id, place,
        asked.1 AS source, asked.4 AS differing, asked.5 AS days_asked, asked.6 AS asked_at,
        ifNull(first_order_day, asked.2) AS first_day,
        greatest(first_day, asked.7 - 91) AS base,
        arrayFilter(day -> day >= base, asked.3) AS good,
        arrayCount((day, n) -> toInt32(day) - toInt32(base) = n - 1, good, arrayEnumerate(good)) AS proven_days,
        arrayReverse(arrayFilter(day -> day >= first_day AND day < base, asked.3)) AS before,
        arrayCount((day, n) -> toInt32(base) - toInt32(day) = n, before, arrayEnumerate(before)) AS days_before
    FROM
    (
        SELECT business_id, place, min(order_day) AS first_order_day, groupArrayArray(asked_by_source) AS asked_by_sources
        FROM
        (
            SELECT business_id, place, NULL::Nullable(Date32) AS order_day, CAST(groupArray(
                (source, first_asked_day, good, bad, days_asked, source_asked_at, last_asked_day)), 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'{{zone}}\'), Date32))') AS asked_by_source
            FROM
            (
                SELECT
                    business_id, source, place,
                    min(day) AS first_asked_day,
                    max(day) AS last_asked_day,
                    -- Of a day that is not over, proven says that the figures were equal when they were asked for.
                    arraySort(groupArrayIf(day, worst <= 2 AND daily > 0 AND day < toDate32(now('{{zone}}')))) AS good,
                    arraySort(groupArrayIf(day, worst = 5)) AS bad,
                    count() AS days_asked,
                    max(day_asked_at) AS source_asked_at
                FROM
                (
                    SELECT
                        business_id, source, toString(location_id) AS place, day,
                        max(transform(verdict, ['proven', 'healed', 'explained', 'unsettled', 'unproven', 'drift'], [0, 1, 2, 3, 4, 5], 4)::UInt8) AS worst,
                        countIf(subject = 'daily') AS daily,
                        max(proofs.asked_at) AS day_asked_at
                    FROM `{{raw}}`.`proofs` AS proofs FINAL
                    WHERE verdict != 'withdrawn'
                    GROUP BY business_id, source, place, day
                )
                GROUP BY business_id, source, place
            )
            GROUP BY business_id, place

            UNION ALL

            SELECT business_id, place, toNullable(min(business_day)) AS order_day, CAST([], 'Array(Tuple(LowCardinality(String), Date32, Array(Date32), Array(Date32), Int64, DateTime64(6, \'{{zone}}\'), Date32))') AS asked_by_source
            FROM
            (
                SELECT business_id, toString(location_id) AS order_place, business_day
                FROM `{{raw}}`.`sales_orders`
                WHERE _deleted = 0 OR location_id != ''
            )
            ARRAY JOIN ['', order_place] AS place
            GROUP BY business_id, place
        )
        GROUP BY business_id, place
    )
    ARRAY JOIN asked_by_sources AS asked
)
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per source and location, and one (location_id null) for all locations of the source together: until which day it is proven, and which days differ';
