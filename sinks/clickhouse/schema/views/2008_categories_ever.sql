CREATE OR REPLACE VIEW `{{db}}`.`categories_ever`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `category_id` String COMMENT 'Category: joins with categories on (business_id, id) while it is there',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location; null when the category is shared by every location, or never was seen',
    `removed` Bool COMMENT 'Whether it was removed in the service',
    `removed_reason` LowCardinality(Nullable(String)) COMMENT 'Why it was removed: deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); null while it is there',
    `removed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service removed it, or of one that is gone when Larder found that; null while it is there, and when it is not known'
)
AS SELECT business_id, category_id, nullIf(last_name, '') AS category_name, last_location.1 AS location_id, toBool(last_state.1) AS removed, if(removed, last_state.2, NULL) AS removed_reason, if(removed, last_state.3, NULL) AS removed_at
FROM
(
    SELECT business_id, id AS category_id, argMax(name, _version) AS last_name, argMax(tuple(categories.location_id), _version) AS last_location, argMax((_deleted, _delete_reason, ifNull(_deleted_at, _tombstone_updated_at)), _version) AS last_state
    FROM `{{raw}}`.`categories` AS categories
    GROUP BY business_id, id
)
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and menu category, removed ones included';
