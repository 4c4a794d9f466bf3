-- How the mirror is doing.

CREATE OR REPLACE VIEW {{view "sync_streams"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `state` LowCardinality(String) COMMENT 'running, backfill, off, failing, unreachable, unauthorized, key_disabled, api_disabled, forbidden or starting; empty before the first',
    `detail` String COMMENT 'Why, and the last error',
    `state_since` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Since when it is in this state; null before the first',
    `watermark` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Newest updated_at of the stream that is durable in the warehouse: everything that the service had changed up to then is there; it stands still while nothing changes',
    `updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When a checkpoint of the stream was last stored. A turn that brings nothing stores none: of a quiet stream it may be hours old while each turn goes well; state says whether the last one did, larder status and the metrics how long ago that was',
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
    FROM {{table "statuses"}} FINAL
) AS statuses
FULL JOIN
(
    SELECT
        source, stream, any(business_id) AS business_id,
        max(watermark) AS watermark, toNullable(max(updated_at)) AS updated_at,
        maxIf(toNullable(done), walk = 'backfill') AS backfill_done, maxIf(toNullable(rows), walk = 'backfill') AS backfill_rows
    FROM {{table "checkpoints"}} FINAL
    GROUP BY source, stream
) AS walks USING (source, stream)
LEFT JOIN
(
    SELECT source, stream, toInt64(count()) AS quarantined
    FROM {{table "quarantine"}} FINAL
    WHERE released_at IS NULL
    GROUP BY source, stream
) AS bad USING (source, stream)
{{joined}}
COMMENT 'One row per source and stream: its state and watermark';

CREATE OR REPLACE VIEW {{view "sync_runs"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `started_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the walk began',
    `finished_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the walk ended',
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
{{plain}}
COMMENT 'One row per walk that brought something, or failed';

CREATE OR REPLACE VIEW {{view "quarantine"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `row_id` String COMMENT 'Id of the row; empty when it had none. An entry with an id closes when a later fetch of the row is good. One without closes when a walk that would bring the row again has not: an incremental one for rows changed since its updated_since, at the latest the next full resync; until then the row may be good again, under an id that nobody can tell',
    `field` String COMMENT 'Path of the value that could not be understood, such as items.3.unit_price',
    `reason` String COMMENT 'What is wrong with it',
    `raw` String COMMENT 'JSON of the row as received',
    `fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with it'
)
AS SELECT business_id, source, stream, row_id, field, reason, raw, fetched_at
FROM {{table "quarantine"}} FINAL
WHERE released_at IS NULL
{{plain}}
COMMENT 'One row per row in quarantine: it could not be understood, and is kept whole until a later fetch is good';

CREATE OR REPLACE VIEW {{view "schema_drift"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `kind` LowCardinality(String) COMMENT 'field: a field that is not known, kept in _raw. value: a value that is not known, or a key of a map such as payments or channels. A value is stored like any other. What stands under such a key is in the map when it fits, else in _raw only. digits: an instant beyond the microsecond, or a number beyond ten decimals, was cut to its column; it is whole in _raw. totals: the totals of an answer of /sales/daily are not the sum of its days; each day is stored',
    `path` String COMMENT 'Path of the field, such as items.discount_code',
    `example` String COMMENT 'JSON of the first one seen, cut to 200 bytes',
    `row_id` String COMMENT 'Id of a row that had it',
    `first_seen_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When it was first seen'
)
AS SELECT
    business_id, source, stream, kind, path,
    argMin(seen.example, seen_at) AS example, argMin(row_id, seen_at) AS row_id, min(seen_at) AS first_seen_at
FROM {{table "schema_drift"}} AS seen
GROUP BY business_id, source, stream, kind, path, if(kind = 'value', seen.example, '')
{{plain}}
COMMENT 'One row per source, stream and field or value of the API that this version of Larder does not know, or field whose digits were cut, or total that is not the sum of its days';
