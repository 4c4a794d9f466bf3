CREATE TABLE IF NOT EXISTS `{{raw}}`.`quarantine{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `row_id` String COMMENT 'Id of the row; empty when it had none',
    `content` String COMMENT 'Tells rows without an id apart: their JSON; empty for the others',
    `field` String COMMENT 'Path of the value that could not be understood, such as items.3.unit_price',
    `reason` String COMMENT 'What is wrong with it',
    `raw` String COMMENT 'JSON of the row as received' CODEC(ZSTD(3)),
    `fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with it',
    `released_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When a later fetch of the row was good; null while the entry is open',
    `_version` UInt64 COMMENT 'Version of the entry: the highest one is the current one'
)
ENGINE = ReplacingMergeTree(_version)
ORDER BY (source, stream, row_id, content)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Rows that could not be understood; one entry per row id, or per content for rows without an id';
