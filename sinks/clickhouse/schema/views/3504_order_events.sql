CREATE OR REPLACE VIEW `{{db}}`.`order_events`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order: joins with online_orders on (business_id, id)',
    `location_id` LowCardinality(String) COMMENT 'Location that the order was placed at',
    `test` Bool COMMENT 'true: a test order',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `status` LowCardinality(String) COMMENT 'What the order became: received, accepted, ready, completed, rejected, cancelled',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When, as the service dates it',
    `received_at` DateTime64(6, '{{zone}}') COMMENT 'When Larder first learned of it',
    `via` LowCardinality(String) COMMENT 'What told of it first: webhook or polling',
    `delay_seconds` Float64 COMMENT 'Seconds from the transition until Larder learned of it'
)
AS SELECT
    business_id, order_id, `location_id`, `test`, `location_name`, `status`, `at`, `received_at`, `via`, dateDiff('millisecond', at, received_at) / 1000 AS delay_seconds
FROM (SELECT business_id, order_id, `location_id`, `test`, `status`, `at`, `received_at`, `via` FROM `{{raw}}`.`order_transitions` FINAL) AS events
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, online order and transition, as Larder first learned of it';
