CREATE OR REPLACE VIEW `{{db}}`.`sales_daily_computed_by_location`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
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
    `average_order` Nullable(Float64) COMMENT 'Net sales of an order on average, RON, two decimals; null on a day without orders. Of several days divide the sums anew: averages do not add up',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discounts as a percentage of items, two decimals; null when items are 0',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with the newest of these orders'
)
AS SELECT business_id, business_name, location_id, location_name, date, `orders`, `net_sales`, `items`, `discounts`, `delivery_fees`, `tips`, `deposits`, `refunds`, `payments`, `by_type`, `by_channel`, if(orders = 0, NULL, round(toFloat64(net_sales) / orders, 2)) AS average_order,
    if(items = 0, NULL, round(toFloat64(discounts) * 100 / toFloat64(items), 2)) AS discount_percent, _fetched_at
FROM
(
    SELECT business_id, location_id, date, toInt64(sum(day_orders)) AS orders,
    toDecimal64(sum(day_net_sales), 2) AS net_sales, toDecimal64(sum(day_items), 2) AS items, toDecimal64(sum(day_discounts), 2) AS discounts, toDecimal64(sum(day_delivery_fees), 2) AS delivery_fees, toDecimal64(sum(day_tips), 2) AS tips, toDecimal64(sum(day_deposits), 2) AS deposits, toDecimal64(sum(day_refunds), 2) AS refunds, 
    CAST(sumMap(day_payments.1, day_payments.2), 'Map(LowCardinality(String), Decimal(18, 2))') AS payments,
    CAST(sumMap([day_type], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_type,
    CAST(sumMap([day_channel], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_channel,
    max(day_fetched_at) AS _fetched_at
    FROM
    (
        SELECT
            -- Orders count on their own day, refunds on theirs.
            business_id, location_id, business_day AS date, type AS day_type, channel AS day_channel,
            count() AS day_orders,
            sum(totals_net_sales) AS day_net_sales,
            sum(totals_items) AS day_items,
            sum(totals_discount) AS day_discounts,
            sum(totals_delivery_fee) AS day_delivery_fees,
            sum(totals_tip) AS day_tips,
            sum(totals_deposit) AS day_deposits,
            toDecimal128(0, 2) AS day_refunds,
            sumMap(`payments.method`, `payments.amount`) AS day_payments,
            max(_fetched_at) AS day_fetched_at
        FROM `{{raw}}`.`sales_orders` FINAL
        GROUP BY business_id, location_id, business_day, type, channel

        UNION ALL

        SELECT
            business_id, location_id, toDate32(refund_at) AS date, type AS day_type, channel AS day_channel,
            0, 0, 0, 0, 0, 0, 0,
            sum(refund_amount) AS day_refunds,
            (emptyArrayString()::Array(LowCardinality(String)), CAST([], 'Array(Decimal(38, 2))')) AS day_payments,
            max(_fetched_at) AS day_fetched_at
        FROM `{{raw}}`.`sales_orders` FINAL
        ARRAY JOIN `refunds.at` AS refund_at, `refunds.amount` AS refund_amount
        GROUP BY business_id, location_id, date, type, channel
    )
    GROUP BY business_id, location_id, date
) AS days
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day, as the mirrored orders give it (the same figures as sales_daily_by_location). A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';
