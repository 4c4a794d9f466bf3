CREATE TABLE IF NOT EXISTS `{{raw}}`.`processes{{local}}`{{on_cluster}}
(
    `process_id` String COMMENT 'One run of the program; never used again by another run',
    `name` String COMMENT 'Host and process id',
    `beat_at` DateTime64(6, '{{zone}}') COMMENT 'When it last said that it is alive, by the clock of the warehouse',
    `alive_since` DateTime64(6, '{{zone}}') COMMENT 'Since when it has said so without a silence that was too long'
)
ENGINE = ReplacingMergeTree()
ORDER BY process_id
TTL toDateTime(beat_at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Runs of the program that write to this warehouse: the row inserted last is the current one';
