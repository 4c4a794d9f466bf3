-- What Larder itself stores: checkpoints, runs, states, quarantine, drift.
-- The engines without a version column keep the row inserted last.

CREATE TABLE IF NOT EXISTS {{storage "checkpoints"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `watermark` Nullable(DateTime64(6, 'UTC')) COMMENT 'Newest updated_at that is durable (UTC); null before the first',
    `pending` Nullable(DateTime64(6, 'UTC')) COMMENT 'Newest updated_at seen by a walk whose pages came out of order (UTC): the watermark at its end',
    `since` Nullable(DateTime64(6, 'UTC')) COMMENT 'updated_since of the walk under way (UTC)',
    `cursor` String COMMENT 'Cursor that goes on with the walk; empty at its start and after its end',
    `position` String COMMENT 'What a walk without a cursor stores: a day, an ETag',
    `done` Bool COMMENT 'Whether the walk reached its end',
    `pages` Int64 COMMENT 'Pages of the walk so far',
    `rows` Int64 COMMENT 'Rows of the walk so far',
    `tombstones` Int64 COMMENT 'Tombstones of the walk so far',
    `started_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the walk began (UTC)',
    `updated_at` DateTime64(6, 'UTC') COMMENT 'When the checkpoint was made (UTC)'
)
ENGINE = {{replacing ""}}
ORDER BY (source, stream, walk)
SETTINGS {{settings}}
COMMENT 'Where each walk goes on after a crash: the row inserted last is the current one';

{{distributed "checkpoints" "source"}}

CREATE TABLE IF NOT EXISTS {{storage "runs"}}
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
ENGINE = {{replacing ""}}
ORDER BY (source, stream, walk, started_at)
TTL toDateTime(finished_at) + INTERVAL 1 YEAR
SETTINGS {{settings}}
COMMENT 'Walks that brought something, or failed';

{{distributed "runs" "source"}}

CREATE TABLE IF NOT EXISTS {{storage "statuses"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `state` LowCardinality(String) COMMENT 'State of the stream',
    `detail` String COMMENT 'Why, and the last error',
    `changed_at` DateTime64(6, 'UTC') COMMENT 'Since when it is in this state (UTC)'
)
ENGINE = {{replacing ""}}
ORDER BY (source, stream)
SETTINGS {{settings}}
COMMENT 'State of each stream of each source: the row inserted last is the current one';

{{distributed "statuses" "source"}}

CREATE TABLE IF NOT EXISTS {{storage "quarantine"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `row_id` String COMMENT 'Id of the row; empty when it had none',
    `content` String COMMENT 'Tells rows without an id apart: their JSON; empty for the others',
    `field` String COMMENT 'Path of the value that could not be understood, such as items.3.unit_price',
    `reason` String COMMENT 'What is wrong with it',
    `raw` String COMMENT 'JSON of the row as received' CODEC(ZSTD(3)),
    `fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with it (UTC)',
    `released_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When a later fetch of the row was good (UTC); null while the entry is open',
    `_version` UInt64 COMMENT 'Version of the entry: the highest one is the current one'
)
ENGINE = {{replacing "_version"}}
ORDER BY (source, stream, row_id, content)
SETTINGS {{settings}}
COMMENT 'Rows that could not be understood; one entry per row id, or per content for rows without an id';

{{distributed "quarantine" "source"}}

CREATE TABLE IF NOT EXISTS {{storage "schema_drift"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `kind` LowCardinality(String) COMMENT 'field or value',
    `path` String COMMENT 'Path of the field, such as items.discount_code',
    `example` String COMMENT 'JSON of the first one seen, cut to 200 bytes',
    `row_id` String COMMENT 'Id of a row that had it',
    `seen_at` DateTime64(6, 'UTC') COMMENT 'When it was seen (UTC)'
)
ENGINE = {{replacing ""}}
ORDER BY (source, stream, kind, path, example, seen_at)
SETTINGS {{settings}}
COMMENT 'Fields and values of the API that this version of Larder does not know, as reported';

{{distributed "schema_drift" "source"}}
