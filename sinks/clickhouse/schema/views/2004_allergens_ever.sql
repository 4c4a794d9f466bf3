CREATE OR REPLACE VIEW `{{db}}`.`allergens_ever`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `code` String COMMENT 'Stable code from the restaurant catalogue: joins with allergens on (business_id, id) while it is there',
    `name` Nullable(String) COMMENT 'Name in Romanian, of a removed one the last; null when it is not known',
    `removed` Bool COMMENT 'Whether it was removed in the service',
    `removed_reason` LowCardinality(Nullable(String)) COMMENT 'Why it was removed: deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); null while it is there',
    `removed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service removed it, or of one that is gone when Larder found that; null while it is there, and when it is not known'
)
AS SELECT business_id, code, nullIf(last_name, '') AS name, toBool(last_state.1) AS removed, if(removed, last_state.2, NULL) AS removed_reason, if(removed, last_state.3, NULL) AS removed_at
FROM
(
    SELECT business_id, id AS code, argMax(allergens.name, _version) AS last_name, argMax((_deleted, _delete_reason, ifNull(_deleted_at, _tombstone_updated_at)), _version) AS last_state
    FROM `{{raw}}`.`allergens` AS allergens
    GROUP BY business_id, id
)
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and allergen, removed ones included';
