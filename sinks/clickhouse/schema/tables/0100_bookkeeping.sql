-- What Larder itself stores: checkpoints, runs, states, quarantine, drift, processes, proofs.
-- The engines without a version column keep the row inserted last.

CREATE TABLE IF NOT EXISTS {{storage "checkpoints"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `walk` LowCardinality(String) COMMENT 'Kind of walk: incremental, backfill, full, snapshot, totals',
    `watermark` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Newest updated_at that is durable; null before the first',
    `pending` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Newest updated_at seen by a walk whose pages came out of order: the watermark at its end',
    `since` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'updated_since of the walk under way',
    `cursor` String COMMENT 'Cursor that goes on with the walk; empty at its start and after its end',
    `position` String COMMENT 'What a walk without a cursor stores: a day, an ETag',
    `done` Bool COMMENT 'Whether the walk reached its end',
    `pages` Int64 COMMENT 'Pages of the walk so far',
    `rows` Int64 COMMENT 'Rows of the walk so far',
    `tombstones` Int64 COMMENT 'Tombstones of the walk so far',
    `first_version` UInt64 COMMENT 'Full resync: below the version of every row that it brings, and above that of every row stored before it began; 0 for other walks',
    `started_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the walk began',
    `updated_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the checkpoint was made'
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
    `changed_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when it is in this state'
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
    `fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with it',
    `released_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When a later fetch of the row was good; null while the entry is open',
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
    `seen_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When it was seen'
)
ENGINE = {{replacing ""}}
ORDER BY (source, stream, kind, path, example, seen_at)
SETTINGS {{settings}}
COMMENT 'Fields and values of the API that this version of Larder does not know, as reported';

{{distributed "schema_drift" "source"}}

CREATE TABLE IF NOT EXISTS {{storage "processes"}}
(
    `process_id` String COMMENT 'One run of the program; never used again by another run',
    `name` String COMMENT 'Host and process id',
    `beat_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When it last said that it is alive, by the clock of the warehouse',
    `alive_since` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when it has said so without a silence that was too long'
)
ENGINE = {{replacing ""}}
ORDER BY process_id
TTL toDateTime(beat_at) + INTERVAL 1 DAY
SETTINGS {{settings}}
COMMENT 'Runs of the program that write to this warehouse: the row inserted last is the current one';

{{distributed "processes" "process_id"}}

CREATE TABLE IF NOT EXISTS {{storage "claims"}}
(
    `process_id` String COMMENT 'The run of the program that wants the source',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `since` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the claim was made, by the clock of the warehouse',
    `stated_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the claim was last stored',
    `given_up` Bool COMMENT 'Whether the process wants the source no more'
)
ENGINE = {{replacing ""}}
ORDER BY (process_id, source)
TTL toDateTime(stated_at) + INTERVAL 1 DAY
SETTINGS {{settings}}
COMMENT 'Which run of the program wants to serve which source: of those alive the earliest does';

{{distributed "claims" "process_id"}}

CREATE TABLE IF NOT EXISTS {{storage "proofs"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `location_id` LowCardinality(String) COMMENT 'Location the figures are of; empty is all locations of the source together',
    `day` Date32 COMMENT 'Day (Europe/Bucharest)',
    `subject` LowCardinality(String) COMMENT 'What was compared: daily, the figures of /sales/daily; products, those of /sales/products by day',
    `verdict` LowCardinality(String) COMMENT 'proven: the mirrored orders give what the service reports; healed: they differed, were repaired, and are proven now; drift: they differ, and repairing did not help; unsettled: still moving, to be asked again; unproven: could not be asked or compared; withdrawn: none stands any more, since the day is asked for in another way',
    `differences.figure` Array(String) COMMENT 'Figures that differ, and those of a healed day that did: such as net_sales, payments/cash, or p/42: net of a product line',
    `differences.service` Array(String) COMMENT 'Differences: the figure as the service reports it',
    `differences.mirror` Array(String) COMMENT 'Differences: the figure from the mirrored orders',
    `order_ids` Array(String) COMMENT 'Orders involved in the difference, at most 100',
    `requests` Int64 COMMENT 'Requests spent on the day',
    `reason` String COMMENT 'Why it is unproven or unsettled; of a proven day, which entries that the service has added to its maps were not compared, being no amount',
    `asked_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service was asked, by its clock'
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, source, location_id, day, subject)
SETTINGS {{settings}}
COMMENT 'What reconciliation found about each day: the row inserted last is the current one';

{{distributed "proofs" "business_id"}}
