-- Orders placed through the keys, what they hold, and how they went.

CREATE OR REPLACE VIEW {{view "online_orders"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Order id',
{{shown "online_head" "location_name" "online_derived" "online_totals" "online_payment" "online_customer" "online_rest" "online_dates" "online_items" "online_via" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, id, {{names "online_head" "location_name"}},
    toDate32(created_at) AS business_day,
    round(dateDiff('second', ifNull(placed_at, created_at), accepted_at) / 60, 1) AS minutes_to_accept,
    round(dateDiff('second', accepted_at, ready_at) / 60, 1) AS minutes_to_ready,
    round(dateDiff('second', estimated_ready_at, ready_at) / 60, 1) AS minutes_late,
    toInt64(length(`items.product_id`)) AS line_count,
    arraySum(`items.quantity`) AS item_count,
    {{names "online_totals" "online_payment" "online_customer" "online_rest" "online_dates" "online_items" "online_via" "origin" "raw"}}
FROM
(
    SELECT business_id, id, {{names "online_via" "online_head" "online_customer" "online_rest" "online_items" "online_totals" "online_payment" "online_dates" "origin" "raw"}}
    FROM {{table "online_orders"}} FINAL {{quick}}
) AS orders
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and order placed through a key, test orders included. What it holds of the customer depends on personal_data of the source';

CREATE OR REPLACE VIEW {{view "online_order_items"}}
(
{{shown "business" "online_of"}},
    `position` Int64 COMMENT 'Place of the line in the order, from 1',
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `name` String COMMENT 'Name of the product as it was ordered',
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none',
    `variant_name` Nullable(String) COMMENT 'Name of the variant',
    `quantity` Int64 COMMENT 'Quantity',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one unit without options, RON',
    `options_total` Decimal(38, 2) COMMENT 'Options of the whole line, RON',
    `deposit` Decimal(18, 2) COMMENT 'SGR deposit of the line, RON',
    `total` Decimal(18, 2) COMMENT 'Quantity x (unit price + options), RON; without the deposit',
    `notes` Nullable(String) COMMENT 'Notes for the kitchen; null unless personal_data is keep'
)
AS SELECT
    business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, location_name,
    position, product_id, name, variant_id, variant_name, quantity, unit_price, options_total, deposit, total, notes
FROM
(
    SELECT
        business_id, id AS order_id, external_id, toDate32(created_at) AS business_day, created_at, status, test, type, location_id,
        -- Unfolded, these two are of LowCardinality, and nobody could ask for how long they are alone.
        toInt64(line) AS position, `items.product_id`[line] AS product_id, `items.name`[line] AS name, variant_id, variant_name, quantity, unit_price,
        (quantity * arraySum((number, price) -> number * price, option_quantities, option_prices))::Decimal(38, 2) AS options_total,
        deposit, total, notes
    FROM
    (
        SELECT business_id, id, external_id, created_at, status, test, type, location_id, {{names "online_items"}}
        FROM {{table "online_orders"}} FINAL {{quick}}
    )
    ARRAY JOIN
        arrayEnumerate(`items.product_id`) AS line, `items.variant_id` AS variant_id,
        `items.variant_name` AS variant_name, `items.quantity` AS quantity, `items.unit_price` AS unit_price,
        `items.options_quantity` AS option_quantities, `items.options_unit_price` AS option_prices,
        `items.deposit` AS deposit, `items.total` AS total, `items.notes` AS notes
) AS lines
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant, online order and line';

CREATE OR REPLACE VIEW {{view "online_order_options"}}
(
{{shown "business" "online_of"}},
    `item_position` Int64 COMMENT 'Place of the line in the order, from 1: joins with online_order_items on (business_id, order_id, position)',
    `product_id` String COMMENT 'Product of the line',
    `item_name` String COMMENT 'Name of the product as it was ordered',
    `item_quantity` Int64 COMMENT 'Quantity of the line',
    `position` Int64 COMMENT 'Place of the option in the line, from 1',
    `id` String COMMENT 'Option id',
    `name` String COMMENT 'Name of the option',
    `quantity` Int64 COMMENT 'Quantity, per unit of the product',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one, RON',
    `amount` Decimal(38, 2) COMMENT 'What the option sold for, RON: unit price x quantity x quantity of the line'
)
AS SELECT
    business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, location_name,
    item_position, product_id, item_name, item_quantity, position, id, name, quantity, unit_price, amount
FROM
(
    SELECT
        business_id, order_id, external_id, business_day, created_at, status, test, type, location_id, item_position, product_id, item_name, item_quantity,
        toInt64(option) AS position, id, name, quantity, unit_price, (item_quantity * quantity * unit_price)::Decimal(38, 2) AS amount
    FROM
    (
        SELECT
            business_id, id AS order_id, external_id, toDate32(created_at) AS business_day, created_at, status, test, type, location_id,
            toInt64(line) AS item_position, `items.product_id`[line] AS product_id, `items.name`[line] AS item_name, `items.quantity`[line] AS item_quantity,
            `items.options_id`[line] AS ids, `items.options_name`[line] AS names, `items.options_quantity`[line] AS quantities, `items.options_unit_price`[line] AS prices
        FROM (SELECT business_id, id, external_id, created_at, status, test, type, location_id, {{names "online_items"}} FROM {{table "online_orders"}} FINAL {{quick}})
        ARRAY JOIN arrayFilter(n -> notEmpty(`items.options_id`[n]), arrayEnumerate(`items.options_id`)) AS line
    )
    ARRAY JOIN arrayEnumerate(ids) AS option, ids AS id, names AS name, quantities AS quantity, prices AS unit_price
) AS lines
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant, online order, line and option';

CREATE OR REPLACE VIEW {{view "order_events"}}
(
{{shown "business"}},
    `order_id` String COMMENT 'Order: joins with online_orders on (business_id, id)',
{{shown "order_event_of" "location_name" "order_event"}},
    `delay_seconds` Float64 COMMENT 'Seconds from the transition until Larder learned of it'
)
AS SELECT
    business_id, order_id, {{names "order_event_of" "location_name" "order_event"}}, dateDiff('millisecond', at, received_at) / 1000 AS delay_seconds
FROM (SELECT business_id, order_id, {{names "order_event_of" "order_event"}} FROM {{table "order_transitions"}} FINAL) AS events
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
{{joined}}
COMMENT 'One row per restaurant, online order and transition, as Larder first learned of it';

CREATE OR REPLACE VIEW {{view "online_orders_reconciliation"}}
(
{{shown "business"}},
    `location_id` LowCardinality(String) COMMENT 'Location',
{{shown "location_name"}},
    `date` Date32 COMMENT 'Day in Europe/Bucharest',
    `online_orders` Int64 COMMENT 'Accepted, ready and completed online orders of the day, test orders left out',
    `online_total` Decimal(38, 2) COMMENT 'What their customers pay, RON',
    `sales_orders` Int64 COMMENT 'Paid orders of channel direct of the day',
    `sales_total` Decimal(38, 2) COMMENT 'What their customers paid, RON',
    `difference` Decimal(38, 2) COMMENT 'online_total - sales_total, RON: the API promises no order for an order, so that a difference is no fault by itself'
)
AS SELECT
    business_id, location_id, location_name, date,
    toInt64(sum(online)) AS online_orders, sum(online_value)::Decimal(38, 2) AS online_total,
    toInt64(sum(sold)) AS sales_orders, sum(sold_value)::Decimal(38, 2) AS sales_total,
    online_total - sales_total AS difference
FROM
(
    SELECT business_id, location_id, toDate32(created_at) AS date, 1 AS online, totals_total AS online_value, 0 AS sold, 0::Decimal(18, 2) AS sold_value
    FROM {{table "online_orders"}} FINAL
    WHERE status IN ('accepted', 'ready', 'completed') AND NOT test
    UNION ALL
    SELECT business_id, location_id, business_day AS date, 0 AS online, 0::Decimal(18, 2) AS online_value, 1 AS sold, totals_total AS sold_value
    FROM {{table "sales_orders"}} FINAL
    WHERE channel = 'direct'
) AS both
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
GROUP BY business_id, location_id, location_name, date
{{joined}}
COMMENT 'One row per restaurant, location and day with online orders or sales of channel direct: the two side by side';
