CREATE TABLE IF NOT EXISTS `{{raw}}`.`sales_products{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT '<date>/p/<product id>, or <date>/n/<name> for lines without a catalogue product',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `product_id` Nullable(String) COMMENT 'Product id; null for lines with no catalogue product, which come one row per name',
    `name` String COMMENT 'Name it was last sold under that day',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `quantity` Decimal(38, 10) COMMENT 'Quantity sold: kilograms where weight_kg is not null, else pieces. Do not add the two up',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight sold, kg, of a product sold by weight',
    `gross` Decimal(18, 2) COMMENT 'Quantity x unit price + extras, RON',
    `line_discounts` Decimal(18, 2) COMMENT 'Line discounts, RON',
    `net` Decimal(18, 2) COMMENT 'What the lines sold for, RON, before order-level discounts, which are not spread over products: the sum of total of sales_items, not of its net',
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
COMMENT 'Sales of each product by day, as the service reports them';
