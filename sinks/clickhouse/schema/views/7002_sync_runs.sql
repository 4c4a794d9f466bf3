CREATE OR REPLACE VIEW `{{db}}`.`sync_runs`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `started_at` DateTime64(6, '{{zone}}') COMMENT 'When the walk began',
    `finished_at` DateTime64(6, '{{zone}}') COMMENT 'When the walk ended',
    `requests` Int64 COMMENT 'Requests made',
    `pages` Int64 COMMENT 'Pages received',
    `rows` Int64 COMMENT 'Rows written',
    `unchanged` Int64 COMMENT 'Rows received that were stored already',
    `tombstones` Int64 COMMENT 'Tombstones received',
    `quarantined` Int64 COMMENT 'Rows put into quarantine',
    `error` String COMMENT 'Why it failed; empty when it went well'
)
AS SELECT
    business_id, source, stream, walk, started_at, finished_at,
    requests, pages, rows, unchanged, tombstones, quarantined, error
FROM `{{raw}}`.`runs` FINAL
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per walk that brought something, or failed';
