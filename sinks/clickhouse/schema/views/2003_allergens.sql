CREATE OR REPLACE VIEW `{{db}}`.`allergens`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Allergen code: it identifies the allergen within the restaurant',
    `code` String COMMENT 'Stable code from the restaurant catalogue',
    `name` String COMMENT 'Name in Romanian',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT business_id, `id`, `code`, `name`, `_source`, `_fetched_at`, `_raw`
FROM `{{raw}}`.`allergens` FINAL
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and allergen of its catalogue';
