CREATE OR REPLACE VIEW `{{db}}`.`api_keys`{{on_cluster}}
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
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT business_id, `id`, `app_id`, `app_name`, `app_mode`, `business_name`, `scopes`, `location_ids`, `all_locations`, `rate_limits_per_minute`, `rate_limits_business_per_minute`, `rate_limits_heavy_per_minute`, `rate_limits_orders_per_minute`, `webhook_url`, `webhook_configured`, `_source`, `_fetched_at`, `_raw`
FROM `{{raw}}`.`api_keys` FINAL
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and API key: what each configured source may do';
