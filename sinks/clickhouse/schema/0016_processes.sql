-- What a full resync and a second process need to know.

{{alter "checkpoints" "ADD COLUMN IF NOT EXISTS `first_version` UInt64 COMMENT 'Full resync: below the version of every row that it brings, and above that of every row stored before it began; 0 for other walks' AFTER `tombstones`"}}

CREATE TABLE IF NOT EXISTS {{storage "processes"}}
(
    `process_id` String COMMENT 'One run of the program; never used again by another run',
    `name` String COMMENT 'Host and process id',
    `beat_at` DateTime64(6, 'UTC') COMMENT 'When it last said that it is alive, by the clock of the warehouse (UTC)',
    `alive_since` DateTime64(6, 'UTC') COMMENT 'Since when it has said so without a silence that was too long (UTC)'
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
    `since` DateTime64(6, 'UTC') COMMENT 'When the claim was made, by the clock of the warehouse (UTC)',
    `stated_at` DateTime64(6, 'UTC') COMMENT 'When the claim was last stored (UTC)',
    `given_up` Bool COMMENT 'Whether the process wants the source no more'
)
ENGINE = {{replacing ""}}
ORDER BY (process_id, source)
TTL toDateTime(stated_at) + INTERVAL 1 DAY
SETTINGS {{settings}}
COMMENT 'Which run of the program wants to serve which source: of those alive the earliest does';

{{distributed "claims" "process_id"}}
