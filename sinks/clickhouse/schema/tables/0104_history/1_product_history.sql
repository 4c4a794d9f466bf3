-- The API only knows the present: these tables keep every version of a product and of a
-- stock that was stored. The views product_history and stock_history collapse the repeats.

CREATE TABLE IF NOT EXISTS `{{raw}}`.`product_history{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Product id',
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
    `channels_enabled` Map(LowCardinality(String), Bool) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): whether it is sold there',
    `channels_price` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): price there, RON',
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
    `position` Int64 COMMENT 'Place among the products of its category',
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, '{{zone}}') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state',
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
)
ENGINE = ReplacingMergeTree()
ORDER BY (business_id, id, _version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Every version of a product that was stored';

CREATE MATERIALIZED VIEW IF NOT EXISTS `{{raw}}`.`product_history_feed`{{on_cluster}} TO `{{raw}}`.`product_history{{local}}`
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Product id',
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
    `channels_enabled` Map(LowCardinality(String), Bool) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): whether it is sold there',
    `channels_price` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): price there, RON',
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
    `position` Int64 COMMENT 'Place among the products of its category',
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, '{{zone}}') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state',
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
)
AS SELECT
    business_id, id, `location_id`, `category_id`, `name`, `description`, `image_url`, `price`, `unit`, `vat_rate`, `deposit`, `available`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`, `station`, `channels_enabled`, `channels_price`, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `position`,
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    -- A removal is dated by the first of the two times that the service gave, as removed_at of the views.
    least(_fetched_at, ifNull(if(removed, ifNull(_deleted_at, _tombstone_updated_at), updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    -- The hash covers a fixed list of columns, in this order. A column that is added later is not in it:
    -- with it each state would have another hash, and each product and ingredient would seem to change at
    -- the next full resync. See docs/adding-a-column.md.
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit, available, `allergens.code`,
        `allergens.name`, diets, calories, prep_minutes, station, channels_enabled, channels_price, `variants.id`, `variants.name`,
        `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`,
        `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, position))) AS _state
FROM `{{raw}}`.`products{{local}}`
COMMENT 'Writes every version of products to product_history';
