-- Every state seen, once each, with when it held; and what happened in between.

CREATE OR REPLACE VIEW `{{db}}`.`product_history`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Product id',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'Since when it was so: the change as the service dates it, or when Larder first saw it',
    `valid_to` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when it was so; null for the present state',
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
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known'
)
AS SELECT
    business_id, business_name, id, valid_from, valid_to, removed, removed_reason, `location_id`, `category_id`, `name`, `description`, `image_url`, `price`, `unit`, `vat_rate`, `deposit`, `available`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`, `station`, `channels_enabled`, `channels_price`, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `position`, location_name, category_name
FROM (
    SELECT
        business_id, id, valid_from,
        leadInFrame(toNullable(valid_from)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to,
        removed, removed_reason, `location_id`, `category_id`, `name`, `description`, `image_url`, `price`, `unit`, `vat_rate`, `deposit`, `available`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`, `station`, `channels_enabled`, `channels_price`, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `position`
    FROM
    (
        SELECT
            business_id, id, _version, removed, removed_reason,
            -- A state without a date, or with an earlier one than the previous state, begins when Larder saw it, and
            -- never before the previous one. It comes of a change that left updated_at as it was or was stamped in the
            -- past, or of a clock that stepped back.
            max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS valid_from,
            `location_id`, `category_id`, `name`, `description`, `image_url`, `price`, `unit`, `vat_rate`, `deposit`, `available`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`, `station`, `channels_enabled`, `channels_price`, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `position`
        FROM
        (
            SELECT
                business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
                -- Until then the state before held, whenever it began.
                max(dated_at) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_before,
                lagInFrame(toNullable(_state)) OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS state_before,
                `location_id`, `category_id`, `name`, `description`, `image_url`, `price`, `unit`, `vat_rate`, `deposit`, `available`, `allergens.code`, `allergens.name`, `diets`, `calories`, `prep_minutes`, `station`, `channels_enabled`, `channels_price`, `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, `position`
            FROM `{{raw}}`.`product_history` AS history FINAL
        )
        WHERE state_before IS NULL OR state_before != _state
    )
) AS states
LEFT ANY JOIN (
    SELECT business_id, id AS category_id, nullIf(argMax(name, _version), '') AS category_name
    FROM `{{raw}}`.`categories`
    GROUP BY business_id, id
) AS categories USING (business_id, category_id)
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
COMMENT 'One row per restaurant, product and state that Larder saw, with when it held';
