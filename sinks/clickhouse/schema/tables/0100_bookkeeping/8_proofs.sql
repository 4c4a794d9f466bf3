CREATE TABLE IF NOT EXISTS `{{raw}}`.`proofs{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration)',
    `location_id` LowCardinality(String) COMMENT 'Location the figures are of; empty is all locations of the source together',
    `day` Date32 COMMENT 'Day ({{zone}})',
    `subject` LowCardinality(String) COMMENT 'What was compared: daily, the figures of /sales/daily; products, those of /sales/products by day',
    `verdict` LowCardinality(String) COMMENT 'proven: the mirrored orders give what the service reports; healed: they differed, were repaired, and are proven now; drift: they differ, and repairing did not help; unsettled: still moving, to be asked again; unproven: could not be asked or compared; withdrawn: none stands any more, since the day is asked for in another way',
    `differences.figure` Array(String) COMMENT 'Figures that differ, and those of a healed day that did: such as net_sales, payments/cash, or p/42: net of a product line',
    `differences.service` Array(String) COMMENT 'Differences: the figure as the service reports it',
    `differences.mirror` Array(String) COMMENT 'Differences: the figure from the mirrored orders',
    `order_ids` Array(String) COMMENT 'Orders involved in the difference, at most 100',
    `requests` Int64 COMMENT 'Requests spent on the day',
    `reason` String COMMENT 'Why it is unproven or unsettled; of a proven day, which entries that the service has added to its maps were not compared, being no amount',
    `asked_at` DateTime64(6, '{{zone}}') COMMENT 'When the service was asked, by its clock'
)
ENGINE = ReplacingMergeTree()
ORDER BY (business_id, source, location_id, day, subject)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'What reconciliation found about each day: the row inserted last is the current one';
