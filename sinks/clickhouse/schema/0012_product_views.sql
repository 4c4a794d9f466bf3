-- What a product holds, unfolded.

CREATE OR REPLACE VIEW {{view "product_channels"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product id',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `product_name` String COMMENT 'Name of the product',
    `channel` String COMMENT 'Sales channel: online, platform_a, platform_b',
    `enabled` Bool COMMENT 'Whether the product is sold on the channel',
    `price` Decimal(18, 2) COMMENT 'Price on the channel, RON'
)
AS SELECT
    business_id, product_id, location_id, product_name,
    channel, enabled, channels_price[channel] AS price
FROM
(
    SELECT business_id, id AS product_id, location_id, name AS product_name, channels_enabled, channels_price
    FROM {{table "products"}} FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
ARRAY JOIN
    mapKeys(channels_enabled) AS channel,
    mapValues(channels_enabled) AS enabled
COMMENT 'Sales channels of the live products: switch and price';

CREATE OR REPLACE VIEW {{view "product_variants"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product id',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `product_name` String COMMENT 'Name of the product',
    `position` Int64 COMMENT 'Place among the variants of the product, from 1',
    `id` String COMMENT 'Variant id; it changes when the variant is renamed',
    `name` String COMMENT 'Name of the variant',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price of one unit with this variant, RON',
    `price_delta` Decimal(18, 2) COMMENT 'Difference from the price of the product, RON; may be negative'
)
AS SELECT
    business_id, product_id, location_id, product_name,
    toInt64(line) AS position, line_id AS id, line_name AS name, line_price AS price, line_price_delta AS price_delta
FROM
(
    SELECT
        business_id, id AS product_id, location_id, name AS product_name,
        `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`
    FROM {{table "products"}} FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
ARRAY JOIN
    arrayEnumerate(`variants.id`) AS line,
    `variants.id` AS line_id,
    `variants.name` AS line_name,
    `variants.price` AS line_price,
    `variants.price_delta` AS line_price_delta
COMMENT 'Variants of the live products; one is chosen per unit sold';

CREATE OR REPLACE VIEW {{view "product_options"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `product_id` String COMMENT 'Product id',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `product_name` String COMMENT 'Name of the product',
    `group_position` Int64 COMMENT 'Place of the group within the product, from 1',
    `group_id` String COMMENT 'Group id',
    `group_name` String COMMENT 'Name of the group',
    `group_min` Int64 COMMENT 'How many options must be chosen',
    `group_max` Nullable(Int64) COMMENT 'How many options may be chosen; null is no limit',
    `group_required` Bool COMMENT 'Whether a choice is required',
    `position` Int64 COMMENT 'Place of the option within the group, from 1',
    `id` String COMMENT 'Option id; it changes when the option is renamed',
    `name` String COMMENT 'Name of the option',
    `price` Decimal(18, 2) COMMENT 'Price added per unit of the product, RON'
)
AS SELECT
    business_id, product_id, location_id, product_name,
    toInt64(line) AS group_position, line_id AS group_id, line_name AS group_name,
    line_min AS group_min, line_max AS group_max, line_required AS group_required,
    toInt64(choice) AS position, choice_id AS id, choice_name AS name, choice_price AS price
FROM
(
    SELECT
        business_id, product_id, location_id, product_name,
        line, line_id, line_name, line_min, line_max, line_required,
        line_options_id, line_options_name, line_options_price
    FROM
    (
        SELECT
            business_id, id AS product_id, location_id, name AS product_name,
            `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`,
            `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`
        FROM {{table "products"}} FINAL
        SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    ARRAY JOIN
        arrayEnumerate(`extra_groups.id`) AS line,
        `extra_groups.id` AS line_id,
        `extra_groups.name` AS line_name,
        `extra_groups.min` AS line_min,
        `extra_groups.max` AS line_max,
        `extra_groups.required` AS line_required,
        `extra_groups.options_id` AS line_options_id,
        `extra_groups.options_name` AS line_options_name,
        `extra_groups.options_price` AS line_options_price
)
ARRAY JOIN
    arrayEnumerate(line_options_id) AS choice,
    line_options_id AS choice_id,
    line_options_name AS choice_name,
    line_options_price AS choice_price
COMMENT 'Options of the groups of extras of the live products';
