-- When a state began, for states that the service does not date, or dates before the state
-- that held until then: a change that left updated_at as it was, one stamped in the past, a
-- clock that stepped back. It then began when Larder saw it, and never before the one before.

{{alter "product_history" "ADD COLUMN IF NOT EXISTS `seen_at` DateTime64(6, 'UTC') DEFAULT valid_from COMMENT 'When the service first answered with the state (UTC)' AFTER `valid_from`"}}

{{alter "stock_history" "ADD COLUMN IF NOT EXISTS `seen_at` DateTime64(6, 'UTC') DEFAULT valid_from COMMENT 'When the service first answered with the state (UTC)' AFTER `valid_from`"}}

ALTER TABLE {{feed "product_history_feed"}} MODIFY QUERY
SELECT
    business_id, id, location_id, category_id, name, description, image_url, price, unit,
    vat_rate, deposit, available, `allergens.code`, `allergens.name`, diets, calories,
    prep_minutes, station, channels_enabled, channels_price, `variants.id`, `variants.name`,
    `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`,
    `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
    `extra_groups.options_name`, `extra_groups.options_price`, position,
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    least(_fetched_at, ifNull(if(removed, _deleted_at, updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit,
        available, `allergens.code`, `allergens.name`, diets, calories, prep_minutes, station,
        channels_enabled, channels_price, `variants.id`, `variants.name`, `variants.price`,
        `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`,
        `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
        `extra_groups.options_name`, `extra_groups.options_price`, position))) AS _state
FROM {{local "products"}};

ALTER TABLE {{feed "stock_history_feed"}} MODIFY QUERY
SELECT
    business_id, id, location_id, name, unit, stock, min_stock, below_min,
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    least(_fetched_at, ifNull(if(removed, _deleted_at, updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, name, unit, stock, min_stock, below_min))) AS _state
FROM {{local "ingredients"}};

CREATE OR REPLACE VIEW {{view "product_history"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Product id',
    `valid_from` DateTime64(6, 'UTC') COMMENT 'Since when it was so (UTC): the change as the service dates it; when Larder first saw it if the service does not date it, or dates it before the state that held until then',
    `valid_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Until when it was so (UTC); null for the present state',
    `removed` Bool COMMENT 'true while the row was removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed: deleted, gone, no_access; empty otherwise',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `name` String COMMENT 'Name, the restaurant own text',
    `description` Nullable(String) COMMENT 'Description',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price, RON, VAT included; per kilogram when the unit is kg',
    `unit` LowCardinality(String) COMMENT 'piece, or kg for a product sold by weight',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices',
    `deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) charge per unit, RON',
    `available` Bool COMMENT 'false: sold out right now',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `diets` Array(LowCardinality(String)) COMMENT 'Diets the product suits, such as vegetarian, vegan',
    `calories` Nullable(Int64) COMMENT 'Calories, kcal; null when not set',
    `prep_minutes` Nullable(Int64) COMMENT 'Preparation time, minutes; null when not set',
    `station` LowCardinality(String) COMMENT 'Where it is prepared: kitchen, bar, or a station the restaurant created',
    `channels_enabled` Map(LowCardinality(String), Bool) COMMENT 'Per sales channel (online, platform_a, platform_b): whether it is sold there',
    `channels_price` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Per sales channel (online, platform_a, platform_b): price there, RON',
    `variants.id` Array(String) COMMENT 'Variants: ids; an id changes when the variant is renamed',
    `variants.name` Array(String) COMMENT 'Variants: names',
    `variants.price` Array(Decimal(18, 2)) COMMENT 'Variants: point-of-sale price of one unit, RON',
    `variants.price_delta` Array(Decimal(18, 2)) COMMENT 'Variants: difference from the price of the product, RON; may be negative',
    `extra_groups.id` Array(String) COMMENT 'Groups of extras: ids',
    `extra_groups.name` Array(String) COMMENT 'Groups of extras: names',
    `extra_groups.min` Array(Int64) COMMENT 'Groups of extras: how many options must be chosen',
    `extra_groups.max` Array(Nullable(Int64)) COMMENT 'Groups of extras: how many options may be chosen; null is no limit',
    `extra_groups.required` Array(Bool) COMMENT 'Groups of extras: whether a choice is required',
    `extra_groups.options_id` Array(Array(String)) COMMENT 'Groups of extras: ids of the options of each group',
    `extra_groups.options_name` Array(Array(String)) COMMENT 'Groups of extras: names of the options of each group',
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product',
    `position` Int64 COMMENT 'Place among the products of its category'
)
AS SELECT
    business_id, id, valid_from,
    leadInFrame(toNullable(valid_from)) OVER (
        PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
    removed, removed_reason,
    location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit,
    available, `allergens.code`, `allergens.name`, diets, calories, prep_minutes, station,
    channels_enabled, channels_price, `variants.id`, `variants.name`, `variants.price`,
    `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`,
    `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
    `extra_groups.options_name`, `extra_groups.options_price`, position
FROM
(
    SELECT
        business_id, id, _version, removed, removed_reason,
        max(if(nth = 1 OR dated_at > newest_before, dated_at, seen_at)) OVER (
            PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
        location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit,
        available, `allergens.code`, `allergens.name`, diets, calories, prep_minutes, station,
        channels_enabled, channels_price, `variants.id`, `variants.name`, `variants.price`,
        `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`,
        `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
        `extra_groups.options_name`, `extra_groups.options_price`, position
    FROM
    (
        SELECT
            business_id, id, _version, removed, removed_reason, dated_at, seen_at,
            row_number() OVER (
                PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS nth,
            max(dated_at) OVER (
                PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
            location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit,
            available, `allergens.code`, `allergens.name`, diets, calories, prep_minutes, station,
            channels_enabled, channels_price, `variants.id`, `variants.name`, `variants.price`,
            `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`,
            `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
            `extra_groups.options_name`, `extra_groups.options_price`, position
        FROM
        (
            SELECT
                business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                lagInFrame(toNullable(_state)) OVER (
                    PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit,
                available, `allergens.code`, `allergens.name`, diets, calories, prep_minutes, station,
                channels_enabled, channels_price, `variants.id`, `variants.name`, `variants.price`,
                `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`,
                `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
                `extra_groups.options_name`, `extra_groups.options_price`, position
            FROM {{table "product_history"}} AS history FINAL
        )
        WHERE state_before IS NULL OR state_before != _state
    )
)
COMMENT 'Every state of every product that Larder saw, once each, with when it held';

CREATE OR REPLACE VIEW {{view "stock_history"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `valid_from` DateTime64(6, 'UTC') COMMENT 'Since when it was so (UTC): the change as the service dates it; when Larder first saw it if the service does not date it, or dates it before the state that held until then',
    `valid_to` Nullable(DateTime64(6, 'UTC')) COMMENT 'Until when it was so (UTC); null for the present state',
    `removed` Bool COMMENT 'true while the row was removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed: deleted, gone, no_access; empty otherwise',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum'
)
AS SELECT
    business_id, id, valid_from,
    leadInFrame(toNullable(valid_from)) OVER (
        PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
    removed, removed_reason,
    location_id, name, unit, stock, min_stock, below_min
FROM
(
    SELECT
        business_id, id, _version, removed, removed_reason,
        max(if(nth = 1 OR dated_at > newest_before, dated_at, seen_at)) OVER (
            PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
        location_id, name, unit, stock, min_stock, below_min
    FROM
    (
        SELECT
            business_id, id, _version, removed, removed_reason, dated_at, seen_at,
            row_number() OVER (
                PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS nth,
            max(dated_at) OVER (
                PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
            location_id, name, unit, stock, min_stock, below_min
        FROM
        (
            SELECT
                business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                lagInFrame(toNullable(_state)) OVER (
                    PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                location_id, name, unit, stock, min_stock, below_min
            FROM {{table "stock_history"}} AS history FINAL
        )
        WHERE state_before IS NULL OR state_before != _state
    )
)
COMMENT 'Every state of every ingredient stock that Larder saw, once each, with when it held';
