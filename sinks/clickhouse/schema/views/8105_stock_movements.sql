-- A state that held for no time at all is left out. Few columns of a state are read: each costs
-- planning, whether it is asked for or not.

CREATE OR REPLACE VIEW `{{db}}`.`stock_movements`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When the service dates the movement, or when Larder first saw it',
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
FROM (
    SELECT
        business_id, ingredient_id, ingredient_name, location_id, at, unit, stock, before.2 AS before_stock,
        multiIf(before.1 = 0, 'first_seen', removed AND before.4 = 0, 'removed', NOT removed AND before.4 = 1, 'returned', unit != before.3, 'unit_changed', NULL) AS kind
    FROM
    (
        SELECT
            business_id, id AS ingredient_id, name AS ingredient_name, location_id, valid_from AS at, unit, stock, removed,
            lagInFrame((1, stock, toString(unit), toUInt8(removed))) OVER (
                PARTITION BY business_id, id ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS before
        FROM (
            SELECT
                business_id, id, valid_from,
                leadInFrame(toNullable(valid_from)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
                removed, removed_reason, name, location_id, unit, stock
            FROM
            (
                SELECT
                    business_id, id, _version, removed, removed_reason,
                    -- A state without a date, or with an earlier one than the previous state, begins when Larder saw it, and
                    -- never before the previous one. It comes of a change that left updated_at as it was or was stamped in the
                    -- past, or of a clock that stepped back.
                    max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
                    name, location_id, unit, stock
                FROM
                (
                    SELECT
                        business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                        -- Until then the state before held, whenever it began.
                        max(dated_at) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                        lagInFrame(toNullable(_state)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                        name, location_id, unit, stock
                    FROM `{{raw}}`.`stock_history` AS history FINAL
                )
                WHERE state_before IS NULL OR state_before != _state
            )
        )
        WHERE isNull(valid_to) OR valid_to > valid_from
    )
    WHERE isNotNull(kind) OR (stock != before.2 AND NOT removed)
) AS movements
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
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, ingredient and change of its stock that Larder saw. Amounts are in the unit of each ingredient: they do not add up over units';
