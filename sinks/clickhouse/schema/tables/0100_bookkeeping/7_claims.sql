CREATE TABLE IF NOT EXISTS `{{raw}}`.`claims{{local}}`{{on_cluster}}
(
    `process_id` String COMMENT 'The run of the program that wants the source',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `since` DateTime64(6, '{{zone}}') COMMENT 'When the claim was made, by the clock of the warehouse',
    `stated_at` DateTime64(6, '{{zone}}') COMMENT 'When the claim was last stored',
    `given_up` Bool COMMENT 'Whether the process wants the source no more'
)
ENGINE = ReplacingMergeTree()
ORDER BY (process_id, source)
TTL toDateTime(stated_at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Which run of the program wants to serve which source: of those alive the earliest does';
