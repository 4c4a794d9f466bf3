-- Sales. An order keeps its lines, payments and refunds in its own row, as arrays of
-- one length, so that it is replaced as one. No partitions: a tombstone carries no day.

CREATE TABLE IF NOT EXISTS {{storage "sales_orders"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Order id',
    `number` Nullable(String) COMMENT 'Order number on receipts',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `table_id` Nullable(String) COMMENT 'Table',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `created_at` DateTime64(6, 'UTC') COMMENT 'When the order was opened (UTC)',
    `updated_at` DateTime64(6, 'UTC') COMMENT 'When the order last changed (UTC); sync goes by it',
    `paid_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the order was paid (UTC)',
    `items.id` Array(String) COMMENT 'Lines: id',
    `items.product_id` Array(Nullable(String)) COMMENT 'Lines: product id; null when the line has no catalogue product',
    `items.name` Array(String) COMMENT 'Lines: name on the receipt',
    `items.variant_id` Array(Nullable(String)) COMMENT 'Lines: variant id; null when there is none',
    `items.variant_name` Array(Nullable(String)) COMMENT 'Lines: variant name',
    `items.quantity` Array(Decimal(38, 10)) COMMENT 'Lines: quantity',
    `items.weight_kg` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: weight, kg, of a product sold by weight',
    `items.price_per_kg` Array(Nullable(Decimal(18, 2))) COMMENT 'Lines: price per kilogram, RON, of a product sold by weight',
    `items.unit_price` Array(Decimal(18, 2)) COMMENT 'Lines: price of one unit, RON',
    `items.extras_name` Array(Array(String)) COMMENT 'Lines: names of the extras of each line',
    `items.extras_price` Array(Array(Decimal(18, 2))) COMMENT 'Lines: price of each extra per unit, RON',
    `items.discount_percent` Array(Decimal(38, 10)) COMMENT 'Lines: line discount, percent',
    `items.vat_rate` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: VAT, percent, included in prices',
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x unit price x (1 - discount) + extras x quantity, RON',
    `totals_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON',
    `totals_discount` Decimal(18, 2) COMMENT 'Order-level discount, RON',
    `totals_delivery_fee` Decimal(18, 2) COMMENT 'Delivery fee, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON; not part of net sales',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer paid, RON',
    `totals_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - deposit; refunds are not subtracted',
    `payments.method` Array(LowCardinality(String)) COMMENT 'Payments: method (cash, card, card_at_counter, online, voucher, protocol, other)',
    `payments.amount` Array(Decimal(18, 2)) COMMENT 'Payments: amount, RON',
    `payments.at` Array(DateTime64(6, 'UTC')) COMMENT 'Payments: when (UTC)',
    `refunds.amount` Array(Decimal(18, 2)) COMMENT 'Refunds: amount, RON',
    `refunds.method` Array(LowCardinality(String)) COMMENT 'Refunds: method',
    `refunds.at` Array(DateTime64(6, 'UTC')) COMMENT 'Refunds: when (UTC); a refund counts on its own day in Europe/Bucharest',
    `refunds.item_id` Array(Nullable(String)) COMMENT 'Refunds: line refunded; null when it is not one line',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service deleted the row (UTC); null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service said so), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
    INDEX business_day_minmax business_day TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Paid orders that are not cancelled, with their lines, payments and refunds';

{{distributed "sales_orders" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "sales_daily"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT '<date> for all locations together, <date>/<location id> for one',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the totals are of; null is all locations together',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
    `orders` Int64 COMMENT 'Paid orders that are not cancelled',
    `net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted',
    `items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON',
    `discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON',
    `delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON',
    `tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales',
    `deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales',
    `payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house',
    `by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON',
    `by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service deleted the row (UTC); null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service said so), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3))
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Daily totals as the service reports them';

{{distributed "sales_daily" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "sales_products"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT '<date>/p/<product id>, or <date>/n/<name> for lines without a catalogue product',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
    `product_id` Nullable(String) COMMENT 'Product id; null for lines with no catalogue product, which come one row per name',
    `name` String COMMENT 'Name it was last sold under that day',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `quantity` Decimal(38, 10) COMMENT 'Quantity sold',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight sold, kg, of a product sold by weight',
    `gross` Decimal(18, 2) COMMENT 'Quantity x unit price + extras, RON',
    `line_discounts` Decimal(18, 2) COMMENT 'Line discounts, RON',
    `net` Decimal(18, 2) COMMENT 'What the lines sold for, RON; order-level discounts are not spread over products',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service deleted the row (UTC); null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service said so), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3))
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Sales of each product by day, as the service reports them';

{{distributed "sales_products" "business_id"}}
