-- How the mirror is doing.

CREATE OR REPLACE VIEW `{{db}}`.`sync_streams`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `state` LowCardinality(String) COMMENT 'running, backfill, off, failing, unreachable, unauthorized, key_disabled, api_disabled, forbidden or starting; empty before the first',
    `detail` String COMMENT 'Why, and the last error',
    `state_since` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Since when it is in this state; null before the first',
    `watermark` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Newest updated_at of the stream that is durable in the warehouse: everything that the service had changed up to then is there; it stands still while nothing changes',
    `updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When a checkpoint of the stream was last stored. A turn that brings nothing stores none: of a quiet stream it may be hours old while each turn goes well; state says whether the last one did, larder status and the metrics how long ago that was',
    `backfill_done` Nullable(Bool) COMMENT 'Whether the backfill reached its end; null when none was begun',
    `backfill_rows` Nullable(Int64) COMMENT 'Rows the backfill brought; null when none was begun',
    `quarantined` Int64 COMMENT 'Rows in quarantine now'
)
AS SELECT
    if(statuses.business_id != '', statuses.business_id, walks.business_id) AS business_id,
    source, stream,
    statuses.state AS state, statuses.detail AS detail, if(statuses.state = '', NULL, statuses.changed_at) AS state_since,
    walks.watermark AS watermark, walks.updated_at AS updated_at,
    walks.backfill_done AS backfill_done, walks.backfill_rows AS backfill_rows,
    ifNull(bad.quarantined, 0) AS quarantined
FROM
(
    SELECT source, stream, business_id, state, detail, changed_at
    FROM `{{raw}}`.`statuses` FINAL
) AS statuses
FULL JOIN
(
    SELECT
        source, stream, any(business_id) AS business_id,
        max(watermark) AS watermark, toNullable(max(updated_at)) AS updated_at,
        maxIf(toNullable(done), walk = 'backfill') AS backfill_done, maxIf(toNullable(rows), walk = 'backfill') AS backfill_rows
    FROM `{{raw}}`.`checkpoints` FINAL
    GROUP BY source, stream
) AS walks USING (source, stream)
LEFT JOIN
(
    SELECT source, stream, toInt64(count()) AS quarantined
    FROM `{{raw}}`.`quarantine` FINAL
    WHERE released_at IS NULL
    GROUP BY source, stream
) AS bad USING (source, stream)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per source and stream: its state and watermark';
