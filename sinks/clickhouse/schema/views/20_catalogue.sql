-- The current live rows of locations, menu and keys, and what a product holds, unfolded.

{{/* Whether a member of a dimension is removed, for views that show removed ones too. */}}
{{define "removal" -}}
    `removed` Bool COMMENT 'Whether it was removed in the service',
    `removed_reason` LowCardinality(Nullable(String)) COMMENT 'Why it was removed: deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); null while it is there',
    `removed_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service removed it, or of one that is gone when Larder found that; null while it is there, and when it is not known'
{{- end}}

{{define "last_state" -}}
    argMax((_deleted, _delete_reason, {{removedAt}}), _version) AS last_state
{{- end}}

{{define "removal_values" -}}
    toBool(last_state.1) AS removed, if(removed, last_state.2, NULL) AS removed_reason, if(removed, last_state.3, NULL) AS removed_at
{{- end}}

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
{{shown "location_name"}},
{{template "removal"}}
)
AS SELECT business_id, business_name, location_id, nullIf(last_name, '') AS location_name, {{template "removal_values"}}
FROM
(
    SELECT business_id, id AS location_id, argMax(name, _version) AS last_name, {{template "last_state"}}
    FROM {{table "locations"}}
    GROUP BY business_id, id
) AS places
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

CREATE OR REPLACE VIEW {{view "allergens_ever"}}
(
{{shown "business"}},
    `code` String COMMENT 'Stable code from the restaurant catalogue: joins with allergens on (business_id, id) while it is there',
    `name` Nullable(String) COMMENT 'Name in Romanian, of a removed one the last; null when it is not known',
{{template "removal"}}
)
AS SELECT business_id, code, nullIf(last_name, '') AS name, {{template "removal_values"}}
FROM
(
    SELECT business_id, id AS code, argMax(allergens.name, _version) AS last_name, {{template "last_state"}}
    FROM {{table "allergens"}} AS allergens
    GROUP BY business_id, id
)
{{plain}}
COMMENT 'One row per restaurant and allergen, removed ones included';

CREATE OR REPLACE VIEW {{view "location_hours"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location',
    `location_name` String COMMENT 'Name of the location',
    `weekday` Int64 COMMENT 'Weekday: 1 is Monday, 7 is Sunday, as toDayOfWeek counts',
    `open` Nullable(String) COMMENT 'Opening time, HH:MM local time; null when it is closed, and when no schedule is set',
    `close` Nullable(String) COMMENT 'Closing time, HH:MM local time; not later than the opening time, it is on the next day. Null when it is closed, and when no schedule is set',
    `closed` Nullable(Bool) COMMENT 'Whether it is closed all day; null when no schedule is set'
)
AS SELECT business_id, location_id, location_name, toInt64(weekday) AS weekday, open, close, closed
FROM
(
    SELECT
        business_id, id AS location_id, name AS location_name,
        [opening_hours_monday_open, opening_hours_tuesday_open, opening_hours_wednesday_open, opening_hours_thursday_open, opening_hours_friday_open, opening_hours_saturday_open, opening_hours_sunday_open] AS opens,
        [opening_hours_monday_close, opening_hours_tuesday_close, opening_hours_wednesday_close, opening_hours_thursday_close, opening_hours_friday_close, opening_hours_saturday_close, opening_hours_sunday_close] AS closes,
        [opening_hours_monday_closed, opening_hours_tuesday_closed, opening_hours_wednesday_closed, opening_hours_thursday_closed, opening_hours_friday_closed, opening_hours_saturday_closed, opening_hours_sunday_closed] AS closed_on
    FROM {{table "locations"}} FINAL
    {{quick}}
)
ARRAY JOIN arrayEnumerate(opens) AS weekday, opens AS open, closes AS close, closed_on AS closed
{{plain}}
COMMENT 'One row per restaurant, location and weekday: its opening hours. Days that differ are in location_exceptions';

CREATE OR REPLACE VIEW {{view "location_exceptions"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location',
    `location_name` String COMMENT 'Name of the location',
    `position` Int64 COMMENT 'Place among the exceptions of the location, from 1',
    `date` Date32 COMMENT 'Day that differs from its weekday (Europe/Bucharest)',
    `closed` Bool COMMENT 'Whether the location is closed that day; if not, the hours of the weekday hold: the API gives no others',
    `reason` Nullable(String) COMMENT 'Why'
)
AS SELECT business_id, id AS location_id, name AS location_name, toInt64(line) AS position, date, closed, reason
FROM (SELECT business_id, id, name, `opening_hours_exceptions.date`, `opening_hours_exceptions.closed`, `opening_hours_exceptions.reason` FROM {{table "locations"}} FINAL {{quick}})
ARRAY JOIN arrayEnumerate(`opening_hours_exceptions.date`) AS line, `opening_hours_exceptions.date` AS date, `opening_hours_exceptions.closed` AS closed, `opening_hours_exceptions.reason` AS reason
{{plain}}
COMMENT 'One row per restaurant, location and day that differs from its weekday';

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

CREATE OR REPLACE VIEW {{view "categories_ever"}}
(
{{shown "business"}},
    `category_id` String COMMENT 'Category: joins with categories on (business_id, id) while it is there',
{{shown "category_name"}},
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location; null when the category is shared by every location, or never was seen',
{{template "removal"}}
)
AS SELECT business_id, category_id, nullIf(last_name, '') AS category_name, last_location.1 AS location_id, {{template "removal_values"}}
FROM
(
    SELECT business_id, id AS category_id, argMax(name, _version) AS last_name, argMax(tuple(categories.location_id), _version) AS last_location, {{template "last_state"}}
    FROM {{table "categories"}} AS categories
    GROUP BY business_id, id
)
{{plain}}
COMMENT 'One row per restaurant and menu category, removed ones included';

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
    `channel` LowCardinality(String) COMMENT 'Sales channel, as orders name it: direct (online ordering, which the API calls online here), platform_a, platform_b',
    `enabled` Bool COMMENT 'Whether the product is sold there',
    `price` Decimal(18, 2) COMMENT 'Price there, RON'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    if(name_of = 'online', 'direct', name_of) AS channel, enabled, channels_price[name_of] AS price
FROM (SELECT business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, channels_enabled, channels_price FROM {{name "products"}})
ARRAY JOIN mapKeys(channels_enabled) AS name_of, mapValues(channels_enabled) AS enabled
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
    `position` Nullable(Int64) COMMENT 'Place of the option in its group, from 1; null, as the rest of the option, of a group without options',
    `id` Nullable(String) COMMENT 'Option id; it changes when the option is renamed',
    `name` Nullable(String) COMMENT 'Name of the option',
    `price` Nullable(Decimal(18, 2)) COMMENT 'Price, RON, added per unit of the product'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS group_position, `extra_groups.id`[line] AS group_id, `extra_groups.name`[line] AS group_name,
    `extra_groups.min`[line] AS group_min, `extra_groups.max`[line] AS group_max, `extra_groups.required`[line] AS group_required,
    nullIf(toInt64(choice), 0) AS position, if(choice = 0, NULL, `extra_groups.options_id`[line][choice]) AS id,
    if(choice = 0, NULL, `extra_groups.options_name`[line][choice]) AS name, if(choice = 0, NULL, `extra_groups.options_price`[line][choice]) AS price
FROM
(
    SELECT
        business_id, id AS product_id, name AS product_name, location_id, location_name, category_name, line,
        `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`,
        `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`
    FROM {{name "products"}}
    ARRAY JOIN arrayEnumerate(`extra_groups.id`) AS line
)
LEFT ARRAY JOIN arrayEnumerate(`extra_groups.options_id`[line]) AS choice
{{plain}}
COMMENT 'One row per restaurant, product, group of extras and option; a group without options has one row';

CREATE OR REPLACE VIEW {{view "product_allergens"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
{{shown "location_name" "category_name"}},
    `position` Int64 COMMENT 'Place among the allergens of the product, from 1',
    `code` String COMMENT 'Allergen code: joins with allergens on (business_id, id)',
    `name` String COMMENT 'Name of the allergen in Romanian, as the product has it'
)
AS SELECT
    business_id, product_id, product_name, location_id, location_name, category_name,
    toInt64(line) AS position, codes[line] AS code, names[line] AS name
FROM
(
    SELECT
        business_id, id AS product_id, products.name AS product_name, location_id, location_name, category_name, `allergens.code` AS codes, `allergens.name` AS names
    FROM {{name "products"}} AS products
)
ARRAY JOIN arrayEnumerate(codes) AS line
{{plain}}
COMMENT 'One row per restaurant, product and allergen that it contains';

CREATE OR REPLACE VIEW {{view "api_keys"}}
(
{{shown "business" "api_key" "origin" "raw"}}
)
AS SELECT business_id, {{names "api_key" "origin" "raw"}}
FROM {{table "api_keys"}} FINAL
{{plain}}
COMMENT 'One row per restaurant and API key: what each configured source may do';
