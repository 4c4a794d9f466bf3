CREATE TABLE IF NOT EXISTS `{{raw}}`.`sales_daily{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT '<date> for all locations together, <date>/<location id> for one',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the totals are of; null is all locations together',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `orders` Int64 COMMENT 'Paid orders that are not cancelled',
    `net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted',
    `items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON',
    `discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON',
    `delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON',
    `tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales. They are part of payments, but the service gives no method of a tip',
    `deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales',
    `payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house',
    `by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON',
    `by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service deleted the row; null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
    `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone',
    `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)),
    INDEX date_minmax date TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(_version, _deleted)
ORDER BY (business_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Daily totals as the service reports them';
