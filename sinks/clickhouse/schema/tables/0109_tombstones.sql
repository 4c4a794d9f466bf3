-- A removed row keeps the JSON and the updated_at of its tombstone beside its own.

ALTER TABLE `{{raw}}`.`locations{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`locations`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`allergens{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`allergens`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`categories{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`categories`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`products{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`products`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`api_keys{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`api_keys`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`ingredients{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`ingredients`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_orders{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_orders`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_daily{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_daily`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_products{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`sales_products`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`menus{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`menus`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`online_orders{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

ALTER TABLE `{{raw}}`.`online_orders`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`;

-- removed_at is one of two columns now, so no filter on it reads the index.
ALTER TABLE `{{raw}}`.`sales_orders{{local}}`{{on_cluster}}
    DROP INDEX IF EXISTS deleted_at_minmax;
