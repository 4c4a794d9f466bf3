CREATE OR REPLACE VIEW `{{db}}`.`locations_ever`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `location_id` String COMMENT 'Location: joins with locations on (business_id, id) while the keys may use it',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `removed` Bool COMMENT 'Whether it was removed in the service',
    `removed_reason` LowCardinality(Nullable(String)) COMMENT 'Why it was removed: deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); null while it is there',
    `removed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service removed it, or of one that is gone when Larder found that; null while it is there, and when it is not known'
)
AS SELECT business_id, business_name, location_id, nullIf(last_name, '') AS location_name, toBool(last_state.1) AS removed, if(removed, last_state.2, NULL) AS removed_reason, if(removed, last_state.3, NULL) AS removed_at
FROM
(
    SELECT business_id, id AS location_id, argMax(name, _version) AS last_name, argMax((_deleted, _delete_reason, ifNull(_deleted_at, _tombstone_updated_at)), _version) AS last_state
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and location, removed ones included: the names to join to what was added up by id';
