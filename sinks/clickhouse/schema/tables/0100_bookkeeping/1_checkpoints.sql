-- What Larder itself stores: checkpoints, runs, states, quarantine, drift, processes, proofs.
-- The engines without a version column keep the row inserted last.

CREATE TABLE IF NOT EXISTS `{{raw}}`.`checkpoints{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `watermark` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Newest updated_at that is durable; null before the first',
    `pending` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Newest updated_at seen by a walk whose pages came out of order: the watermark at its end',
    `since` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'updated_since of the walk under way',
    `cursor` String COMMENT 'Cursor that goes on with the walk; empty at its start and after its end',
    `position` String COMMENT 'What a walk without a cursor stores: a day, an ETag',
    `done` Bool COMMENT 'Whether the walk reached its end',
    `pages` Int64 COMMENT 'Pages of the walk so far',
    `rows` Int64 COMMENT 'Rows of the walk so far',
    `tombstones` Int64 COMMENT 'Tombstones of the walk so far',
    `first_version` UInt64 COMMENT 'Full resync: below the version of every row that it brings, and above that of every row stored before it began; 0 for other walks',
    `started_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the walk began',
    `updated_at` DateTime64(6, '{{zone}}') COMMENT 'When the checkpoint was made'
)
ENGINE = ReplacingMergeTree()
ORDER BY (source, stream, walk)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Where each walk goes on after a crash: the row inserted last is the current one';
