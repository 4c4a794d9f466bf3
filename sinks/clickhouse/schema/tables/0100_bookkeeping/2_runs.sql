CREATE TABLE IF NOT EXISTS `{{raw}}`.`runs{{local}}`{{on_cluster}}
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
ENGINE = ReplacingMergeTree()
ORDER BY (source, stream, walk, started_at)
TTL toDateTime(finished_at) + INTERVAL 1 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Walks that brought something, or failed';
