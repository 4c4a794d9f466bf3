-- Orders, what they hold, and orders that stopped being sales.

{{/* What follows from the rest of an order. */}}
{{define "derived" -}}
    if(isNull(paid_at), NULL, round(dateDiff('second', created_at, assumeNotNull(paid_at)) / 60, 1)) AS minutes_to_payment,
    toInt64(length(`items.id`)) AS line_count,
    arraySum(`items.quantity`)::Decimal(38, 10) AS item_count,
    if(totals_items = 0, NULL, round(toFloat64(totals_discount) * 100 / toFloat64(totals_items), 2)) AS discount_percent,
    toBool(notEmpty(`refunds.amount`)) AS has_refund,
    arraySum(`refunds.amount`)::Decimal(38, 2) AS refunds_total
{{- end}}

CREATE OR REPLACE VIEW {{view "sales_orders_full"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Order id',
{{shown "order_head" "location_name" "order_derived" "order_totals" "order_items" "order_payments" "order_refunds" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, id, {{names "order_head"}}, location_name,
    {{template "derived"}},
    {{names "order_totals" "order_items" "order_payments" "order_refunds" "origin" "raw"}}
FROM
(
    SELECT business_id, id, {{names "order_head" "order_totals" "order_items" "order_payments" "order_refunds" "origin" "raw"}}
    FROM {{table "sales_orders"}} FINAL {{quick}}
) AS orders
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and order, with its lines, payments and refunds as arrays and its JSON; sales_orders is the same without them';

CREATE OR REPLACE VIEW {{view "sales_orders"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Order id',
{{shown "order_head" "location_name" "order_derived" "order_totals" "origin"}}
)
AS SELECT
    business_id, business_name, id, {{names "order_head"}}, location_name,
    {{template "derived"}},
    {{names "order_totals" "origin"}}
FROM
(
    SELECT business_id, id, {{names "order_head" "order_totals" "origin"}}, `items.id`, `items.quantity`, `refunds.amount`
    FROM {{table "sales_orders"}} FINAL {{quick}}
) AS orders
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and order: paid orders that are not cancelled. Lines, payments and refunds have views of their own. A ratio of two amounts is cut at two decimals: divide toFloat64(amount)';

{{/* One row per order and line, names other than its own left out. */}}
{{define "lines" -}}
SELECT
    business_id, {{names "order_place" "order_kind"}},
    toInt64(line) AS position, `items.id`[line] AS id, `items.product_id`[line] AS product_id, `items.name`[line] AS name,
    `items.variant_id`[line] AS variant_id, `items.variant_name`[line] AS variant_name,
    `items.quantity`[line] AS quantity, toBool(isNotNull(weight_kg)) AS is_weighed, `items.weight_kg`[line] AS weight_kg,
    if(is_weighed, NULL, quantity) AS pieces,
    `items.price_per_kg`[line] AS price_per_kg, `items.unit_price`[line] AS unit_price,
    {{bani "toDecimal256(quantity, 10) * arraySum(extras_price)"}} AS extras_total,
    {{bani "toDecimal256(quantity, 10) * (toDecimal256(unit_price, 2) + arraySum(extras_price))"}} AS gross,
    `items.discount_percent`[line] AS discount_percent,
    gross - total AS line_discount,
    `items.total`[line] AS total,
    -- What falls on the lines up to this one, less what falls on those before it: rounding
    -- errors of the parts cancel out, and all of them together are the discount.
    shares_up_to[line] - shares_up_to[line - 1] AS order_discount_share,
    total - order_discount_share AS net,
    `items.vat_rate`[line] AS vat_rate,
    if(vat_rate BETWEEN 0 AND 100, {{bani "divideDecimal(toDecimal256(net, 2) * assumeNotNull(vat_rate), toDecimal256(100 + assumeNotNull(vat_rate), 10), 10)"}}, NULL) AS vat_amount,
    `items.extras_name`[line] AS extras_name, `items.extras_price`[line] AS extras_price
FROM
(
    SELECT
        business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
        -- Most orders have no discount: then nothing is spread. When the lines are worth nothing,
        -- the first one bears all of it.
        arrayCumSum(arrayMap(value -> toDecimal256(greatest(value, 0), 2), if(totals_discount = 0, [], `items.total`))) AS values_up_to,
        arrayMap(
            (up_to, whole) -> {{bani "if(whole = 0, toDecimal256(totals_discount, 4), divideDecimal(toDecimal256(totals_discount, 2) * up_to, if(whole = 0, toDecimal256(1, 2), whole), 4))"}},
            values_up_to, arrayResize([values_up_to[-1]], length(values_up_to), values_up_to[-1])) AS shares_up_to,
        -- The lengths alone: length() would have the ids read.
        `items.id.size0` AS line_count, {{names "order_items"}}
    FROM {{table "sales_orders"}} FINAL {{quick}}
)
-- Only the place is unfolded: unfolded columns would all be read, whatever a query asks for.
ARRAY JOIN range(1, line_count + 1) AS line
{{- end}}

CREATE OR REPLACE VIEW {{view "sales_items"}}
(
{{shown "business" "business_name" "order_of" "line_place" "product_today" "line"}}
)
AS SELECT
    business_id, business_name, {{names "order_of" "line_place" "product_today" "line"}}
FROM
(
{{template "lines"}}
) AS lines
LEFT ANY JOIN {{template "product_names"}} AS products USING (business_id, product_id)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, order and line. Its net is after order-level discounts and without the delivery fee; quantity mixes kilograms and pieces: add up pieces and weight_kg';

CREATE OR REPLACE VIEW {{view "sales_lines"}}
(
{{shown "business" "order_place" "order_kind" "line_place" "line"}}
)
AS {{template "lines"}}
{{plain}}
COMMENT 'One row per restaurant, order and line, with the traps of sales_items (net, quantity): sales_items without the names of restaurant, location, product and category, for adding up by ids, which reads and plans less';

CREATE OR REPLACE VIEW {{view "sales_quantities"}}
(
{{shown "business" "order_id" "order_day" "sold_at" "order_channel" "line_position" "line_product" "line_variant" "sold"}}
)
AS SELECT
    business_id, order_id, business_day, location_id, channel, position,
    -- Of LowCardinality, nobody could ask for those that are null and nothing else.
    CAST(of_product, 'Nullable(String)') AS product_id,
    variant_id, quantity, toBool(isNotNull(weight_kg)) AS is_weighed, weight_kg, if(is_weighed, NULL, quantity) AS pieces
FROM
(
    SELECT business_id, id AS order_id, business_day, location_id, channel, `items.product_id`, `items.variant_id`, `items.quantity`, `items.weight_kg`
    FROM {{table "sales_orders"}} FINAL {{quick}}
)
-- All are unfolded, and read: so they are few.
ARRAY JOIN arrayEnumerate(`items.quantity`) AS position, `items.product_id` AS of_product, `items.variant_id` AS variant_id, `items.quantity` AS quantity, `items.weight_kg` AS weight_kg
{{plain}}
COMMENT 'One row per restaurant, order and line, by ids and without amounts. quantity mixes kilograms and pieces: add up pieces and weight_kg. Plans less than sales_lines';

CREATE OR REPLACE VIEW {{view "sales_item_extras"}}
(
{{shown "business" "business_name" "order_of"}},
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
    {{bani "toDecimal256(item_quantity, 10) * price"}} AS amount
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
        FROM {{table "sales_orders"}} FINAL {{quick}}
    )
    ARRAY JOIN arrayFilter(n -> notEmpty(`items.extras_name`[n]), arrayEnumerate(`items.extras_name`)) AS line
) AS lines
ARRAY JOIN arrayEnumerate(names) AS extra
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, order, line and extra';

CREATE OR REPLACE VIEW {{view "sales_payments"}}
(
{{shown "business" "business_name" "order_of"}},
    `position` Int64 COMMENT 'Place of the payment in the order, from 1',
    `method` LowCardinality(String) COMMENT 'Method: cash, card, card_at_counter, online, voucher, protocol (on the house), other',
    `amount` Decimal(18, 2) COMMENT 'Amount, RON; tip and deposit included',
    `tip` Nullable(Decimal(18, 2)) COMMENT 'Part of the amount that is the tip of the order, RON; null when the order has a tip and several payments: the service gives no method of a tip. totals_tip of sales_orders has every tip',
    `at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When it was paid'
)
AS SELECT
    business_id, business_name, order_id, order_number, business_day, created_at, paid_at,
    location_id, location_name, channel, type,
    position, method, amount, tip, at
FROM
(
    SELECT
        business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
        toInt64(line) AS position, `payments.method`[line] AS method, `payments.amount`[line] AS amount,
        if(totals_tip = 0 OR length(`payments.method`) = 1, totals_tip, NULL) AS tip, `payments.at`[line] AS at
    FROM {{table "sales_orders"}} FINAL
    ARRAY JOIN arrayEnumerate(`payments.method`) AS line
    {{quick}}
) AS lines
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, order and payment. Amounts include tips and deposits, so they add up to more than net sales, and method protocol is no money';

{{/* One row per order and refund, names of restaurant and location left out. */}}
{{define "refunds" -}}
(
    WITH if(isNull(item_id), 0, indexOf(`items.id`, assumeNotNull(item_id))) AS item
    SELECT
        business_id, id AS order_id, number AS order_number, business_day, created_at, paid_at, location_id, channel, type,
        toInt64(line) AS position, `refunds.amount`[line] AS amount, `refunds.method`[line] AS method, `refunds.at`[line] AS at,
        toDate32(at) AS refund_day, dateDiff('day', business_day, refund_day) AS days_after_order,
        `refunds.item_id`[line] AS item_id,
        if(item = 0, NULL, `items.name`[item]) AS item_name,
        if(item = 0, NULL, `items.product_id`[item]) AS product_id
    FROM {{table "sales_orders"}} FINAL
    ARRAY JOIN arrayEnumerate(`refunds.amount`) AS line
    {{quick}}
)
{{- end}}

CREATE OR REPLACE VIEW {{view "sales_refunds"}}
(
{{shown "business" "business_name" "order_of"}},
    `position` Int64 COMMENT 'Place of the refund in the order, from 1',
    `amount` Decimal(18, 2) COMMENT 'Amount, RON',
    `method` LowCardinality(String) COMMENT 'Method',
    `at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When it was refunded',
    `refund_day` Date32 COMMENT 'Day the refund counts on: day in Europe/Bucharest of at, whatever the day of the order',
    `days_after_order` Int64 COMMENT 'Days from the day of the order to that of the refund',
    `item_id` Nullable(String) COMMENT 'Line refunded; null when it is not one line',
    `item_name` Nullable(String) COMMENT 'Name on the receipt of the line refunded; null when it is not one line, or not a line of the order',
    `product_id` Nullable(String) COMMENT 'Product of the line refunded'
)
AS SELECT
    business_id, business_name, {{names "order_of"}},
    position, amount, method, at, refund_day, days_after_order, item_id, item_name, product_id
FROM {{template "refunds"}} AS lines
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, order and refund. Net sales are before refunds; a refund counts on refund_day, not on the day of its order';

CREATE OR REPLACE VIEW {{view "sales_orders_removed"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Order id',
    `reason` LowCardinality(String) COMMENT 'Why it is no sale any more: cancelled, unpaid or deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location)',
    `removed_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the service removed it: when it deleted it, else when it last changed it (a cancelled or unpaid order has no other time); null when neither is known',
    `noticed_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When Larder learned of it',
    `value_known` Bool COMMENT 'Whether the order was ever seen as a sale; when not, what it was is not known: everything below is null or empty, but for _raw, which says that it was removed',
{{maybe "order_head" "location_name" "order_totals"}},
{{shown "order_items" "order_payments" "order_refunds" "raw"}},
    `_tombstone_raw` String COMMENT 'JSON of the tombstone as received, unknown fields included; empty when Larder found the order gone'
)
AS SELECT
    business_id, business_name, id, reason, removed_at, noticed_at, value_known,
    {{range list "order_head"}}if(value_known, removed.{{.}}, NULL) AS {{.}}, {{end}}
    location_name,
    {{range list "order_totals"}}if(value_known, removed.{{.}}, NULL) AS {{.}}, {{end}}
    {{names "order_items" "order_payments" "order_refunds" "raw"}}, _tombstone_raw
FROM
(
    SELECT
        business_id, id, reason, removed_at, noticed_at, value_known,
        {{names "order_head" "order_totals" "order_items" "order_payments" "order_refunds" "raw"}}, _tombstone_raw
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
            _delete_reason AS reason, {{removedAt}} AS removed_at, _fetched_at AS noticed_at, toBool(CAST(location_id, 'String') != '') AS value_known,
            {{names "order_head" "order_totals" "order_items" "order_payments" "order_refunds" "raw"}}, _tombstone_raw
        FROM {{table "sales_orders"}}
        WHERE _deleted = 1
    ) AS found USING (business_id, id, last_version)
) AS removed
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
SETTINGS optimize_aggregation_in_order = 1, join_algorithm = 'hash', {{pinned}}
COMMENT 'One row per restaurant and order that stopped being a sale, with its last known values';
