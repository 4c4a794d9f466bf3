-- As of when the totals of a day stand: those of a day that nobody asks for just now may have
-- changed in the service.

CREATE OR REPLACE VIEW {{view "sales_daily"}}
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
    `as_of` DateTime64(6, 'UTC') COMMENT 'As of when the figures are known to stand (UTC): the service gave them then, or gave the same again. What was entered or changed later may be missing: yesterday and today of all locations together are asked for every few minutes (schedule.reconcile), single locations and the 92 days before every night (schedule.reconcile_deep), all days by a full resync; larder reconcile asks at once',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS WITH
        (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'UTC\'))') FROM
        (
            SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
            FROM {{table "checkpoints"}} FINAL
            WHERE stream = 'sales_daily' AND walk = 'reconcile_deep' AND done AND isNotNull(started_at)
            GROUP BY source
        ))[toString(_source)] AS deep_begun,
        (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'UTC\'))') FROM
        (
            SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
            FROM {{table "checkpoints"}} FINAL
            WHERE stream = 'sales_daily' AND walk = 'totals' AND done AND isNotNull(started_at)
            GROUP BY source
        ))[toString(_source)] AS all_begun
SELECT
    business_id, id, location_id, date, orders, net_sales, items, discounts, delivery_fees,
    tips, deposits, refunds, payments, by_type, by_channel,
    -- A figure that is given again is not stored again. A run that asks for days stores when it
    -- began once it has ended: all of its days were asked for since, those of single locations
    -- by deep runs, while they are the key's.
    greatest(
        _fetched_at,
        if(isNull(location_id), all_begun, _fetched_at),
        if(date >= toDate32(toTimeZone(deep_begun, 'Europe/Bucharest')) - 91
            AND (isNull(location_id) OR (business_id, ifNull(toString(location_id), '')) IN (SELECT business_id, id FROM {{table "locations"}} FINAL WHERE _deleted = 0)),
            deep_begun, _fetched_at)) AS as_of,
    _source, _fetched_at, _raw
FROM {{table "sales_daily"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Daily totals as the service reports them: the current live rows';

CREATE OR REPLACE VIEW {{view "sales_products"}}
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
    `as_of` DateTime64(6, 'UTC') COMMENT 'As of when the figures are known to stand (UTC): the service gave them then, or gave the same again. What was entered or changed later may be missing: yesterday and today are asked for every few minutes (schedule.reconcile), the 92 days before every night (schedule.reconcile_deep), all days by a full resync; larder reconcile asks at once',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS WITH
        (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'UTC\'))') FROM
        (
            SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
            FROM {{table "checkpoints"}} FINAL
            WHERE stream = 'sales_products' AND walk = 'reconcile_deep' AND done AND isNotNull(started_at)
            GROUP BY source
        ))[toString(_source)] AS deep_begun,
        (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'UTC\'))') FROM
        (
            SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
            FROM {{table "checkpoints"}} FINAL
            WHERE stream = 'sales_products' AND walk = 'totals' AND done AND isNotNull(started_at)
            GROUP BY source
        ))[toString(_source)] AS all_begun
SELECT
    business_id, id, date, product_id, name, category_id, quantity, weight_kg, gross,
    line_discounts, net,
    -- A figure that is given again is not stored again. A run that asks for days stores when it
    -- began once it has ended: all of its days were asked for since.
    greatest(_fetched_at, all_begun, if(date >= toDate32(toTimeZone(deep_begun, 'Europe/Bucharest')) - 91, deep_begun, _fetched_at)) AS as_of,
    _source, _fetched_at, _raw
FROM {{table "sales_products"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Sales of each product by day, as the service reports them: the current live rows';
