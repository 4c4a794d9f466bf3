-- Sales. An order keeps its lines, payments and refunds in its own row, as arrays of
-- one length, so that it is replaced as one. No partitions: a tombstone carries no day.
--
-- The columns that nearly every question of an owner reads are stored with the quicker codec, LZ4:
-- the orders of a day lie all over the rows of a restaurant, so such a column is unpacked whole. Texts
-- that repeat from line to line are LowCardinality: as strings they took most of the time of a query
-- by product.

CREATE TABLE IF NOT EXISTS `{{raw}}`.`sales_orders{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Order id',
    `number` Nullable(String) COMMENT 'Order number on receipts',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `table_id` Nullable(String) COMMENT 'Table',
    `business_day` Date32 COMMENT 'Day the order counts on: day in {{zone}} of created_at' CODEC(LZ4),
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the order was opened',
    `updated_at` DateTime64(6, '{{zone}}') COMMENT 'When the order last changed; of one that is removed, before its removal. Sync goes by it',
    `paid_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was paid',
    `items.id` Array(String) COMMENT 'Lines: id',
    `items.product_id` Array(LowCardinality(Nullable(String))) COMMENT 'Lines: product id; null when the line has no catalogue product',
    `items.name` Array(LowCardinality(String)) COMMENT 'Lines: name on the receipt',
    `items.variant_id` Array(Nullable(String)) COMMENT 'Lines: variant id; null when there is none',
    `items.variant_name` Array(Nullable(String)) COMMENT 'Lines: variant name',
    `items.quantity` Array(Decimal(38, 10)) COMMENT 'Lines: quantity',
    `items.weight_kg` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: weight, kg, of a product sold by weight',
    `items.price_per_kg` Array(Nullable(Decimal(18, 2))) COMMENT 'Lines: price per kilogram, RON, of a product sold by weight',
    `items.unit_price` Array(Decimal(18, 2)) COMMENT 'Lines: price of one unit, RON',
    `items.extras_name` Array(Array(LowCardinality(String))) COMMENT 'Lines: names of the extras of each line',
    `items.extras_price` Array(Array(Decimal(18, 2))) COMMENT 'Lines: price of each extra per unit, RON',
    `items.discount_percent` Array(Decimal(38, 10)) COMMENT 'Lines: line discount, percent',
    `items.vat_rate` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: VAT, percent, included in prices',
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x unit price x (1 - discount) + extras x quantity, RON' CODEC(LZ4),
    `totals_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON' CODEC(LZ4),
    `totals_discount` Decimal(18, 2) COMMENT 'Order-level discount, RON',
    `totals_delivery_fee` Decimal(18, 2) COMMENT 'Delivery fee, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON; not part of net sales',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer paid, RON' CODEC(LZ4),
    `totals_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - deposit; refunds are not subtracted' CODEC(LZ4),
    `payments.method` Array(LowCardinality(String)) COMMENT 'Payments: method (cash, card, card_at_counter, online, voucher, protocol, other)',
    `payments.amount` Array(Decimal(18, 2)) COMMENT 'Payments: amount, RON',
    `payments.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Payments: when',
    `refunds.amount` Array(Decimal(18, 2)) COMMENT 'Refunds: amount, RON',
    `refunds.method` Array(LowCardinality(String)) COMMENT 'Refunds: method',
    `refunds.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Refunds: when; a refund counts on its own day in {{zone}}',
    `refunds.item_id` Array(Nullable(String)) COMMENT 'Refunds: line refunded; null when it is not one line',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service deleted the row; null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
    `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone',
    `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)),
    INDEX business_day_minmax business_day TYPE minmax GRANULARITY 1,
    INDEX created_at_minmax created_at TYPE minmax GRANULARITY 1,
    INDEX paid_at_minmax paid_at TYPE minmax GRANULARITY 1,
    INDEX deleted_at_minmax _deleted_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(_version, _deleted)
ORDER BY (business_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Paid orders that are not cancelled, with their lines, payments and refunds';
