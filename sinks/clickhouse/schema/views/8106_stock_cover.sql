-- A state that held for no time at all is left out. Few columns of a state are read: each costs
-- planning, whether it is asked for or not.

CREATE OR REPLACE VIEW `{{db}}`.`stock_cover`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `days_seen` Int64 COMMENT 'Whole days before today, at most 28, that Larder has watched the stock: the use is taken from these',
    `used` Decimal(38, 10) COMMENT 'What went out in those days, waste and transfers included: the API does not tell them apart',
    `use_by_weekday` Array(Float64) COMMENT 'Use on an average Monday, Tuesday, ... Sunday of those days; a weekday not yet seen takes the average of all',
    `days_left` Nullable(Float64) COMMENT 'Days until the stock is used up at that use, from now on, by weekday; 0 when there is none, null when nothing was used, or it lasts for more than 90 days',
    `runs_out_on` Nullable(Date32) COMMENT 'Day on which it is used up ({{zone}}); null when days_left is'
)
AS SELECT
    business_id, business_name, ingredient_id, ingredient_name, location_id, location_name, unit, stock, min_stock, below_min,
    days_seen, used, use_by_weekday,
    -- What only the later conditions and values need is computed anew wherever it is named, with all
    -- that it is made of: so the first condition asks for the last.
    multiIf((last = 0 OR used <= 0) AND stock > 0, NULL, stock <= 0, 0,
        -- Whole days, and the part of the last one.
        round(if(last = 1, 0, rest_of_today + last - 2) + if(last = 1, rest_of_today, 1) * (toFloat64(stock) - arraySum(arraySlice(uses, 1, last - 1))) / uses[last], 1)) AS days_left,
    multiIf(stock <= 0, today, used <= 0, NULL, last = 0, NULL, today + (last - 1)) AS runs_out_on
FROM
(
    SELECT *, arrayFirstIndex(use -> use >= toFloat64(stock), arrayCumSum(uses)) AS last
    FROM
    (
        -- What is used of what is left of today, and on the 90 days after it.
        SELECT *, arrayMap(n -> if(n = 0, rest_of_today, 1) * use_by_weekday[toDayOfWeek(today + n)], range(91)) AS uses
        FROM
        (
            SELECT
                *,
                arrayMap((weekday, times) -> if(
                        times = 0,
                        if(days_seen = 0, 0, toFloat64(used) / days_seen),
                        arraySum((of_day, amount) -> if(of_day = weekday, amount, 0), weekdays, amounts) / times),
                    range(1, 8),
                    -- How often the weekday was among the days seen: yesterday is the last of them.
                    arrayMap(weekday -> intDiv(days_seen + 6 - modulo(toDayOfWeek(today) + 13 - weekday, 7), 7), range(1, 8))) AS use_by_weekday
            FROM
            (
                SELECT
                    *,
                    arraySum(counted.2)::Decimal(38, 10) AS used,
                    arrayMap(day -> toDayOfWeek(day), counted.1) AS weekdays,
                    arrayMap(amount -> toFloat64(amount), counted.2) AS amounts
                FROM
                (
                    SELECT
                        *,
                        1 - dateDiff('second', toStartOfDay(now('{{zone}}')), now('{{zone}}')) / 86400 AS rest_of_today,
                        -- What went out of stock in another unit than today's cannot be added to the others.
                        arrayFilter(out -> out.1 < today AND out.1 >= today - days_seen AND out.3 = sipHash64(unit), outs) AS counted
                    FROM
                    (
                        -- Names are joined before anything is computed: a filter on what is computed would go
                        -- below a join, and have all of it planned, and computed, once more.
                        SELECT
                            business_id, business_name, id AS ingredient_id, name AS ingredient_name, location_id, location_name, unit, stock, min_stock, below_min, outs, today,
                            toInt64(greatest(least(dateDiff('day', first_day, today) - 1, 28), 0)) AS days_seen
                        FROM
                        (
                            SELECT business_id, id, name, location_id, unit, stock, min_stock, below_min, toDate32(now('{{zone}}')) AS today
                            FROM `{{raw}}`.`ingredients` FINAL
                            SETTINGS optimize_move_to_prewhere_if_final = 1
                        ) AS held
                        LEFT ANY JOIN (
                            -- What went out of the stock since 28 days ago, as stock_movements has it: day, amount, hash of the unit
                            -- (units are only compared, and texts in arrays of tuples are slow). Windows over years of states would
                            -- take longer than all the rest, so only the versions since then are put in order, in arrays. A version
                            -- is the microsecond it was taken in, or a later one: a day more of them makes good for a clock that is
                            -- slow. All before them were seen earlier, and so began earlier: of those the last state counts, and the
                            -- newest date.
                            -- What is used more than once is named a level below: named beside, it would be planned once for each use.
                            SELECT
                                business_id, id, first_day,
                                arrayFilter(out -> out.2 > 0, arrayMap(
                                    (after, before) -> (toDate32(after.1), if(after.3 = before.3 AND NOT after.4 AND NOT before.4, before.2 - after.2, toDecimal128(0, 10)), after.3),
                                    arrayPopFront(held), arrayPopBack(held))) AS outs
                            FROM
                            (
                                -- A state that held for no time at all is left out.
                                SELECT
                                    business_id, id, first_day,
                                    arrayFilter((state, next_at) -> state.1 != next_at, arrayMap((state, at) -> (at, state.2, state.3, state.4), states, began), arrayShiftLeft(began, 1)) AS held
                                FROM
                                (
                                        -- The highest of the elements up to each. They are in order nearly always: then they are it.
                                        SELECT business_id, id, first_day, states, if(arraySort(states.1) = states.1, states.1, arrayFold(
                                    (highest, one) -> arrayPushBack(highest, if(empty(highest), one, greatest(highest[-1], one))),
                                    if(arraySort(states.1) = states.1, arrayResize(states.1, 0), states.1), arrayResize(states.1, 0))) AS began
                                        FROM
                                        (
                                                    SELECT
                                                        business_id, id, first_day,
                                                        arrayFilter(
                                                            (state, hash, hash_before, nth) -> nth = 1 OR hash != hash_before,
                                                            arrayMap(
                                                                (version, newest_before, nth) -> (if(nth = 1 OR version.6 > newest_before, version.6, version.7), version.3, version.4, version.5),
                                                                -- The highest of the elements up to each. They are in order nearly always: then they are it.
                                                                versions, arrayShiftRight(if(arraySort(versions.6) = versions.6, versions.6, arrayFold(
                                            (highest, one) -> arrayPushBack(highest, if(empty(highest), one, greatest(highest[-1], one))),
                                            if(arraySort(versions.6) = versions.6, arrayResize(versions.6, 0), versions.6), arrayResize(versions.6, 0))), 1), arrayEnumerate(versions)),
                                                            versions.2, arrayShiftRight(versions.2, 1), arrayEnumerate(versions)) AS states
                                                    FROM
                                                    (
                                                        WITH
                                                            toStartOfDay(now('{{zone}}')) AS today_began,
                                                            history.seen_at >= today_began - INTERVAL 28 DAY OR _version >= toUnixTimestamp(today_began - INTERVAL 29 DAY) * 1000000 AS is_recent,
                                                            sipHash64(unit) AS in_unit,
                                                            groupArrayIf((_version, _state, stock, in_unit, removed, valid_from, history.seen_at), is_recent) AS recent
                                                        SELECT
                                                            business_id, id, toDate32(min(history.seen_at)) AS first_day,
                                                            -- Version, hash of the state, stock, hash of the unit, removed, date, when it was seen.
                                                            arrayConcat(
                                                                arrayResize(
                                                                    [tupleConcat(
                                                                        argMaxIf((_version, _state, stock, in_unit, removed), _version, NOT is_recent),
                                                                        (maxIf(valid_from, NOT is_recent), maxIf(history.seen_at, NOT is_recent)))],
                                                                    countIf(NOT is_recent) > 0),
                                                                arraySort(version -> version.1, recent)) AS versions
                                                        FROM `{{raw}}`.`stock_history` AS history
                                                        GROUP BY business_id, id
                                                    )
                                        )
                                )
                            )
                        ) AS watched USING (business_id, id)
                        LEFT ANY JOIN (
                            SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
                            FROM `{{raw}}`.`locations`
                            GROUP BY business_id, id
                        ) AS places USING (business_id, location_id)
                        LEFT ANY JOIN (
                            SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
                            FROM `{{raw}}`.`api_keys` AS api_keys
                            GROUP BY business_id
                        ) AS businesses USING (business_id)
                    )
                )
            )
        )
    )
)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and ingredient: how long its stock lasts at the use of the last 28 days. Amounts do not add up over units';
