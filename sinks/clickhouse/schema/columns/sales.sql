{{/* What nearly every question of an owner reads is stored with the quicker codec, LZ4: a restaurant's
orders of a day lie all over its rows, so its column is unpacked whole. Texts that repeat from line to
line are of LowCardinality: as strings they took most of the time of a query by product. */}}
{{define "order_head"}}
    `number` Nullable(String) COMMENT 'Order number on receipts',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery',
    `table_id` Nullable(String) COMMENT 'Table',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at' CODEC(LZ4),
    `created_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the order was opened',
    `updated_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the order last changed; of one that is removed, before its removal. Sync goes by it',
    `paid_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the order was paid'
{{end}}

{{define "order_items"}}
    `items.id` Array(String) COMMENT 'Lines: id',
    `items.product_id` Array(LowCardinality(Nullable(String))) COMMENT 'Lines: product id; null when the line has no catalogue product',
    `items.name` Array(LowCardinality(String)) COMMENT 'Lines: name on the receipt',
    `items.variant_id` Array(Nullable(String)) COMMENT 'Lines: variant id; null when there is none',
    `items.variant_name` Array(Nullable(String)) COMMENT 'Lines: variant name',
    `items.quantity` Array(Decimal(38, 10)) COMMENT 'Lines: quantity',
    `items.weight_kg` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: weight, kg, of a product sold by weight',
    `items.price_per_kg` Array(Nullable(Decimal(18, 2))) COMMENT 'Lines: price per kilogram, RON, of a product sold by weight',
    `items.unit_price` Array(Decimal(18, 2)) COMMENT 'Lines: price of one unit, RON',
    `items.extras_name` Array(Array(LowCardinality(String))) COMMENT 'Lines: names of the extras of each line',
    `items.extras_price` Array(Array(Decimal(18, 2))) COMMENT 'Lines: price of each extra per unit, RON',
    `items.discount_percent` Array(Decimal(38, 10)) COMMENT 'Lines: line discount, percent',
    `items.vat_rate` Array(Nullable(Decimal(38, 10))) COMMENT 'Lines: VAT, percent, included in prices',
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x unit price x (1 - discount) + extras x quantity, RON' CODEC(LZ4)
{{end}}

{{define "order_totals"}}
    `totals_items` Decimal(18, 2) COMMENT 'Line totals after line discounts, RON' CODEC(LZ4),
    `totals_discount` Decimal(18, 2) COMMENT 'Order-level discount, RON',
    `totals_delivery_fee` Decimal(18, 2) COMMENT 'Delivery fee, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON; not part of net sales',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer paid, RON' CODEC(LZ4),
    `totals_net_sales` Decimal(18, 2) COMMENT 'Net sales, RON: total - tip - deposit; refunds are not subtracted' CODEC(LZ4)
{{end}}

{{define "order_payments"}}
    `payments.method` Array(LowCardinality(String)) COMMENT 'Payments: method (cash, card, card_at_counter, online, voucher, protocol, other)',
    `payments.amount` Array(Decimal(18, 2)) COMMENT 'Payments: amount, RON',
    `payments.at` Array(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Payments: when'
{{end}}

{{define "order_refunds"}}
    `refunds.amount` Array(Decimal(18, 2)) COMMENT 'Refunds: amount, RON',
    `refunds.method` Array(LowCardinality(String)) COMMENT 'Refunds: method',
    `refunds.at` Array(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Refunds: when; a refund counts on its own day in Europe/Bucharest',
    `refunds.item_id` Array(Nullable(String)) COMMENT 'Refunds: line refunded; null when it is not one line'
{{end}}

{{define "day_figures"}}
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
    `by_channel` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Net sales by sales channel (pos, platform_a, platform_b, direct), RON'
{{end}}

{{define "product_day"}}
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
    `product_id` Nullable(String) COMMENT 'Product id; null for lines with no catalogue product, which come one row per name',
    `name` String COMMENT 'Name it was last sold under that day',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `quantity` Decimal(38, 10) COMMENT 'Quantity sold: kilograms where weight_kg is not null, else pieces. Do not add the two up',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight sold, kg, of a product sold by weight',
    `gross` Decimal(18, 2) COMMENT 'Quantity x unit price + extras, RON',
    `line_discounts` Decimal(18, 2) COMMENT 'Line discounts, RON',
    `net` Decimal(18, 2) COMMENT 'What the lines sold for, RON, before order-level discounts, which are not spread over products: the sum of total of sales_items, not of its net'
{{end}}
