CREATE OR REPLACE VIEW `{{db}}`.`schema_drift`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `stream` LowCardinality(String) COMMENT 'Stream: one list of the API',
    `kind` LowCardinality(String) COMMENT 'field: a field that is not known, kept in _raw. value: a value that is not known, or a key of a map such as payments or channels. A value is stored like any other. What stands under such a key is in the map when it fits, else in _raw only. digits: an instant beyond the microsecond, or a number beyond ten decimals, was cut to its column; it is whole in _raw. totals: the totals of an answer of /sales/daily are not the sum of its days; each day is stored',
    `path` String COMMENT 'Path of the field, such as items.discount_code',
    `example` String COMMENT 'JSON of the first one seen, cut to 200 bytes',
    `row_id` String COMMENT 'Id of a row that had it',
    `first_seen_at` DateTime64(6, '{{zone}}') COMMENT 'When it was first seen'
)
AS SELECT
    business_id, source, stream, kind, path,
    argMin(seen.example, seen_at) AS example, argMin(row_id, seen_at) AS row_id, min(seen_at) AS first_seen_at
FROM `{{raw}}`.`schema_drift` AS seen
GROUP BY business_id, source, stream, kind, path, if(kind = 'value', seen.example, '')
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per source, stream and field or value of the API that this version of Larder does not know, or field whose digits were cut, or total that is not the sum of its days';
