-- One view per stream with the current live rows.

CREATE OR REPLACE VIEW {{view "locations"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Location id',
    `name` String COMMENT 'Name of the location',
    `address` Nullable(String) COMMENT 'Street address',
    `city` Nullable(String) COMMENT 'City',
    `phone` Nullable(String) COMMENT 'Phone number',
    `timezone` LowCardinality(String) COMMENT 'Time zone of the location, always Europe/Bucharest',
    `ordering_accepting` Bool COMMENT 'Whether an online order can be placed now',
    `ordering_status` LowCardinality(String) COMMENT 'Online ordering: open, paused, closed or disabled',
    `ordering_message` Nullable(String) COMMENT 'Short Romanian text to show a customer',
    `ordering_paused_until` Nullable(DateTime64(6, 'UTC')) COMMENT 'Until when online ordering is paused (UTC)',
    `ordering_next_opening_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When online ordering opens next (UTC)',
    `ordering_types` Array(LowCardinality(String)) COMMENT 'Order types taken online: pickup, delivery',
    `ordering_default_prep_minutes` Int64 COMMENT 'Usual preparation time, minutes',
    `ordering_answer_within_minutes` Int64 COMMENT 'Time the restaurant has to accept an online order, minutes',
    `opening_hours_monday_open` Nullable(String) COMMENT 'Monday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_monday_close` Nullable(String) COMMENT 'Monday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_monday_closed` Nullable(Bool) COMMENT 'Monday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_tuesday_open` Nullable(String) COMMENT 'Tuesday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_tuesday_close` Nullable(String) COMMENT 'Tuesday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_tuesday_closed` Nullable(Bool) COMMENT 'Tuesday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_wednesday_open` Nullable(String) COMMENT 'Wednesday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_wednesday_close` Nullable(String) COMMENT 'Wednesday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_wednesday_closed` Nullable(Bool) COMMENT 'Wednesday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_thursday_open` Nullable(String) COMMENT 'Thursday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_thursday_close` Nullable(String) COMMENT 'Thursday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_thursday_closed` Nullable(Bool) COMMENT 'Thursday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_friday_open` Nullable(String) COMMENT 'Friday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_friday_close` Nullable(String) COMMENT 'Friday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_friday_closed` Nullable(Bool) COMMENT 'Friday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_saturday_open` Nullable(String) COMMENT 'Saturday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_saturday_close` Nullable(String) COMMENT 'Saturday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_saturday_closed` Nullable(Bool) COMMENT 'Saturday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_sunday_open` Nullable(String) COMMENT 'Sunday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_sunday_close` Nullable(String) COMMENT 'Sunday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_sunday_closed` Nullable(Bool) COMMENT 'Sunday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_exceptions.date` Array(Date32) COMMENT 'Days that differ from their weekday: the day (Europe/Bucharest)',
    `opening_hours_exceptions.closed` Array(Bool) COMMENT 'Days that differ from their weekday: whether the location is closed',
    `opening_hours_exceptions.reason` Array(Nullable(String)) COMMENT 'Days that differ from their weekday: why',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, name, address, city, phone, timezone, ordering_accepting, ordering_status,
    ordering_message, ordering_paused_until, ordering_next_opening_at, ordering_types,
    ordering_default_prep_minutes, ordering_answer_within_minutes, opening_hours_monday_open,
    opening_hours_monday_close, opening_hours_monday_closed, opening_hours_tuesday_open,
    opening_hours_tuesday_close, opening_hours_tuesday_closed, opening_hours_wednesday_open,
    opening_hours_wednesday_close, opening_hours_wednesday_closed, opening_hours_thursday_open,
    opening_hours_thursday_close, opening_hours_thursday_closed, opening_hours_friday_open,
    opening_hours_friday_close, opening_hours_friday_closed, opening_hours_saturday_open,
    opening_hours_saturday_close, opening_hours_saturday_closed, opening_hours_sunday_open,
    opening_hours_sunday_close, opening_hours_sunday_closed, `opening_hours_exceptions.date`,
    `opening_hours_exceptions.closed`, `opening_hours_exceptions.reason`, _source, _fetched_at,
    _raw
FROM {{table "locations"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Active locations the keys may use: the current live rows';

CREATE OR REPLACE VIEW {{view "allergens"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Allergen code: it identifies the allergen within the restaurant',
    `code` String COMMENT 'Stable code from the restaurant catalogue',
    `name` String COMMENT 'Name in Romanian',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, code, name, _source, _fetched_at, _raw
FROM {{table "allergens"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Allergen catalogue of the restaurant: the current live rows';

CREATE OR REPLACE VIEW {{view "categories"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Category id',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location; null when the category is shared by every location',
    `name` String COMMENT 'Name of the category',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `position` Int64 COMMENT 'Place among the categories',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the category was created (UTC)',
    `updated_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the category last changed (UTC); sync goes by it',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, location_id, name, image_url, position, created_at, updated_at, _source,
    _fetched_at, _raw
FROM {{table "categories"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Menu categories: the current live rows';

CREATE OR REPLACE VIEW {{view "products"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Product id',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `name` String COMMENT 'Name, the restaurant own text',
    `description` Nullable(String) COMMENT 'Description',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price, RON, VAT included; per kilogram when the unit is kg',
    `unit` LowCardinality(String) COMMENT 'piece, or kg for a product sold by weight',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices',
    `deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) charge per unit, RON',
    `available` Bool COMMENT 'false: sold out right now',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `diets` Array(LowCardinality(String)) COMMENT 'Diets the product suits, such as vegetarian, vegan',
    `calories` Nullable(Int64) COMMENT 'Calories, kcal; null when not set',
    `prep_minutes` Nullable(Int64) COMMENT 'Preparation time, minutes; null when not set',
    `station` LowCardinality(String) COMMENT 'Where it is prepared: kitchen, bar, or a station the restaurant created',
    `channels_enabled` Map(LowCardinality(String), Bool) COMMENT 'Per sales channel (online, platform_a, platform_b): whether it is sold there',
    `channels_price` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Per sales channel (online, platform_a, platform_b): price there, RON',
    `variants.id` Array(String) COMMENT 'Variants: ids; an id changes when the variant is renamed',
    `variants.name` Array(String) COMMENT 'Variants: names',
    `variants.price` Array(Decimal(18, 2)) COMMENT 'Variants: point-of-sale price of one unit, RON',
    `variants.price_delta` Array(Decimal(18, 2)) COMMENT 'Variants: difference from the price of the product, RON; may be negative',
    `extra_groups.id` Array(String) COMMENT 'Groups of extras: ids',
    `extra_groups.name` Array(String) COMMENT 'Groups of extras: names',
    `extra_groups.min` Array(Int64) COMMENT 'Groups of extras: how many options must be chosen',
    `extra_groups.max` Array(Nullable(Int64)) COMMENT 'Groups of extras: how many options may be chosen; null is no limit',
    `extra_groups.required` Array(Bool) COMMENT 'Groups of extras: whether a choice is required',
    `extra_groups.options_id` Array(Array(String)) COMMENT 'Groups of extras: ids of the options of each group',
    `extra_groups.options_name` Array(Array(String)) COMMENT 'Groups of extras: names of the options of each group',
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product',
    `position` Int64 COMMENT 'Place among the products of its category',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the product was created (UTC)',
    `updated_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the product last changed (UTC); sync goes by it',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, location_id, category_id, name, description, image_url, price, unit,
    vat_rate, deposit, available, `allergens.code`, `allergens.name`, diets, calories,
    prep_minutes, station, channels_enabled, channels_price, `variants.id`, `variants.name`,
    `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`,
    `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
    `extra_groups.options_name`, `extra_groups.options_price`, position, created_at,
    updated_at, _source, _fetched_at, _raw
FROM {{table "products"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Products of each location, offered online or not: the current live rows';

CREATE OR REPLACE VIEW {{view "ingredients"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `category_id` Nullable(String) COMMENT 'Ingredient category: id',
    `category_name` Nullable(String) COMMENT 'Ingredient category: name',
    `warehouse_id` Nullable(String) COMMENT 'Stock ledger: id',
    `warehouse_name` Nullable(String) COMMENT 'Stock ledger: name',
    `sku` Nullable(String) COMMENT 'Stock keeping unit',
    `barcode` Nullable(String) COMMENT 'Barcode',
    `is_prepared` Bool COMMENT 'Whether it is made in-house from other ingredients',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the ingredient was created (UTC)',
    `updated_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the ingredient last changed (UTC); sync goes by it',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, location_id, name, unit, stock, min_stock, below_min, category_id,
    category_name, warehouse_id, warehouse_name, sku, barcode, is_prepared, `allergens.code`,
    `allergens.name`, created_at, updated_at, _source, _fetched_at, _raw
FROM {{table "ingredients"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Ingredients with the current stock of each location: the current live rows';

CREATE OR REPLACE VIEW {{view "api_keys"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Id of the key (app.id)',
    `app_id` String COMMENT 'Id of the key',
    `app_name` String COMMENT 'Name the restaurant gave the key',
    `app_mode` LowCardinality(String) COMMENT 'test or live',
    `business_name` String COMMENT 'Name of the restaurant',
    `scopes` Array(String) COMMENT 'Scopes of the key: locations:read, menu:read, sales:read, stock:read, orders:write',
    `location_ids` Array(String) COMMENT 'Active locations the key may use',
    `all_locations` Bool COMMENT 'true: the key covers every location, those added later included',
    `rate_limits_per_minute` Int64 COMMENT 'Requests a minute for this key',
    `rate_limits_business_per_minute` Int64 COMMENT 'Requests a minute for all keys of the restaurant together',
    `rate_limits_heavy_per_minute` Int64 COMMENT 'Requests a minute to the two sales aggregates together',
    `rate_limits_orders_per_minute` Int64 COMMENT 'Orders placed a minute',
    `webhook_url` Nullable(String) COMMENT 'Where order events are sent',
    `webhook_configured` Bool COMMENT 'Whether order events are sent',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, app_id, app_name, app_mode, business_name, scopes, location_ids,
    all_locations, rate_limits_per_minute, rate_limits_business_per_minute,
    rate_limits_heavy_per_minute, rate_limits_orders_per_minute, webhook_url,
    webhook_configured, _source, _fetched_at, _raw
FROM {{table "api_keys"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'API keys: what each configured source may do: the current live rows';

CREATE OR REPLACE VIEW {{view "sales_orders"}}
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
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, number, location_id, channel, type, table_id, business_day, created_at,
    updated_at, paid_at, `items.id`, `items.product_id`, `items.name`, `items.variant_id`,
    `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`,
    `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`,
    `items.vat_rate`, `items.total`, totals_items, totals_discount, totals_delivery_fee,
    totals_tip, totals_deposit, totals_total, totals_net_sales, `payments.method`,
    `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`,
    `refunds.item_id`, _source, _fetched_at, _raw
FROM {{table "sales_orders"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Paid orders that are not cancelled, with their lines, payments and refunds: the current live rows';

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
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, location_id, date, orders, net_sales, items, discounts, delivery_fees,
    tips, deposits, refunds, payments, by_type, by_channel, _source, _fetched_at, _raw
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
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, id, date, product_id, name, category_id, quantity, weight_kg, gross,
    line_discounts, net, _source, _fetched_at, _raw
FROM {{table "sales_products"}} FINAL
SETTINGS optimize_move_to_prewhere_if_final = 1
COMMENT 'Sales of each product by day, as the service reports them: the current live rows';
