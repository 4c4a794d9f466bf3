CREATE OR REPLACE VIEW `{{db}}`.`sales_products_by_location`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `location_id` LowCardinality(String) COMMENT 'Location the sales are of',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `product_id` Nullable(String) COMMENT 'Product id; null for lines with no catalogue product, which come one row per name',
    `name` String COMMENT 'Name it was last sold under that day',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `quantity` Decimal(38, 10) COMMENT 'Quantity sold: kilograms where weight_kg is not null, else pieces. Do not add the two up',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight sold, kg, of a product sold by weight',
    `gross` Decimal(18, 2) COMMENT 'Quantity x unit price + extras, RON',
    `line_discounts` Decimal(18, 2) COMMENT 'Line discounts, RON',
    `net` Decimal(18, 2) COMMENT 'What the lines sold for, RON, before order-level discounts, which are not spread over products: the sum of total of sales_items, not of its net',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `as_of` DateTime64(6, '{{zone}}') COMMENT 'When the service last gave these figures, as far as it is stored: an answer with the same figures is stored again by a full resync only',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, location_id, location_name, `date`, `product_id`, `name`, `category_id`, `quantity`, `weight_kg`, `gross`, `line_discounts`, `net`, category_name, _fetched_at AS as_of,
    `_source`, `_fetched_at`, `_raw`
FROM
(
    SELECT business_id, assumeNotNull(days.location_id) AS location_id, `date`, `product_id`, `name`, `category_id`, `quantity`, `weight_kg`, `gross`, `line_discounts`, `net`, `_source`, `_fetched_at`, `_raw`
    FROM `{{raw}}`.`sales_products` AS days FINAL
    WHERE isNotNull(days.location_id)
    SETTINGS optimize_move_to_prewhere_if_final = 1
) AS days
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
COMMENT 'One row per restaurant, location, day and product sold (of lines without a catalogue product, per name), as the service reports it, with the traps of sales_products (net, quantity): of sources that name locations, and of keys that see some locations. What other sources sold by location is in sales_lines';
