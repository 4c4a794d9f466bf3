-- The current live rows of locations, menu and keys, and what a product holds, unfolded.

CREATE OR REPLACE VIEW {{view "locations"}}
(
{{shown "business" "business_name" "location" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, {{names "location" "origin" "raw"}}
FROM (SELECT business_id, {{names "location" "origin" "raw"}} FROM {{table "locations"}} FINAL {{quick}}) AS rows
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and location: the active locations the keys may use';

CREATE OR REPLACE VIEW {{view "locations_ever"}}
(
{{shown "business" "business_name"}},
    `location_id` String COMMENT 'Location: joins with locations on (business_id, id) while the keys may use it',
{{shown "location_name"}}
)
AS SELECT business_id, business_name, location_id, location_name
FROM {{template "location_names"}} AS places
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and location, removed ones included: the names to join to what was added up by id';

CREATE OR REPLACE VIEW {{view "allergens"}}
(
{{shown "business" "allergen" "origin" "raw"}}
)
AS SELECT business_id, {{names "allergen" "origin" "raw"}}
FROM {{table "allergens"}} FINAL
{{plain}}
COMMENT 'One row per restaurant and allergen of its catalogue';

CREATE OR REPLACE VIEW {{view "categories"}}
(
{{shown "business" "category" "location_name" "origin" "raw"}}
)
AS SELECT
    business_id, {{names "category"}}, location_name, {{names "origin" "raw"}}
FROM (SELECT business_id, {{names "category" "origin" "raw"}} FROM {{table "categories"}} FINAL {{quick}}) AS rows
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant and menu category';

CREATE OR REPLACE VIEW {{view "products"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Product id',
{{shown "product_state" "location_name" "category_name" "product_dates" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, id, {{names "product_state"}}, location_name, category_name, {{names "product_dates" "origin" "raw"}}
FROM (SELECT business_id, id, {{names "product_state" "product_dates" "origin" "raw"}} FROM {{table "products"}} FINAL {{quick}}) AS rows
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and product, offered online or not (each location has products of its own)';

CREATE OR REPLACE VIEW {{view "products_ever"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id) while it is in the catalogue',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `product_name` Nullable(String) COMMENT 'Name of the product, of a removed one the last',
    `category_id` Nullable(String) COMMENT 'Menu category of the product',
{{shown "category_name"}},
    `available` Bool COMMENT 'Whether it can be ordered now; of a removed one false',
    `removed` Bool COMMENT 'Whether it was removed from the catalogue'
)
AS SELECT
    business_id, product_id, last.1 AS location_id, nullIf(last.2, '') AS product_name, category_id, category_name,
    toBool(last.4 AND last.5 = 0) AS available, toBool(last.5) AS removed
FROM
(
    SELECT
        business_id, id AS product_id, argMax((products.location_id, products.name, products.category_id, products.available, products._deleted), products._version) AS last,
        last.3 AS category_id
    FROM {{table "products"}} AS products
    GROUP BY business_id, id
) AS rows
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
{{joined}}
COMMENT 'One row per restaurant and product, removed ones included: how it is called and where it belongs. It joins with what was sold, whenever that was';

CREATE OR REPLACE VIEW {{view "product_channels"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
{{shown "location_name" "category_name"}},
    `channel` LowCardinality(String) COMMENT 'Sales channel: online, platform_a, platform_b',
    `enabled` Bool COMMENT 'Whether the product is sold there',
    `price` Decimal(18, 2) COMMENT 'Price there, RON'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    channel, enabled, channels_price[channel] AS price
FROM (SELECT business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, channels_enabled, channels_price FROM {{name "products"}})
ARRAY JOIN mapKeys(channels_enabled) AS channel, mapValues(channels_enabled) AS enabled
{{plain}}
COMMENT 'One row per restaurant, product and sales channel';

CREATE OR REPLACE VIEW {{view "product_variants"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
{{shown "location_name" "category_name"}},
    `position` Int64 COMMENT 'Place among the variants of the product, from 1',
    `id` String COMMENT 'Variant id; it changes when the variant is renamed',
    `name` String COMMENT 'Name of the variant',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price of one unit, RON',
    `price_delta` Decimal(18, 2) COMMENT 'Difference from the price of the product, RON; may be negative'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS position, `variants.id`[line] AS id, `variants.name`[line] AS name,
    `variants.price`[line] AS price, `variants.price_delta`[line] AS price_delta
FROM
(
    SELECT
        business_id, id AS product_id, name AS product_name, location_id, location_name, category_name,
        `variants.id`, `variants.name`, `variants.price`, `variants.price_delta`
    FROM {{name "products"}}
)
ARRAY JOIN arrayEnumerate(`variants.id`) AS line
{{plain}}
COMMENT 'One row per restaurant, product and variant';

CREATE OR REPLACE VIEW {{view "product_options"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
{{shown "location_name" "category_name"}},
    `group_position` Int64 COMMENT 'Place of the group among the groups of extras, from 1',
    `group_id` String COMMENT 'Group of extras',
    `group_name` String COMMENT 'Name of the group',
    `group_min` Int64 COMMENT 'How many options must be chosen',
    `group_max` Nullable(Int64) COMMENT 'How many options may be chosen; null is no limit',
    `group_required` Bool COMMENT 'Whether a choice is required',
    `position` Int64 COMMENT 'Place of the option in its group, from 1',
    `id` String COMMENT 'Option id; it changes when the option is renamed',
    `name` String COMMENT 'Name of the option',
    `price` Decimal(18, 2) COMMENT 'Price, RON, added per unit of the product'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS group_position, `extra_groups.id`[line] AS group_id, `extra_groups.name`[line] AS group_name,
    `extra_groups.min`[line] AS group_min, `extra_groups.max`[line] AS group_max, `extra_groups.required`[line] AS group_required,
    toInt64(choice) AS position, `extra_groups.options_id`[line][choice] AS id,
    `extra_groups.options_name`[line][choice] AS name, `extra_groups.options_price`[line][choice] AS price
FROM
(
    SELECT
        business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, line,
        `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`,
        `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`
    FROM {{name "products"}}
    ARRAY JOIN arrayEnumerate(`extra_groups.id`) AS line
)
ARRAY JOIN arrayEnumerate(`extra_groups.options_id`[line]) AS choice
{{plain}}
COMMENT 'One row per restaurant, product, group of extras and option';

CREATE OR REPLACE VIEW {{view "api_keys"}}
(
{{shown "business" "api_key" "origin" "raw"}}
)
AS SELECT business_id, {{names "api_key" "origin" "raw"}}
FROM {{table "api_keys"}} FINAL
{{plain}}
COMMENT 'One row per restaurant and API key: what each configured source may do';
