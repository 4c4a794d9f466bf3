CREATE TABLE IF NOT EXISTS `{{raw}}`.`stock_history{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, '{{zone}}') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state',
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
)
ENGINE = ReplacingMergeTree()
ORDER BY (business_id, id, _version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Every version of an ingredient stock that was stored';

CREATE MATERIALIZED VIEW IF NOT EXISTS `{{raw}}`.`stock_history_feed`{{on_cluster}} TO `{{raw}}`.`stock_history{{local}}`
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise',
    `valid_from` DateTime64(6, '{{zone}}') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, '{{zone}}') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state',
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
)
AS SELECT
    business_id, id, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`,
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    -- A removal is dated by the first of the two times that the service gave, as removed_at of the views.
    least(_fetched_at, ifNull(if(removed, ifNull(_deleted_at, _tombstone_updated_at), updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    -- The hash covers a fixed list of columns, in this order. A column that is added later is not in it:
    -- with it each state would have another hash, and each product and ingredient would seem to change at
    -- the next full resync. See docs/adding-a-column.md.
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, name, unit, stock, min_stock, below_min))) AS _state
FROM `{{raw}}`.`ingredients{{local}}`
COMMENT 'Writes every version of ingredients to stock_history';
