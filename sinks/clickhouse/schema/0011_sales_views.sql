-- What an order holds, unfolded; and orders that stopped being sales.

CREATE OR REPLACE VIEW {{view "sales_items"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `ordered_at` DateTime64(6, 'UTC') COMMENT 'When the order was opened (UTC)',
    `position` Int64 COMMENT 'Place of the line within the order, from 1',
    `id` String COMMENT 'Line id',
    `product_id` Nullable(String) COMMENT 'Product id; null when the line has no catalogue product',
    `name` String COMMENT 'Name on the receipt',
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none',
    `variant_name` Nullable(String) COMMENT 'Variant name',
    `quantity` Decimal(38, 10) COMMENT 'Quantity',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight, kg, of a product sold by weight',
    `price_per_kg` Nullable(Decimal(18, 2)) COMMENT 'Price per kilogram, RON, of a product sold by weight',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one unit, RON',
    `discount_percent` Decimal(38, 10) COMMENT 'Line discount, percent',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices',
    `total` Decimal(18, 2) COMMENT 'Quantity x unit price x (1 - discount) + extras x quantity, RON',
    `extras_name` Array(String) COMMENT 'Names of the extras of the line',
    `extras_price` Array(Decimal(18, 2)) COMMENT 'Price of each extra per unit, RON'
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, type, ordered_at,
    toInt64(line) AS position,
    `items.id`[line] AS id,
    `items.product_id`[line] AS product_id,
    `items.name`[line] AS name,
    `items.variant_id`[line] AS variant_id,
    `items.variant_name`[line] AS variant_name,
    `items.quantity`[line] AS quantity,
    `items.weight_kg`[line] AS weight_kg,
    `items.price_per_kg`[line] AS price_per_kg,
    `items.unit_price`[line] AS unit_price,
    `items.discount_percent`[line] AS discount_percent,
    `items.vat_rate`[line] AS vat_rate,
    `items.total`[line] AS total,
    `items.extras_name`[line] AS extras_name,
    `items.extras_price`[line] AS extras_price
FROM
(
    SELECT
        business_id, id AS order_id, business_day, location_id, channel, type, created_at AS ordered_at,
        `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `items.extras_name`, `items.extras_price`
    FROM {{table "sales_orders"}} FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
-- Only the place is unfolded: unfolded columns would all be read, whatever a query asks for.
ARRAY JOIN arrayEnumerate(`items.id`) AS line
COMMENT 'Lines of the live sales orders';

CREATE OR REPLACE VIEW {{view "sales_item_extras"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `ordered_at` DateTime64(6, 'UTC') COMMENT 'When the order was opened (UTC)',
    `item_position` Int64 COMMENT 'Place of the line within the order, from 1',
    `item_id` String COMMENT 'Line id',
    `product_id` Nullable(String) COMMENT 'Product id; null when the line has no catalogue product',
    `item_name` String COMMENT 'Name of the line on the receipt',
    `item_quantity` Decimal(38, 10) COMMENT 'Quantity of the line',
    `position` Int64 COMMENT 'Place of the extra within the line, from 1',
    `name` String COMMENT 'Name of the extra',
    `price` Decimal(18, 2) COMMENT 'Price of the extra per unit of the line, RON'
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, type, ordered_at,
    toInt64(line) AS item_position, line_id AS item_id, line_product_id AS product_id, line_name AS item_name,
    line_quantity AS item_quantity,
    toInt64(extra) AS position, extra_name AS name, extra_price AS price
FROM
(
    SELECT
        business_id, order_id, business_day, location_id, channel, type, ordered_at,
        line, line_id, line_product_id, line_name, line_quantity, line_extras_name, line_extras_price
    FROM
    (
        SELECT
            business_id, id AS order_id, business_day, location_id, channel, type, created_at AS ordered_at,
            `items.id`, `items.product_id`, `items.name`, `items.quantity`, `items.extras_name`, `items.extras_price`
        FROM {{table "sales_orders"}} FINAL
        SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    ARRAY JOIN
        arrayEnumerate(`items.id`) AS line,
        `items.id` AS line_id,
        `items.product_id` AS line_product_id,
        `items.name` AS line_name,
        `items.quantity` AS line_quantity,
        `items.extras_name` AS line_extras_name,
        `items.extras_price` AS line_extras_price
)
ARRAY JOIN
    arrayEnumerate(line_extras_name) AS extra,
    line_extras_name AS extra_name,
    line_extras_price AS extra_price
COMMENT 'Extras of the lines of the live sales orders';

CREATE OR REPLACE VIEW {{view "sales_payments"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `ordered_at` DateTime64(6, 'UTC') COMMENT 'When the order was opened (UTC)',
    `position` Int64 COMMENT 'Place of the payment within the order, from 1',
    `method` LowCardinality(String) COMMENT 'cash, card, card_at_counter, online, voucher, protocol (on the house), other',
    `amount` Decimal(18, 2) COMMENT 'Amount, RON; tips and deposits included',
    `at` DateTime64(6, 'UTC') COMMENT 'When it was paid (UTC)'
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, type, ordered_at,
    toInt64(line) AS position,
    line_method AS method,
    line_amount AS amount,
    line_at AS at
FROM
(
    SELECT
        business_id, id AS order_id, business_day, location_id, channel, type, created_at AS ordered_at,
        `payments.method`, `payments.amount`, `payments.at`
    FROM {{table "sales_orders"}} FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
ARRAY JOIN
    arrayEnumerate(`payments.method`) AS line,
    `payments.method` AS line_method,
    `payments.amount` AS line_amount,
    `payments.at` AS line_at
COMMENT 'Payments of the live sales orders';

CREATE OR REPLACE VIEW {{view "sales_refunds"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Order id',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `ordered_at` DateTime64(6, 'UTC') COMMENT 'When the order was opened (UTC)',
    `position` Int64 COMMENT 'Place of the refund within the order, from 1',
    `amount` Decimal(18, 2) COMMENT 'Amount refunded, RON',
    `method` LowCardinality(String) COMMENT 'How it was refunded',
    `at` DateTime64(6, 'UTC') COMMENT 'When it was refunded (UTC)',
    `item_id` Nullable(String) COMMENT 'Line refunded; null when it is not one line',
    `refund_day` Date32 COMMENT 'Day the refund counts on (Europe/Bucharest)'
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, type, ordered_at,
    toInt64(line) AS position,
    line_amount AS amount,
    line_method AS method,
    line_at AS at,
    line_item_id AS item_id,
    toDate32(toTimeZone(line_at, 'Europe/Bucharest')) AS refund_day
FROM
(
    SELECT
        business_id, id AS order_id, business_day, location_id, channel, type, created_at AS ordered_at,
        `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`
    FROM {{table "sales_orders"}} FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
ARRAY JOIN
    arrayEnumerate(`refunds.amount`) AS line,
    `refunds.amount` AS line_amount,
    `refunds.method` AS line_method,
    `refunds.at` AS line_at,
    `refunds.item_id` AS line_item_id
COMMENT 'Refunds of the live sales orders; a refund counts on the day it was made';

CREATE OR REPLACE VIEW {{view "sales_orders_removed"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Order id',
    `reason` LowCardinality(String) COMMENT 'Why it is no sale any more: cancelled, unpaid or deleted (the service said so), gone (it vanished), no_access (the key lost the location)',
    `removed_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service removed it (UTC); null when it is not known',
    `noticed_at` DateTime64(6, 'UTC') COMMENT 'When Larder learned of it (UTC)',
    `known` Bool COMMENT 'false when Larder never saw the order while it was a sale: its values are then empty',
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
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, removed.reason AS reason, removed.at AS removed_at, removed.noticed_at AS noticed_at, removed.known AS known,
    removed.number AS number, removed.location_id AS location_id, removed.channel AS channel,
    removed.type AS type, removed.table_id AS table_id, removed.business_day AS business_day,
    removed.created_at AS created_at, removed.updated_at AS updated_at,
    removed.paid_at AS paid_at, removed.`items.id` AS `items.id`,
    removed.`items.product_id` AS `items.product_id`, removed.`items.name` AS `items.name`,
    removed.`items.variant_id` AS `items.variant_id`,
    removed.`items.variant_name` AS `items.variant_name`,
    removed.`items.quantity` AS `items.quantity`,
    removed.`items.weight_kg` AS `items.weight_kg`,
    removed.`items.price_per_kg` AS `items.price_per_kg`,
    removed.`items.unit_price` AS `items.unit_price`,
    removed.`items.extras_name` AS `items.extras_name`,
    removed.`items.extras_price` AS `items.extras_price`,
    removed.`items.discount_percent` AS `items.discount_percent`,
    removed.`items.vat_rate` AS `items.vat_rate`, removed.`items.total` AS `items.total`,
    removed.totals_items AS totals_items, removed.totals_discount AS totals_discount,
    removed.totals_delivery_fee AS totals_delivery_fee, removed.totals_tip AS totals_tip,
    removed.totals_deposit AS totals_deposit, removed.totals_total AS totals_total,
    removed.totals_net_sales AS totals_net_sales,
    removed.`payments.method` AS `payments.method`,
    removed.`payments.amount` AS `payments.amount`, removed.`payments.at` AS `payments.at`,
    removed.`refunds.amount` AS `refunds.amount`, removed.`refunds.method` AS `refunds.method`,
    removed.`refunds.at` AS `refunds.at`, removed.`refunds.item_id` AS `refunds.item_id`,
    removed._source AS _source, removed._raw AS _raw
FROM
(
    SELECT business_id, id, max(_version) AS last_version
    FROM {{table "sales_orders"}}
    GROUP BY business_id, id
    HAVING argMax(sales_orders._deleted, sales_orders._version) = 1
) AS current
ANY INNER JOIN
(
    SELECT
        business_id, id, _version AS last_version,
        _delete_reason AS reason, _deleted_at AS at, _fetched_at AS noticed_at, toBool(CAST(location_id, 'String') != '') AS known,
        number, location_id, channel, type, table_id, business_day, created_at, updated_at,
        paid_at, `items.id`, `items.product_id`, `items.name`, `items.variant_id`,
        `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`,
        `items.unit_price`, `items.extras_name`, `items.extras_price`,
        `items.discount_percent`, `items.vat_rate`, `items.total`, totals_items,
        totals_discount, totals_delivery_fee, totals_tip, totals_deposit, totals_total,
        totals_net_sales, `payments.method`, `payments.amount`, `payments.at`,
        `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, _source, _raw
    FROM {{table "sales_orders"}}
    WHERE _deleted = 1
) AS removed USING (business_id, id, last_version)
SETTINGS optimize_aggregation_in_order = 1
COMMENT 'Orders that stopped being sales (cancelled, unpaid, deleted, gone), with their last known values; one that counts again is not listed';
