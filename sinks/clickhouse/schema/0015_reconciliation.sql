-- The totals of a day as the service reports them, as the mirrored orders give them,
-- and the two side by side.

CREATE OR REPLACE VIEW {{view "sales_daily_computed"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
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
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with the newest of these orders (UTC)'
)
AS SELECT
    business_id, loc AS location_id, date,
    toInt64(sum(day_orders)) AS orders,
    toDecimal64(sum(day_net_sales), 2) AS net_sales,
    toDecimal64(sum(day_items), 2) AS items,
    toDecimal64(sum(day_discounts), 2) AS discounts,
    toDecimal64(sum(day_delivery_fees), 2) AS delivery_fees,
    toDecimal64(sum(day_tips), 2) AS tips,
    toDecimal64(sum(day_deposits), 2) AS deposits,
    toDecimal64(sum(day_refunds), 2) AS refunds,
    CAST(sumMap(day_payments.1, day_payments.2), 'Map(LowCardinality(String), Decimal(18, 2))') AS payments,
    CAST(sumMap([day_type], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_type,
    CAST(sumMap([day_channel], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_channel,
    max(day_fetched_at) AS _fetched_at
FROM
(
    SELECT
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
    FROM {{table "sales_orders"}} FINAL
    GROUP BY business_id, location_id, business_day, type, channel

    UNION ALL

    SELECT
        business_id, location_id, refund_day AS date, type AS day_type, channel AS day_channel,
        0, 0, 0, 0, 0, 0, 0,
        sum(refund_amount) AS day_refunds,
        (emptyArrayString()::Array(LowCardinality(String)), CAST([], 'Array(Decimal(38, 2))')) AS day_payments,
        max(order_fetched_at) AS day_fetched_at
    FROM
    (
        SELECT
            business_id, location_id, type, channel, order_fetched_at, refund_amount,
            toDate32(toTimeZone(refund_at, 'Europe/Bucharest')) AS refund_day
        FROM
        (
            SELECT
                business_id, location_id, type, channel, _fetched_at AS order_fetched_at,
                `refunds.at`, `refunds.amount`
            FROM {{table "sales_orders"}} FINAL
        )
        ARRAY JOIN `refunds.at` AS refund_at, `refunds.amount` AS refund_amount
    )
    GROUP BY business_id, location_id, refund_day, type, channel
)
ARRAY JOIN [NULL, toNullable(location_id)]::Array(LowCardinality(Nullable(String))) AS loc
GROUP BY business_id, loc, date
COMMENT 'Daily totals as the mirrored orders give them: the same figures as sales_daily';

CREATE OR REPLACE VIEW {{view "reconciliation"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the totals are of; null is all locations together',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
    `verdict` String COMMENT 'equal; differs; or unproven: the service has not been asked about the day, or orders of it came in after it was asked',
    `differences` Array(String) COMMENT 'Figures that differ',
    `service_orders` Int64 COMMENT 'Paid orders that are not cancelled (as the service reports it)',
    `mirror_orders` Int64 COMMENT 'Paid orders that are not cancelled (from the mirrored orders)',
    `service_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (as the service reports it)',
    `mirror_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - SGR deposit = items - discounts + delivery fees; refunds are not subtracted (from the mirrored orders)',
    `service_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON (as the service reports it)',
    `mirror_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON (from the mirrored orders)',
    `service_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON (as the service reports it)',
    `mirror_discounts` Decimal(18, 2) COMMENT 'Order-level discounts, RON (from the mirrored orders)',
    `service_delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON (as the service reports it)',
    `mirror_delivery_fees` Decimal(18, 2) COMMENT 'Delivery fees, RON (from the mirrored orders)',
    `service_tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales (as the service reports it)',
    `mirror_tips` Decimal(18, 2) COMMENT 'Tips, RON; not part of net sales (from the mirrored orders)',
    `service_deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (as the service reports it)',
    `mirror_deposits` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales (from the mirrored orders)',
    `service_refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales (as the service reports it)',
    `mirror_refunds` Decimal(18, 2) COMMENT 'Refunds made that day, RON; not subtracted from net sales (from the mirrored orders)',
    `service_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (as the service reports it)',
    `mirror_payments` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Payments by method (cash, card, card_at_counter, online, voucher, protocol, other), RON; tips and deposits included; protocol is on the house (from the mirrored orders)',
    `service_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (as the service reports it)',
    `mirror_by_type` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by order type (dine_in, takeaway, delivery), RON (from the mirrored orders)',
    `service_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (as the service reports it)',
    `mirror_by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON (from the mirrored orders)',
    `service_fetched_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service reported the totals (UTC); null when it was not asked',
    `mirror_fetched_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service answered with the newest of the orders (UTC); null when there are none'
)
AS SELECT
    business_id, location_id, date,
    multiIf(empty(differences), 'equal', isNull(service_fetched_at) OR mirror_fetched_at > service_fetched_at, 'unproven', 'differs') AS verdict,
    arrayFilter(figure -> figure != '', [
        if(service_orders = mirror_orders, '', 'orders'), if(service_net_sales = mirror_net_sales, '', 'net_sales'), if(service_items = mirror_items, '', 'items'), if(service_discounts = mirror_discounts, '', 'discounts'),
        if(service_delivery_fees = mirror_delivery_fees, '', 'delivery_fees'), if(service_tips = mirror_tips, '', 'tips'), if(service_deposits = mirror_deposits, '', 'deposits'), if(service_refunds = mirror_refunds, '', 'refunds'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_payments)) = mapSort(mapFilter((k, v) -> v != 0, mirror_payments)), '', 'payments'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_by_type)) = mapSort(mapFilter((k, v) -> v != 0, mirror_by_type)), '', 'by_type'),
        if(mapSort(mapFilter((k, v) -> v != 0, service_by_channel)) = mapSort(mapFilter((k, v) -> v != 0, mirror_by_channel)), '', 'by_channel'),
        if(isNull(service_fetched_at), 'no totals', '')
    ]) AS differences,
    service_orders, mirror_orders, service_net_sales, mirror_net_sales, service_items,
    mirror_items, service_discounts, mirror_discounts, service_delivery_fees,
    mirror_delivery_fees, service_tips, mirror_tips, service_deposits, mirror_deposits,
    service_refunds, mirror_refunds, service_payments, mirror_payments, service_by_type,
    mirror_by_type, service_by_channel, mirror_by_channel, service_fetched_at, mirror_fetched_at
FROM
(
    SELECT
        business_id, location_id, date,
        toInt64(sum(side_service_orders)) AS service_orders, toInt64(sum(side_mirror_orders)) AS mirror_orders,
        toDecimal64(sum(side_service_net_sales), 2) AS service_net_sales, toDecimal64(sum(side_mirror_net_sales), 2) AS mirror_net_sales,
        toDecimal64(sum(side_service_items), 2) AS service_items, toDecimal64(sum(side_mirror_items), 2) AS mirror_items,
        toDecimal64(sum(side_service_discounts), 2) AS service_discounts, toDecimal64(sum(side_mirror_discounts), 2) AS mirror_discounts,
        toDecimal64(sum(side_service_delivery_fees), 2) AS service_delivery_fees, toDecimal64(sum(side_mirror_delivery_fees), 2) AS mirror_delivery_fees,
        toDecimal64(sum(side_service_tips), 2) AS service_tips, toDecimal64(sum(side_mirror_tips), 2) AS mirror_tips,
        toDecimal64(sum(side_service_deposits), 2) AS service_deposits, toDecimal64(sum(side_mirror_deposits), 2) AS mirror_deposits,
        toDecimal64(sum(side_service_refunds), 2) AS service_refunds, toDecimal64(sum(side_mirror_refunds), 2) AS mirror_refunds,
        CAST(sumMap(side_service_payments), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_payments, CAST(sumMap(side_mirror_payments), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_payments,
        CAST(sumMap(side_service_by_type), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_by_type, CAST(sumMap(side_mirror_by_type), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_by_type,
        CAST(sumMap(side_service_by_channel), 'Map(LowCardinality(String), Decimal(18, 2))') AS service_by_channel, CAST(sumMap(side_mirror_by_channel), 'Map(LowCardinality(String), Decimal(18, 2))') AS mirror_by_channel,
        max(side_service_fetched_at) AS service_fetched_at,
        max(side_mirror_fetched_at) AS mirror_fetched_at
    FROM
    (
        SELECT
            business_id, location_id, date,
            orders AS side_service_orders, 0 AS side_mirror_orders,
            net_sales AS side_service_net_sales, toDecimal64(0, 2) AS side_mirror_net_sales,
            items AS side_service_items, toDecimal64(0, 2) AS side_mirror_items,
            discounts AS side_service_discounts, toDecimal64(0, 2) AS side_mirror_discounts,
            delivery_fees AS side_service_delivery_fees,
            toDecimal64(0, 2) AS side_mirror_delivery_fees, tips AS side_service_tips,
            toDecimal64(0, 2) AS side_mirror_tips, deposits AS side_service_deposits,
            toDecimal64(0, 2) AS side_mirror_deposits, refunds AS side_service_refunds,
            toDecimal64(0, 2) AS side_mirror_refunds, payments AS side_service_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_payments,
            by_type AS side_service_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_type,
            by_channel AS side_service_by_channel,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_mirror_by_channel,
            1 AS side_service, 0 AS side_mirror,
            toNullable(_fetched_at) AS side_service_fetched_at, NULL AS side_mirror_fetched_at
        FROM {{table "sales_daily"}} FINAL

        UNION ALL

        SELECT
            business_id, location_id, date,
            0 AS side_service_orders, orders AS side_mirror_orders,
            toDecimal64(0, 2) AS side_service_net_sales, net_sales AS side_mirror_net_sales,
            toDecimal64(0, 2) AS side_service_items, items AS side_mirror_items,
            toDecimal64(0, 2) AS side_service_discounts, discounts AS side_mirror_discounts,
            toDecimal64(0, 2) AS side_service_delivery_fees,
            delivery_fees AS side_mirror_delivery_fees, toDecimal64(0, 2) AS side_service_tips,
            tips AS side_mirror_tips, toDecimal64(0, 2) AS side_service_deposits,
            deposits AS side_mirror_deposits, toDecimal64(0, 2) AS side_service_refunds,
            refunds AS side_mirror_refunds,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_payments,
            payments AS side_mirror_payments,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_type,
            by_type AS side_mirror_by_type,
            CAST(map(), 'Map(LowCardinality(String), Decimal(18, 2))') AS side_service_by_channel,
            by_channel AS side_mirror_by_channel, 0 AS side_service, 1 AS side_mirror,
            NULL AS side_service_fetched_at, toNullable(_fetched_at) AS side_mirror_fetched_at
        FROM {{name "sales_daily_computed"}}
    )
    GROUP BY business_id, location_id, date
)
COMMENT 'The totals of a day side by side: as the service reports them, and as the mirrored orders give them';
