CREATE TABLE IF NOT EXISTS `{{raw}}`.`schema_drift{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `kind` LowCardinality(String) COMMENT 'field or value',
    `path` String COMMENT 'Path of the field, such as items.discount_code',
    `example` String COMMENT 'JSON of the first one seen, cut to 200 bytes',
    `row_id` String COMMENT 'Id of a row that had it',
    `seen_at` DateTime64(6, '{{zone}}') COMMENT 'When it was seen'
)
ENGINE = ReplacingMergeTree()
ORDER BY (source, stream, kind, path, example, seen_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Fields and values of the API that this version of Larder does not know, as reported';
