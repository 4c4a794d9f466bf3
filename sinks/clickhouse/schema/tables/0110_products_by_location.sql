-- The sales of products of one location, beside those of all together.

ALTER TABLE `{{raw}}`.`sales_products{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the sales are of; null is all locations together' AFTER `id`,
    COMMENT COLUMN `id` '<date>/p/<product id>, or <date>/n/<name> for lines without a catalogue product; of one location <date>/l/<location id, escaped>/p/<product id>';

ALTER TABLE `{{raw}}`.`sales_products`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the sales are of; null is all locations together' AFTER `id`,
    COMMENT COLUMN `id` '<date>/p/<product id>, or <date>/n/<name> for lines without a catalogue product; of one location <date>/l/<location id, escaped>/p/<product id>';
