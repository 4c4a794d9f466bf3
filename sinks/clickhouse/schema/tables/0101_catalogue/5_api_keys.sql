CREATE TABLE IF NOT EXISTS `{{raw}}`.`api_keys{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Id of the key (app.id)',
    `app_id` String COMMENT 'Id of the key',
    `app_name` String COMMENT 'Name the restaurant gave the key',
    `app_mode` LowCardinality(String) COMMENT 'test or live',
    `business_name` String COMMENT 'Name of the restaurant',
    `scopes` Array(String) COMMENT 'Scopes of the key: locations:read, menu:read, sales:read, stock:read, orders:write',
    `location_ids` Array(String) COMMENT 'Active locations the key may use',
    `all_locations` Bool COMMENT 'true: the key covers every location, those added later included',
    `rate_limits_per_minute` Int64 COMMENT 'Requests a minute for this key',
    `rate_limits_business_per_minute` Int64 COMMENT 'Requests a minute for all keys of the restaurant together',
    `rate_limits_heavy_per_minute` Int64 COMMENT 'Requests a minute to the two sales aggregates together',
    `rate_limits_orders_per_minute` Int64 COMMENT 'Orders placed a minute',
    `webhook_url` Nullable(String) COMMENT 'Where order events are sent',
    `webhook_configured` Bool COMMENT 'Whether order events are sent',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service deleted the row; null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
    `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone',
    `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(_version, _deleted)
ORDER BY (business_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'API keys: what each configured source may do';
