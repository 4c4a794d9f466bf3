CREATE OR REPLACE VIEW `{{db}}`.`sales_daily_by_location`{{on_cluster}}
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
    `as_of` DateTime64(6, '{{zone}}') COMMENT 'When the service last gave these figures, as far as it is stored; what was entered or changed later may be missing. Yesterday and today are asked for every few minutes (schedule.reconcile); an answer with the same figures is not stored then. The last 92 days, and those of single locations, are asked for every night (schedule.reconcile_deep), all days by a full resync: that they were asked is stored. larder reconcile asks at once',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS WITH
    -- When the last run that asked for days of this kind began, by source: it has ended, so all of its days
    -- were asked for since.
    (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'{{zone}}\'))') FROM
    (
        SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
        FROM `{{raw}}`.`checkpoints` FINAL
        WHERE stream = 'sales_daily' AND walk = 'reconcile_deep' AND done AND isNotNull(started_at)
        GROUP BY source
    ))[toString(_source)] AS deep_begun
SELECT
    business_id, business_name, location_id, location_name, date, `orders`, `net_sales`, `items`, `discounts`, `delivery_fees`, `tips`, `deposits`, `refunds`, `payments`, `by_type`, `by_channel`,
    if(orders = 0, NULL, round(toFloat64(net_sales) / orders, 2)) AS average_order,
    if(items = 0, NULL, round(toFloat64(discounts) * 100 / toFloat64(items), 2)) AS discount_percent,
    -- Deep runs ask for single locations, while they are the key's.
    greatest(_fetched_at, if(date >= toDate32(deep_begun) - 91
        AND (business_id, toString(location_id)) IN (SELECT business_id, id FROM `{{raw}}`.`locations` FINAL),
        deep_begun, _fetched_at)) AS as_of,
    `_source`, `_fetched_at`, `_raw`
FROM
(
    SELECT business_id, assumeNotNull(days.location_id) AS location_id, date, `orders`, `net_sales`, `items`, `discounts`, `delivery_fees`, `tips`, `deposits`, `refunds`, `payments`, `by_type`, `by_channel`, `_source`, `_fetched_at`, `_raw`
    FROM `{{raw}}`.`sales_daily` AS days FINAL
    WHERE isNotNull(days.location_id)
    SETTINGS optimize_move_to_prewhere_if_final = 1
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
COMMENT 'One row per restaurant, location and day, as the service reports it. A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';
