-- How the mirror is doing.

CREATE OR REPLACE VIEW {{view "sync_streams"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `state` LowCardinality(String) COMMENT 'running, backfill, off, failing, unreachable, unauthorized, key_disabled, api_disabled, forbidden or starting; empty before the first',
    `detail` String COMMENT 'Why, and the last error',
    `state_since` DateTime64(6, 'UTC') COMMENT 'Since when it is in this state (UTC)',
    `watermark` Nullable(DateTime64(6, 'UTC')) COMMENT 'Newest updated_at of the stream that is durable in the warehouse (UTC)',
    `updated_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a checkpoint of the stream was last stored (UTC)',
    `backfill_done` Nullable(Bool) COMMENT 'Whether the backfill reached its end; null when none was begun',
    `backfill_rows` Nullable(Int64) COMMENT 'Rows the backfill brought; null when none was begun',
    `quarantined` Int64 COMMENT 'Rows in quarantine now'
)
AS SELECT
    if(statuses.business_id != '', statuses.business_id, walks.business_id) AS business_id,
    source, stream,
    statuses.state AS state, statuses.detail AS detail, statuses.changed_at AS state_since,
    walks.watermark AS watermark, walks.updated_at AS updated_at,
    walks.backfill_done AS backfill_done, walks.backfill_rows AS backfill_rows,
    ifNull(bad.quarantined, 0) AS quarantined
FROM
(
    SELECT source, stream, business_id, state, detail, changed_at
    FROM {{table "statuses"}} FINAL
) AS statuses
FULL JOIN
(
    -- A stream of named locations has checkpoints for each, as stream@location.
    SELECT
        source, of_stream AS stream, any(of_business) AS business_id,
        min(reached) AS watermark, toNullable(max(stored_at)) AS updated_at,
        min(filled) AS backfill_done, sum(filled_rows) AS backfill_rows
    FROM
    (
        SELECT
            source, toLowCardinality(splitByChar('@', toString(stream))[1]) AS of_stream, any(business_id) AS of_business,
            max(watermark) AS reached, max(updated_at) AS stored_at,
            maxIf(toNullable(done), walk = 'backfill') AS filled,
            maxIf(toNullable(rows), walk = 'backfill') AS filled_rows
        FROM {{table "checkpoints"}} FINAL
        GROUP BY source, stream
    )
    GROUP BY source, of_stream
) AS walks USING (source, stream)
LEFT JOIN
(
    SELECT source, stream, toInt64(count()) AS quarantined
    FROM {{table "quarantine"}} FINAL
    WHERE released_at IS NULL
    GROUP BY source, stream
) AS bad USING (source, stream)
COMMENT 'State of every stream of every source, with its watermark';

CREATE OR REPLACE VIEW {{view "sync_runs"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `started_at` DateTime64(6, 'UTC') COMMENT 'When the walk began (UTC)',
    `finished_at` DateTime64(6, 'UTC') COMMENT 'When the walk ended (UTC)',
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
FROM {{table "runs"}} FINAL
COMMENT 'Walks that brought something, or failed';

CREATE OR REPLACE VIEW {{view "quarantine"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `row_id` String COMMENT 'Id of the row; empty when it had none',
    `field` String COMMENT 'Path of the value that could not be understood, such as items.3.unit_price',
    `reason` String COMMENT 'What is wrong with it',
    `raw` String COMMENT 'JSON of the row as received',
    `fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with it (UTC)'
)
AS SELECT business_id, source, stream, row_id, field, reason, raw, fetched_at
FROM {{table "quarantine"}} FINAL
WHERE released_at IS NULL
COMMENT 'Rows that could not be understood, kept whole until a later fetch is good';

CREATE OR REPLACE VIEW {{view "schema_drift"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `kind` LowCardinality(String) COMMENT 'field or value',
    `path` String COMMENT 'Path of the field, such as items.discount_code',
    `example` String COMMENT 'JSON of the first one seen, cut to 200 bytes',
    `row_id` String COMMENT 'Id of a row that had it',
    `first_seen_at` DateTime64(6, 'UTC') COMMENT 'When it was first seen (UTC)'
)
AS SELECT
    business_id, source, stream, kind, path,
    argMin(seen.example, seen_at) AS example, argMin(row_id, seen_at) AS row_id, min(seen_at) AS first_seen_at
FROM {{table "schema_drift"}} AS seen
GROUP BY business_id, source, stream, kind, path, if(kind = 'value', seen.example, '')
COMMENT 'Fields and values of the API that this version of Larder does not know, once each';
