CREATE TABLE IF NOT EXISTS `{{raw}}`.`statuses{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `state` LowCardinality(String) COMMENT 'State of the stream',
    `detail` String COMMENT 'Why, and the last error',
    `changed_at` DateTime64(6, '{{zone}}') COMMENT 'Since when it is in this state'
)
ENGINE = ReplacingMergeTree()
ORDER BY (source, stream)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'State of each stream of each source: the row inserted last is the current one';
