CREATE OR REPLACE VIEW `{{db}}`.`sales_items`{{on_cluster}}
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
    `position` Int64 COMMENT 'Place of the line in the order, from 1',
    `id` String COMMENT 'Line id',
    `product_id` Nullable(String) COMMENT 'Product: joins with products on (business_id, id); null when the line has no catalogue product',
    `product_name` Nullable(String) COMMENT 'Name of the product in the catalogue today, also of a removed one; null when it is not known',
    `category_id` Nullable(String) COMMENT 'Menu category of the product today',
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known',
    `name` String COMMENT 'Name on the receipt',
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none',
    `variant_name` Nullable(String) COMMENT 'Name of the variant',
    `quantity` Decimal(38, 10) COMMENT 'Quantity: kilograms of a line sold by weight, else pieces. Do not add the two up: pieces and weight_kg can be',
    `is_weighed` Bool COMMENT 'Whether the line was sold by weight',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight, kg, of a line sold by weight; null of any other',
    `pieces` Nullable(Decimal(38, 10)) COMMENT 'Pieces sold; null of a line sold by weight',
    `price_per_kg` Nullable(Decimal(18, 2)) COMMENT 'Price of a kilogram, RON, of a line sold by weight',
    `unit_price` Decimal(18, 2) COMMENT 'Price of one unit, RON, VAT included',
    `extras_total` Decimal(38, 2) COMMENT 'Extras of the whole line, RON: their prices x quantity',
    `gross` Decimal(38, 2) COMMENT 'Before any discount, RON: quantity x unit price + extras',
    `discount_percent` Decimal(38, 10) COMMENT 'Discount of the line, percent; it does not apply to extras',
    `line_discount` Decimal(38, 2) COMMENT 'Discount of the line, RON: gross - total',
    `total` Decimal(18, 2) COMMENT 'Quantity x unit price x (1 - discount) + extras x quantity, RON, as the service gives it',
    `order_discount_share` Decimal(38, 2) COMMENT 'Part of the order-level discount that falls on the line, RON: spread by the totals of the lines (those below 0 get none), so that the parts add up to the discount to the ban',
    `net` Decimal(38, 2) COMMENT 'What the line sold for, RON: total - order_discount_share. The lines of an order add up to its net sales less the delivery fee. net of sales_products is another figure: that of total',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices',
    `vat_amount` Nullable(Decimal(38, 2)) COMMENT 'VAT within net, RON: net x rate / (100 + rate), rounded to the ban on each line; null without a rate from 0 to 100. Larder computes it: the service states rates only',
    `extras_name` Array(String) COMMENT 'Names of the extras; sales_item_extras has a row for each',
    `extras_price` Array(Decimal(18, 2)) COMMENT 'Prices of the extras per unit, RON'
)
AS SELECT
    business_id, business_name, `order_id`, `order_number`, `business_day`, `created_at`, `paid_at`, `location_id`, `location_name`, `channel`, `type`, `position`, `id`, `product_id`, `product_name`, `category_id`, `category_name`, `name`, `variant_id`, `variant_name`, `quantity`, `is_weighed`, `weight_kg`, `pieces`, `price_per_kg`, `unit_price`, `extras_total`, `gross`, `discount_percent`, `line_discount`, `total`, `order_discount_share`, `net`, `vat_rate`, `vat_amount`, `extras_name`, `extras_price`
FROM
(
    SELECT
        business_id, `order_id`, `order_number`, `business_day`, `created_at`, `paid_at`, `location_id`, `channel`, `type`,
        toInt64(line) AS position, `items.id`[line] AS id, `items.product_id`[line] AS product_id, `items.name`[line] AS name,
        `items.variant_id`[line] AS variant_id, `items.variant_name`[line] AS variant_name,
        `items.quantity`[line] AS quantity, toBool(isNotNull(weight_kg)) AS is_weighed, `items.weight_kg`[line] AS weight_kg,
        if(is_weighed, NULL, quantity) AS pieces,
        `items.price_per_kg`[line] AS price_per_kg, `items.unit_price`[line] AS unit_price,
        -- An amount is rounded to two decimals. One beyond 28 digits, which no restaurant has, is cut there: an
        -- error would cost every other row of the query.
        toDecimal128(least(greatest(round(toDecimal256(quantity, 10) * arraySum(extras_price), 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2) AS extras_total,
        toDecimal128(least(greatest(round(toDecimal256(quantity, 10) * (toDecimal256(unit_price, 2) + arraySum(extras_price)), 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2) AS gross,
        `items.discount_percent`[line] AS discount_percent,
        gross - total AS line_discount,
        `items.total`[line] AS total,
        -- What falls on the lines up to this one, less what falls on those before it: rounding
        -- errors of the parts cancel out, and all of them together are the discount.
        shares_up_to[line] - shares_up_to[line - 1] AS order_discount_share,
        total - order_discount_share AS net,
        `items.vat_rate`[line] AS vat_rate,
        if(vat_rate BETWEEN 0 AND 100, toDecimal128(least(greatest(round(divideDecimal(toDecimal256(net, 2) * assumeNotNull(vat_rate), toDecimal256(100 + assumeNotNull(vat_rate), 10), 10), 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2), NULL) AS vat_amount,
        `items.extras_name`[line] AS extras_name, `items.extras_price`[line] AS extras_price
    FROM
    (
        SELECT
            business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
            -- Most orders have no discount: then nothing is spread. When the lines are worth nothing,
            -- the first one bears all of it.
            arrayCumSum(arrayMap(value -> toDecimal256(greatest(value, 0), 2), if(totals_discount = 0, [], `items.total`))) AS values_up_to,
            arrayMap(
                (up_to, whole) -> toDecimal128(least(greatest(round(if(whole = 0, toDecimal256(totals_discount, 4), divideDecimal(toDecimal256(totals_discount, 2) * up_to, if(whole = 0, toDecimal256(1, 2), whole), 4)), 2), toDecimal256('-1e28', 2)), toDecimal256('1e28', 2)), 2),
                values_up_to, arrayResize([values_up_to[-1]], length(values_up_to), values_up_to[-1])) AS shares_up_to,
            -- The lengths alone: length() would have the ids read.
            `items.id.size0` AS line_count, `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`
        FROM `{{raw}}`.`sales_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
    )
    -- Only the place is unfolded: unfolded columns would all be read, whatever a query asks for.
    ARRAY JOIN range(1, line_count + 1) AS line
) AS lines
LEFT ANY JOIN (
    SELECT business_id, product_id, product_name, category_id, category_name
    FROM
    (
        SELECT
            business_id, id AS product_id, nullIf(argMax(name, _version), '') AS product_name,
            argMax(tuple(products.category_id), _version).1 AS category_id
        FROM `{{raw}}`.`products` AS products
        GROUP BY business_id, id
    ) AS products
    LEFT ANY JOIN (
        SELECT business_id, id AS category_id, nullIf(argMax(name, _version), '') AS category_name
        FROM `{{raw}}`.`categories`
        GROUP BY business_id, id
    ) AS categories USING (business_id, category_id)
) AS products USING (business_id, product_id)
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
COMMENT 'One row per restaurant, order and line. Its net is after order-level discounts and without the delivery fee; quantity mixes kilograms and pieces: add up pieces and weight_kg';
