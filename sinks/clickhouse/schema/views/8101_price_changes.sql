-- What happened to prices, availability and stock, read from the states that were seen. A
-- state that held for no time at all is left out. They read the few columns of a state that
-- they need: each costs planning, whether it is asked for or not.

CREATE OR REPLACE VIEW `{{db}}`.`price_changes`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product at the time of the change',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `channel` LowCardinality(String) COMMENT 'Where the price holds: pos, or a sales channel of the product as orders name it (direct, platform_a, platform_b)',
    `variant_id` Nullable(String) COMMENT 'Variant whose price changed; null for the price of the product itself',
    `variant_name` Nullable(String) COMMENT 'Name of that variant',
    `old_price` Decimal(18, 2) COMMENT 'Price before, RON',
    `new_price` Decimal(18, 2) COMMENT 'Price since, RON',
    `change_percent` Nullable(Float64) COMMENT 'Change as a percentage of the old price, two decimals; null when that was 0',
    `since` DateTime64(6, '{{zone}}') COMMENT 'Since when the new price holds',
    `until` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when it held: when it changed again, or when the product, the channel or the variant was no longer there; null while it holds'
)
AS SELECT
    business_id, business_name, product_id, product_name, location_id, location_name, channel,
    nullIf(price_variant, '') AS variant_id, if(price_variant = '', NULL, price_variant_name) AS variant_name,
    assumeNotNull(price_before) AS old_price, price AS new_price,
    if(old_price = 0, NULL, round((toFloat64(new_price) - toFloat64(old_price)) * 100 / toFloat64(old_price), 2)) AS change_percent,
    valid_from AS since, ifNull(changed_again_at, if(still_there, NULL, gone_at)) AS until
FROM (
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
            FROM (
                SELECT
                    business_id, id, valid_from,
                    leadInFrame(toNullable(valid_from)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
                    removed, removed_reason, name, location_id, price, channels_price, `variants.id`, `variants.name`, `variants.price`
                FROM
                (
                    SELECT
                        business_id, id, _version, removed, removed_reason,
                        -- A state without a date, or with an earlier one than the previous state, begins when Larder saw it, and
                        -- never before the previous one. It comes of a change that left updated_at as it was or was stamped in the
                        -- past, or of a clock that stepped back.
                        max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
                        name, location_id, price, channels_price, `variants.id`, `variants.name`, `variants.price`
                    FROM
                    (
                        SELECT
                            business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                            -- Until then the state before held, whenever it began.
                            max(dated_at) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                            lagInFrame(toNullable(_state)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                            name, location_id, price, channels_price, `variants.id`, `variants.name`, `variants.price`
                        FROM `{{raw}}`.`product_history` AS history FINAL
                    )
                    WHERE state_before IS NULL OR state_before != _state
                )
            )
            WHERE NOT removed AND (isNull(valid_to) OR valid_to > valid_from)
        )
        ARRAY JOIN prices AS price_of
    )
    WHERE price_before != price
) AS changes
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
COMMENT 'One row per restaurant, product, channel (or variant) and change of price that Larder saw';
