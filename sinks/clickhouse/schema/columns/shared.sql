{{define "business"}}
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it'
{{end}}

{{define "meta"}}
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with this version of the row',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service deleted the row; null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
{{columns "tombstone"}}
{{end}}

{{define "tombstone"}}
    `_tombstone_updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone',
    `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3))
{{end}}

{{define "origin"}}
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with this version of the row'
{{end}}

{{define "raw"}}
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3))
{{end}}
