CREATE OR REPLACE VIEW `{{db}}`.`sales_item_extras`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `order_id` String COMMENT 'Order: joins with sales_orders on (business_id, id)',
    `order_number` Nullable(String) COMMENT 'Order number on receipts',
    `business_day` Date32 COMMENT 'Day the order counts on: day in {{zone}} of created_at',
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the order was opened',
    `paid_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was paid',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `item_position` Int64 COMMENT 'Place of the line in the order, from 1',
    `item_id` String COMMENT 'Line: joins with sales_items on (business_id, order_id, id)',
    `product_id` Nullable(String) COMMENT 'Product of the line; null when the line has no catalogue product',
    `item_name` String COMMENT 'Name of the line on the receipt',
    `item_quantity` Decimal(38, 10) COMMENT 'Quantity of the line: kilograms of one sold by weight, else pieces. Do not add the two up',
    `position` Int64 COMMENT 'Place of the extra in the line, from 1',
    `name` String COMMENT 'Name of the extra',
    `price` Decimal(18, 2) COMMENT 'Price of the extra per unit of the line, RON',
    `amount` Decimal(38, 2) COMMENT 'What the extra sold for, RON: price x quantity of the line; line discounts do not apply to extras'
)
AS SELECT
    business_id, business_name, order_id, order_number, business_day, created_at, paid_at,
    location_id, location_name, channel, type,
    item_position, item_id, product_id, item_name, item_quantity,
    toInt64(extra) AS position, names[extra] AS name, prices[extra] AS price,
    -- An amount is rounded to two decimals. One beyond 28 digits, which no restaurant has, is cut there: an
    -- error would cost every other row of the query.
    toDecimal128(least(greatest(round(toDecimal256(item_quantity, 10) * price, 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2) AS amount
FROM
(
    SELECT
        business_id, order_id, order_number, business_day, created_at, paid_at, location_id, channel, type,
        toInt64(line) AS item_position, `items.id`[line] AS item_id, `items.product_id`[line] AS product_id, `items.name`[line] AS item_name,
        `items.quantity`[line] AS item_quantity, `items.extras_name`[line] AS names, `items.extras_price`[line] AS prices
    FROM
    (
        SELECT
            business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
            `items.id`, `items.product_id`, `items.name`, `items.quantity`, `items.extras_name`, `items.extras_price`
        FROM `{{raw}}`.`sales_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    ARRAY JOIN arrayFilter(n -> notEmpty(`items.extras_name`[n]), arrayEnumerate(`items.extras_name`)) AS line
) AS lines
ARRAY JOIN arrayEnumerate(names) AS extra
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
COMMENT 'One row per restaurant, order, line and extra';
