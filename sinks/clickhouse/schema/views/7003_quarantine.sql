CREATE OR REPLACE VIEW `{{db}}`.`quarantine`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `row_id` String COMMENT 'Id of the row; empty when it had none. An entry with an id closes when a later fetch of the row is good. One without closes when a walk that would bring the row again has not: an incremental one for rows changed since its updated_since, at the latest the next full resync; until then the row may be good again, under an id that nobody can tell',
    `field` String COMMENT 'Path of the value that could not be understood, such as items.3.unit_price',
    `reason` String COMMENT 'What is wrong with it',
    `raw` String COMMENT 'JSON of the row as received',
    `fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with it'
)
AS SELECT business_id, source, stream, row_id, field, reason, raw, fetched_at
FROM `{{raw}}`.`quarantine` FINAL
WHERE released_at IS NULL
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per row in quarantine: it could not be understood, and is kept whole until a later fetch is good';
