-- What happened to prices, availability and stock, read from the states that were seen. A
-- state that held for no time at all is left out. They read the few columns of a state that
-- they need: each costs planning, whether it is asked for or not.

{{define "price_values" -}}
    channel,
    nullIf(price_variant, '') AS variant_id, if(price_variant = '', NULL, price_variant_name) AS variant_name,
    assumeNotNull(price_before) AS old_price, price AS new_price,
    if(old_price = 0, NULL, round((toFloat64(new_price) - toFloat64(old_price)) * 100 / toFloat64(old_price), 2)) AS change_percent,
    valid_from AS since, ifNull(changed_again_at, if(still_there, NULL, gone_at)) AS until
{{- end}}

{{define "price_rows" -}}
(
    -- Only changes are kept here, so that the next row is the next change.
    SELECT
        business_id, product_id, product_name, location_id, channel, price_variant, price_variant_name, price, price_before, valid_from, still_there, gone_at,
        leadInFrame(toNullable(valid_from)) OVER (
            PARTITION BY business_id, product_id, channel, price_variant ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS changed_again_at
    FROM
    (
        SELECT
            business_id, product_id, product_name, location_id, valid_from, valid_to,
            price_of.1 AS channel, price_of.2 AS price_variant, price_of.3 AS price_variant_name, price_of.4 AS price,
            lagInFrame(toNullable(price)) OVER (
                PARTITION BY business_id, product_id, channel, price_variant ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS price_before,
            max(isNull(valid_to)) OVER (PARTITION BY business_id, product_id, channel, price_variant) AS still_there,
            max(valid_to) OVER (PARTITION BY business_id, product_id, channel, price_variant) AS gone_at
        FROM
        (
            SELECT
                business_id, id AS product_id, name AS product_name, location_id, valid_from, valid_to,
                arrayConcat(
                    [('pos', '', '', price)],
                    arrayMap((channel, channel_price) -> (if(channel = 'online', 'direct', toString(channel)), '', '', channel_price), mapKeys(channels_price), mapValues(channels_price)),
                    arrayMap((variant, variant_name, variant_price) -> ('pos', variant, variant_name, variant_price), `variants.id`, `variants.name`, `variants.price`)) AS prices
            FROM ({{template "states" (history "product_history" "name, location_id, price, channels_price, `variants.id`, `variants.name`, `variants.price`")}})
            WHERE NOT removed AND (isNull(valid_to) OR valid_to > valid_from)
        )
        ARRAY JOIN prices AS price_of
    )
    WHERE price_before != price
)
{{- end}}

CREATE OR REPLACE VIEW {{view "price_changes"}}
(
{{shown "business" "business_name" "product_of" "location_name" "price_change"}}
)
AS SELECT
    business_id, business_name, product_id, product_name, location_id, location_name, {{template "price_values"}}
FROM {{template "price_rows"}} AS changes
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, product, channel (or variant) and change of price that Larder saw';

CREATE OR REPLACE VIEW {{view "price_changes_by_id"}}
(
{{shown "business" "product_of" "price_change"}}
)
AS SELECT
    business_id, product_id, product_name, location_id, {{template "price_values"}}
FROM {{template "price_rows"}} AS changes
{{plain}}
COMMENT 'One row per restaurant, product, channel (or variant) and change of price: price_changes without the names of restaurant and location, which plans less';

{{define "outage_values" -}}
    sold_out_from, sold_out_to,
    toInt64(intDiv(dateDiff('second', sold_out_from, ended_at), 60)) AS minutes,
    if(arrayExists(closed -> isNotNull(closed), closed_on), toInt64(intDiv(arraySum(
        arrayMap((opens_at, closes_at) -> greatest(0, ifNull(dateDiff('second', greatest(began_at, opens_at), least(ended_at, closes_at)), 0)),
            arrayMap(day -> toDateTime64OrNull(concat(toString(day), ' ', opens[toDayOfWeek(day)], ':00'), 6, 'Europe/Bucharest'), open_days),
            arrayMap(day -> toDateTime64OrNull(concat(
                toString(if(ifNull(closes[toDayOfWeek(day)] > opens[toDayOfWeek(day)], true), day, day + 1)), ' ', closes[toDayOfWeek(day)], ':00'), 6, 'Europe/Bucharest'), open_days))), 60)), NULL) AS open_minutes,
    nullIf(toInt64(arraySum(
        (opens_at, closes_at) -> ifNull(1 + modulo(closes_at - opens_at - 1 + 1440, 1440), 0),
        arrayMap(at -> toInt32OrNull(substring(at, 1, 2)) * 60 + toInt32OrNull(substring(at, 4, 2)), opens),
        arrayMap(at -> toInt32OrNull(substring(at, 1, 2)) * 60 + toInt32OrNull(substring(at, 4, 2)), closes))), 0) AS open_minutes_a_week
{{- end}}

{{define "outages" -}}
(
    SELECT
        business_id, product_id, product_name, category_id, location_id, valid_from AS sold_out_from, changed_at AS sold_out_to,
        toDateTime64(valid_from, 6, 'Europe/Bucharest') AS began_at,
        ifNull(changed_at, now64(6, 'Europe/Bucharest')) AS ended_at,
        opens, closes, closed_on,
        -- The day before counts too: it may have closed after midnight.
        arrayFilter(day -> ifNull(NOT closed_on[toDayOfWeek(day)], false) AND NOT (has(special_days, day) AND special_closed[indexOf(special_days, day)]),
            arrayMap(n -> toDate32(began_at) - 1 + n, range(toUInt32(least(greatest(dateDiff('day', began_at, ended_at) + 2, 0), 4000))))) AS open_days
    FROM
    (
        SELECT
            business_id, product_id, product_name, category_id, location_id, valid_from, sold_out,
            leadInFrame(toNullable(valid_from)) OVER (
                PARTITION BY business_id, product_id ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS changed_at
        FROM
        (
            SELECT
                business_id, id AS product_id, name AS product_name, category_id, location_id, valid_from, NOT removed AND NOT available AS sold_out,
                lagInFrame(toNullable(sold_out)) OVER (
                    PARTITION BY business_id, id ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS sold_out_before
            FROM ({{template "states" (history "product_history" "name, category_id, location_id, available")}})
            WHERE isNull(valid_to) OR valid_to > valid_from
        )
        WHERE isNull(sold_out_before) OR sold_out_before != sold_out
    ) AS turns
    LEFT ANY JOIN {{template "opening_hours"}} AS hours USING (business_id, location_id)
    WHERE sold_out
)
{{- end}}

CREATE OR REPLACE VIEW {{view "availability"}}
(
{{shown "business" "business_name" "outage_of" "category_name" "outage_at" "location_name" "outage"}}
)
AS SELECT
    business_id, business_name, product_id, product_name, category_id, category_name, location_id, location_name,
{{template "outage_values"}}
FROM {{template "outages"}} AS times
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, product and time that it was sold out (86) while it was in the catalogue';

CREATE OR REPLACE VIEW {{view "availability_by_id"}}
(
{{shown "business" "outage_of" "outage_at" "outage"}}
)
AS SELECT
    business_id, product_id, product_name, category_id, location_id,
{{template "outage_values"}}
FROM {{template "outages"}} AS times
{{joined}}
COMMENT 'One row per restaurant, product and time that it was sold out (86): availability without the names of restaurant, location and category, which plans less';

{{/* One row per restaurant, ingredient and change of its stock: before and after. */}}
{{define "movements" -}}
(
    SELECT
        business_id, ingredient_id, ingredient_name, location_id, at, unit, stock, before.2 AS before_stock,
        multiIf(before.1 = 0, 'first_seen', removed AND before.4 = 0, 'removed', NOT removed AND before.4 = 1, 'returned', unit != before.3, 'unit_changed', NULL) AS kind
    FROM
    (
        SELECT
            business_id, id AS ingredient_id, name AS ingredient_name, location_id, valid_from AS at, unit, stock, removed,
            lagInFrame((1, stock, toString(unit), toUInt8(removed))) OVER (
                PARTITION BY business_id, id ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS before
        FROM ({{template "states" (history "stock_history" "name, location_id, unit, stock")}})
        WHERE isNull(valid_to) OR valid_to > valid_from
    )
    WHERE isNotNull(kind) OR (stock != before.2 AND NOT removed)
)
{{- end}}

CREATE OR REPLACE VIEW {{view "stock_movements"}}
(
{{shown "business" "business_name"}},
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
{{shown "location_name"}},
    `at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service dates the movement, or when Larder first saw it',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock_before` Nullable(Decimal(38, 10)) COMMENT 'Stock before; null for the first one seen',
    `stock_after` Decimal(38, 10) COMMENT 'Stock after',
    `difference` Nullable(Decimal(38, 10)) COMMENT 'What came in (above 0) or went out (below 0); null when before and after cannot be compared',
    `direction` LowCardinality(Nullable(String)) COMMENT 'in or out; null when there is no difference to tell',
    `kind` LowCardinality(Nullable(String)) COMMENT 'first_seen (the first stock that Larder saw), unit_changed (before and after are in different units), removed or returned (the ingredient was); null for a movement: the API does not say whether it was a sale, a reception, waste, a transfer or a count. Movements between two looks are one'
)
AS SELECT
    business_id, business_name, ingredient_id, ingredient_name, location_id, location_name, at, unit,
    if(kind = 'first_seen', NULL, before_stock) AS stock_before, stock AS stock_after,
    if(kind IN ('first_seen', 'unit_changed', 'removed'), NULL, stock - before_stock) AS difference,
    multiIf(difference > 0, 'in', difference < 0, 'out', NULL) AS direction,
    kind
FROM {{template "movements"}} AS movements
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, ingredient and change of its stock that Larder saw. Amounts are in the unit of each ingredient: they do not add up over units';

{{/* The highest of the elements up to each. They are in order nearly always: then they are it. */}}
{{define "highest_so_far" -}}
    if(arraySort({{.}}) = {{.}}, {{.}}, arrayFold(
        (highest, one) -> arrayPushBack(highest, if(empty(highest), one, greatest(highest[-1], one))),
        if(arraySort({{.}}) = {{.}}, arrayResize({{.}}, 0), {{.}}), arrayResize({{.}}, 0)))
{{- end}}

{{/* One row per restaurant and ingredient: the day on which Larder first saw it, and what went out
of its stock since 28 days ago, as stock_movements has it: day, amount, hash of the unit (units are
only compared, and texts in arrays of tuples are slow). Windows over years of states would take longer
than all the rest, so only the versions since then are put in order, in arrays. A version is the
microsecond it was taken in, or a later one: a day more of them makes good for a clock that is slow. All
before them were seen earlier, and so began earlier: of those the last state counts, and the newest date. */}}
{{define "outs" -}}
(
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
            SELECT business_id, id, first_day, states, {{template "highest_so_far" "states.1"}} AS began
            FROM
            (
                SELECT
                    business_id, id, first_day,
                    arrayFilter(
                        (state, hash, hash_before, nth) -> nth = 1 OR hash != hash_before,
                        arrayMap(
                            (version, newest_before, nth) -> (if(nth = 1 OR version.6 > newest_before, version.6, version.7), version.3, version.4, version.5),
                            versions, arrayShiftRight({{template "highest_so_far" "versions.6"}}, 1), arrayEnumerate(versions)),
                        versions.2, arrayShiftRight(versions.2, 1), arrayEnumerate(versions)) AS states
                FROM
                (
                    WITH
                        toStartOfDay(now('Europe/Bucharest')) AS today_began,
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
                    FROM {{table "stock_history"}} AS history
                    GROUP BY business_id, id
                )
            )
        )
    )
)
{{- end}}

CREATE OR REPLACE VIEW {{view "stock_cover"}}
(
{{shown "business" "business_name"}},
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
{{shown "location_name"}},
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `days_seen` Int64 COMMENT 'Whole days before today, at most 28, that Larder has watched the stock: the use is taken from these',
    `used` Decimal(38, 10) COMMENT 'What went out in those days, waste and transfers included: the API does not tell them apart',
    `use_by_weekday` Array(Float64) COMMENT 'Use on an average Monday, Tuesday, ... Sunday of those days; a weekday not yet seen takes the average of all',
    `days_left` Nullable(Float64) COMMENT 'Days until the stock is used up at that use, from now on, by weekday; 0 when there is none, null when nothing was used, or it lasts for more than 90 days',
    `runs_out_on` Nullable(Date32) COMMENT 'Day on which it is used up (Europe/Bucharest); null when days_left is'
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
                        1 - dateDiff('second', toStartOfDay(now('Europe/Bucharest')), now('Europe/Bucharest')) / 86400 AS rest_of_today,
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
                            SELECT business_id, id, name, location_id, unit, stock, min_stock, below_min, toDate32(now('Europe/Bucharest')) AS today
                            FROM {{table "ingredients"}} FINAL
                            {{quick}}
                        ) AS held
                        LEFT ANY JOIN {{template "outs"}} AS watched USING (business_id, id)
                        LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
                        LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
                    )
                )
            )
        )
    )
)
{{joined}}
COMMENT 'One row per restaurant, location and ingredient: how long its stock lasts at the use of the last 28 days. Amounts do not add up over units';
