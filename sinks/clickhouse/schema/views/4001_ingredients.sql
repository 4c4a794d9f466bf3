-- Stock as it is.

CREATE OR REPLACE VIEW `{{db}}`.`ingredients`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `category_id` Nullable(String) COMMENT 'Ingredient category: id',
    `category_name` Nullable(String) COMMENT 'Ingredient category: name',
    `warehouse_id` Nullable(String) COMMENT 'Stock ledger: id',
    `warehouse_name` Nullable(String) COMMENT 'Stock ledger: name',
    `sku` Nullable(String) COMMENT 'Stock keeping unit',
    `barcode` Nullable(String) COMMENT 'Barcode',
    `is_prepared` Bool COMMENT 'Whether it is made in-house from other ingredients',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `created_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the ingredient was created',
    `updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the ingredient last changed; sync goes by it',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, id, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`, location_name, `category_id`, `category_name`, `warehouse_id`, `warehouse_name`, `sku`, `barcode`, `is_prepared`, `allergens.code`, `allergens.name`, `created_at`, `updated_at`, `_source`, `_fetched_at`, `_raw`
FROM (SELECT business_id, id, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`, `category_id`, `category_name`, `warehouse_id`, `warehouse_name`, `sku`, `barcode`, `is_prepared`, `allergens.code`, `allergens.name`, `created_at`, `updated_at`, `_source`, `_fetched_at`, `_raw` FROM `{{raw}}`.`ingredients` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1) AS rows
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
COMMENT 'One row per restaurant, location and ingredient, with its current stock. Amounts are in the unit of each ingredient: they do not add up over units';
