CREATE TABLE IF NOT EXISTS `{{raw}}`.`order_transitions{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `location_id` LowCardinality(String) COMMENT 'Location that the order was placed at',
    `test` Bool COMMENT 'true: a test order',
    `status` LowCardinality(String) COMMENT 'What the order became: received, accepted, ready, completed, rejected, cancelled',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When, as the service dates it',
    `received_at` DateTime64(6, '{{zone}}') COMMENT 'When Larder first learned of it',
    `via` LowCardinality(String) COMMENT 'What told of it first: webhook or polling',
    `_first` UInt64 COMMENT 'The greater, the earlier it was written: of equal transitions the first stays'
)
ENGINE = ReplacingMergeTree(_first)
ORDER BY (business_id, order_id, status)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Transitions of online orders, as they were first learned of';

CREATE MATERIALIZED VIEW IF NOT EXISTS `{{raw}}`.`order_transitions_feed`{{on_cluster}} TO `{{raw}}`.`order_transitions{{local}}`
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `location_id` LowCardinality(String) COMMENT 'Location that the order was placed at',
    `test` Bool COMMENT 'true: a test order',
    `status` LowCardinality(String) COMMENT 'What the order became: received, accepted, ready, completed, rejected, cancelled',
    `at` DateTime64(6, '{{zone}}') COMMENT 'When, as the service dates it',
    `received_at` DateTime64(6, '{{zone}}') COMMENT 'When Larder first learned of it',
    `via` LowCardinality(String) COMMENT 'What told of it first: webhook or polling',
    `_first` UInt64 COMMENT 'The greater, the earlier it was written: of equal transitions the first stays'
)
AS SELECT
    business_id, id AS order_id, location_id, test, transition.1 AS status, assumeNotNull(transition.2) AS at, _fetched_at AS received_at, via, bitNot(_version) AS _first
FROM `{{raw}}`.`online_orders{{local}}`
ARRAY JOIN arrayFilter(t -> isNotNull(t.2), [
    ('received', ifNull(placed_at, created_at)::Nullable(DateTime64(6, '{{zone}}'))), ('accepted', accepted_at), ('ready', ready_at),
    ('completed', completed_at), ('rejected', rejected_at), ('cancelled', cancelled_at)
]) AS transition
WHERE _deleted = 0
COMMENT 'Writes the transitions of online orders to order_transitions';
