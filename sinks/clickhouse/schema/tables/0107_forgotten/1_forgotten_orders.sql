-- Whose personal data is not kept any more, whatever the configuration says.

CREATE TABLE IF NOT EXISTS `{{raw}}`.`forgotten_orders{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Online order of whose customer nothing is kept any more',
    `chosen_by` LowCardinality(String) COMMENT 'How it was chosen: order, by its id; phone, by that of its customer',
    `forgotten_at` DateTime64(6, '{{zone}}') COMMENT 'When that was decided'
)
ENGINE = ReplacingMergeTree()
ORDER BY (business_id, order_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Online orders whose customers are forgotten: what a later walk brings of them is stored without personal data';
