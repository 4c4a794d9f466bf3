-- The close of a day: what a manager counts at closing time.

CREATE OR REPLACE VIEW `{{db}}`.`day_close`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `location_id` LowCardinality(String) COMMENT 'Location',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `date` Date32 COMMENT 'Day ({{zone}})',
    `verdict` LowCardinality(String) COMMENT 'Whether the figures are proven: see reconciliation_by_location; open while the day runs',
    `orders` Int64 COMMENT 'Paid orders that are not cancelled',
    `net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: items - order discounts + delivery fees; refunds are not subtracted',
    `items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON',
    `line_discounts` Decimal(38, 2) COMMENT 'Discounts of lines, RON: items are after them',
    `order_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON',
    `delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON',
    `tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales',
    `deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `taken` Decimal(18, 2) COMMENT 'What was taken, RON: net sales + tips + deposits, less what was on the house (protocol)',
    `cash` Decimal(18, 2) COMMENT 'Payments in cash, RON; tips and deposits included',
    `card` Decimal(18, 2) COMMENT 'Payments by card, RON',
    `card_at_counter` Decimal(18, 2) COMMENT 'Payments by card at the counter, RON',
    `online` Decimal(18, 2) COMMENT 'Payments online, RON',
    `voucher` Decimal(18, 2) COMMENT 'Payments by voucher, RON',
    `protocol` Decimal(18, 2) COMMENT 'On the house, RON',
    `other` Decimal(18, 2) COMMENT 'Payments by other methods, RON, those that the API may add included',
    `refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON, of orders of any day',
    `refunds_by_method` Map(LowCardinality(String), Decimal(38, 2)) COMMENT 'Refunds made that day by method, RON',
    `cash_less_refunds` Decimal(38, 2) COMMENT 'Cash payments less cash refunds of the day, RON: what the day left in the drawer',
    `vat` Decimal(38, 2) COMMENT 'VAT within the lines after all discounts, RON (sales_items has the rule); lines without a rate and delivery fees are left out: the API states no rate for them',
    `vat_by_rate` Map(String, Decimal(38, 2)) COMMENT 'That VAT by rate in percent, RON; lines without a rate are left out, and a rate of 0 has no entry',
    `service_net_sales` Nullable(Decimal(18, 2)) COMMENT 'Net sales as the service reports it, RON; null when it was not asked, and while the day runs',
    `service_items` Nullable(Decimal(18, 2)) COMMENT 'Items as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_discounts` Nullable(Decimal(18, 2)) COMMENT 'Order-level discounts as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_delivery_fees` Nullable(Decimal(18, 2)) COMMENT 'Delivery fees as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_tips` Nullable(Decimal(18, 2)) COMMENT 'Tips as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_deposits` Nullable(Decimal(18, 2)) COMMENT 'Deposits as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_refunds` Nullable(Decimal(18, 2)) COMMENT 'Refunds as the service reports them, RON; null when it was not asked, and while the day runs',
    `service_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method as the service reports them, RON; empty when it was not asked, and while the day runs',
    `service_fetched_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service reported its totals; null when it was not asked, and while the day runs'
)
AS SELECT
    business_id, business_name, location_id, location_name, date, verdict,
    mirror_orders AS orders, mirror_net_sales AS net_sales, mirror_items AS items, lines_discount AS line_discounts,
    mirror_discounts AS order_discounts, mirror_delivery_fees AS delivery_fees, mirror_tips AS tips, mirror_deposits AS deposits,
    net_sales + tips + deposits - protocol AS taken,
    mirror_payments['cash'] AS cash, mirror_payments['card'] AS card, mirror_payments['card_at_counter'] AS card_at_counter,
    mirror_payments['online'] AS online, mirror_payments['voucher'] AS voucher, mirror_payments['protocol'] AS protocol,
    CAST(arraySum(mapValues(mapFilter((method, amount) -> method NOT IN ('cash', 'card', 'card_at_counter', 'online', 'voucher', 'protocol'), mirror_payments))), 'Decimal(18, 2)') AS other,
    mirror_refunds AS refunds, given_back AS refunds_by_method,
    cash - refunds_by_method['cash'] AS cash_less_refunds,
    lines_vat AS vat, lines_vat_by_rate AS vat_by_rate,
    service_net_sales, service_items, service_discounts, service_delivery_fees, service_tips, service_deposits, service_refunds, service_payments, service_fetched_at
FROM `{{db}}`.`reconciliation_by_location` AS days
LEFT ANY JOIN
(
    SELECT
        business_id, location_id, business_day AS date,
        sum(line_discount) AS lines_discount, sum(ifNull(vat_amount, 0)) AS lines_vat,
        CAST(sumMapIf([toString(assumeNotNull(vat_rate))], [assumeNotNull(vat_amount)], isNotNull(vat_amount)), 'Map(String, Decimal(38, 2))') AS lines_vat_by_rate
    FROM `{{db}}`.`sales_lines`
    GROUP BY business_id, location_id, business_day
) AS of_lines USING (business_id, location_id, date)
LEFT ANY JOIN
(
    SELECT business_id, location_id, refund_day AS date, CAST(sumMap([method], [amount]), 'Map(LowCardinality(String), Decimal(38, 2))') AS given_back
    FROM (
        WITH if(isNull(item_id), 0, indexOf(`items.id`, assumeNotNull(item_id))) AS item
        SELECT
            business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
            toInt64(line) AS position, `refunds.amount`[line] AS amount, `refunds.method`[line] AS method, `refunds.at`[line] AS at,
            toDate32(at) AS refund_day, dateDiff('day', business_day, refund_day) AS days_after_order,
            `refunds.item_id`[line] AS item_id,
            if(item = 0, NULL, `items.name`[item]) AS item_name,
            if(item = 0, NULL, `items.product_id`[item]) AS product_id
        FROM `{{raw}}`.`sales_orders` FINAL
        ARRAY JOIN arrayEnumerate(`refunds.amount`) AS line
        SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    GROUP BY business_id, location_id, refund_day
) AS of_refunds USING (business_id, location_id, date)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day: what was sold, paid, refunded and taxed, beside the totals of the service, with the verdict. Tips are in the payments and not in net sales. While a day runs it is open, and the totals of the service are null: about single locations it is asked at night, and would stand hours behind the orders';
