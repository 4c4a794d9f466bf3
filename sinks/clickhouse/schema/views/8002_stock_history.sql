CREATE OR REPLACE VIEW `{{db}}`.`stock_history`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'Since when it was so: the change as the service dates it, or when Larder first saw it',
    `valid_to` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when it was so; null for the present state',
    `removed` Bool COMMENT 'true while the row was removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed: deleted, gone, no_access; empty otherwise',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known'
)
AS SELECT
    business_id, business_name, id, valid_from, valid_to, removed, removed_reason, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`, location_name
FROM (
    SELECT
        business_id, id, valid_from,
        leadInFrame(toNullable(valid_from)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
        removed, removed_reason, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`
    FROM
    (
        SELECT
            business_id, id, _version, removed, removed_reason,
            -- A state without a date, or with an earlier one than the previous state, begins when Larder saw it, and
            -- never before the previous one. It comes of a change that left updated_at as it was or was stamped in the
            -- past, or of a clock that stepped back.
            max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
            `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`
        FROM
        (
            SELECT
                business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                -- Until then the state before held, whenever it began.
                max(dated_at) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                lagInFrame(toNullable(_state)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`
            FROM `{{raw}}`.`stock_history` AS history FINAL
        )
        WHERE state_before IS NULL OR state_before != _state
    )
) AS states
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
COMMENT 'One row per restaurant, ingredient and state of its stock that Larder saw, with when it held. States do not add up, nor do amounts of different units';
