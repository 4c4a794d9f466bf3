-- A state that held for no time at all is left out. Few columns of a state are read: each costs
-- planning, whether it is asked for or not.

CREATE OR REPLACE VIEW `{{db}}`.`availability_by_id`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product when it was sold out',
    `category_id` Nullable(String) COMMENT 'Menu category of the product at that time',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `sold_out_from` DateTime64(6, '{{zone}}') COMMENT 'Since when it was sold out; when it was so already as Larder first saw it, since its last change before',
    `sold_out_to` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was available again, or was removed from the catalogue; null while it is sold out',
    `minutes` Int64 COMMENT 'Minutes it was sold out; up to now while it is',
    `open_minutes` Nullable(Int64) COMMENT 'Those of them within the opening hours of the location, as its schedule stands today, special days included; null when it has no schedule',
    `open_minutes_a_week` Nullable(Int64) COMMENT 'Minutes that the location is open in a week without special days, as its schedule stands today; null when it has no schedule'
)
AS SELECT
    business_id, product_id, product_name, category_id, location_id,
    sold_out_from, sold_out_to,
    toInt64(intDiv(dateDiff('second', sold_out_from, ended_at), 60)) AS minutes,
    if(arrayExists(closed -> isNotNull(closed), closed_on), toInt64(intDiv(arraySum(
        arrayMap((opens_at, closes_at) -> greatest(0, ifNull(dateDiff('second', greatest(began_at, opens_at), least(ended_at, closes_at)), 0)),
            arrayMap(day -> toDateTime64OrNull(concat(toString(day), ' ', opens[toDayOfWeek(day)], ':00'), 6, '{{zone}}'), open_days),
            arrayMap(day -> toDateTime64OrNull(concat(
                toString(if(ifNull(closes[toDayOfWeek(day)] > opens[toDayOfWeek(day)], true), day, day + 1)), ' ', closes[toDayOfWeek(day)], ':00'), 6, '{{zone}}'), open_days))), 60)), NULL) AS open_minutes,
    nullIf(toInt64(arraySum(
        (opens_at, closes_at) -> ifNull(1 + modulo(closes_at - opens_at - 1 + 1440, 1440), 0),
        arrayMap(at -> toInt32OrNull(substring(at, 1, 2)) * 60 + toInt32OrNull(substring(at, 4, 2)), opens),
        arrayMap(at -> toInt32OrNull(substring(at, 1, 2)) * 60 + toInt32OrNull(substring(at, 4, 2)), closes))), 0) AS open_minutes_a_week
FROM (
    SELECT
        business_id, product_id, product_name, category_id, location_id, valid_from AS sold_out_from, changed_at AS sold_out_to,
        toDateTime64(valid_from, 6, '{{zone}}') AS began_at,
        ifNull(changed_at, now64(6, '{{zone}}')) AS ended_at,
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
            FROM (
                SELECT
                    business_id, id, valid_from,
                    leadInFrame(toNullable(valid_from)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
                    removed, removed_reason, name, category_id, location_id, available
                FROM
                (
                    SELECT
                        business_id, id, _version, removed, removed_reason,
                        -- A state without a date, or with an earlier one than the previous state, begins when Larder saw it, and
                        -- never before the previous one. It comes of a change that left updated_at as it was or was stamped in the
                        -- past, or of a clock that stepped back.
                        max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
                        name, category_id, location_id, available
                    FROM
                    (
                        SELECT
                            business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                            -- Until then the state before held, whenever it began.
                            max(dated_at) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                            lagInFrame(toNullable(_state)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                            name, category_id, location_id, available
                        FROM `{{raw}}`.`product_history` AS history FINAL
                    )
                    WHERE state_before IS NULL OR state_before != _state
                )
            )
            WHERE isNull(valid_to) OR valid_to > valid_from
        )
        WHERE isNull(sold_out_before) OR sold_out_before != sold_out
    ) AS turns
    LEFT ANY JOIN (
        SELECT
            business_id, id AS location_id,
            -- Opening hours of each location, removed ones included, from Monday to Sunday. The special days are
            -- those that differ from their weekday.
            argMax(tuple([opening_hours_monday_open, opening_hours_tuesday_open, opening_hours_wednesday_open, opening_hours_thursday_open, opening_hours_friday_open, opening_hours_saturday_open, opening_hours_sunday_open]), _version).1 AS opens,
            -- A day that ends at 24:00 ends at 00:00 of the next.
            arrayMap(close -> if(close = '24:00', '00:00', close), argMax(tuple([opening_hours_monday_close, opening_hours_tuesday_close, opening_hours_wednesday_close, opening_hours_thursday_close, opening_hours_friday_close, opening_hours_saturday_close, opening_hours_sunday_close]), _version).1) AS closes,
            argMax(tuple([opening_hours_monday_closed, opening_hours_tuesday_closed, opening_hours_wednesday_closed, opening_hours_thursday_closed, opening_hours_friday_closed, opening_hours_saturday_closed, opening_hours_sunday_closed]), _version).1 AS closed_on,
            argMax(tuple(`opening_hours_exceptions.date`), _version).1 AS special_days,
            argMax(tuple(`opening_hours_exceptions.closed`), _version).1 AS special_closed
        FROM `{{raw}}`.`locations`
        GROUP BY business_id, id
    ) AS hours USING (business_id, location_id)
    WHERE sold_out
) AS times
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, product and time that it was sold out (86): availability without the names of restaurant, location and category, which plans less';
