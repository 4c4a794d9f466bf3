CREATE OR REPLACE VIEW `{{db}}`.`categories`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Category id',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location; null when the category is shared by every location',
    `name` String COMMENT 'Name of the category',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `position` Int64 COMMENT 'Place among the categories',
    `created_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the category was created',
    `updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the category last changed; sync goes by it',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, `id`, `location_id`, `name`, `image_url`, `position`, `created_at`, `updated_at`, location_name, `_source`, `_fetched_at`, `_raw`
FROM (SELECT business_id, `id`, `location_id`, `name`, `image_url`, `position`, `created_at`, `updated_at`, `_source`, `_fetched_at`, `_raw` FROM `{{raw}}`.`categories` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1) AS rows
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and menu category';
