{{define "business_name"}}
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet'
{{end}}

{{define "location_name"}}
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known'
{{end}}

{{define "category_name"}}
    `category_name` Nullable(String) COMMENT 'Name of the menu category, also of a removed one; null when it is not known'
{{end}}

{{define "order_of"}}
    {{columns "order_place" "location_name" "order_kind"}}
{{end}}

{{define "order_place"}}
    {{columns "order_id"}},
    `order_number` Nullable(String) COMMENT 'Order number on receipts',
    {{columns "order_day"}},
    `created_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the order was opened',
    `paid_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the order was paid',
    {{columns "sold_at"}}
{{end}}

{{define "order_kind"}}
    {{columns "order_channel"}},
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery'
{{end}}

{{define "line_place"}}
    {{columns "line_position"}},
    `id` String COMMENT 'Line id',
    {{columns "line_product"}}
{{end}}

{{define "line"}}
    `name` String COMMENT 'Name on the receipt',
    {{columns "line_variant"}},
    `variant_name` Nullable(String) COMMENT 'Name of the variant',
    {{columns "sold"}},
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
{{end}}

{{define "product_today"}}
    `product_name` Nullable(String) COMMENT 'Name of the product in the catalogue today, also of a removed one; null when it is not known',
    `category_id` Nullable(String) COMMENT 'Menu category of the product today',
    {{columns "category_name"}}
{{end}}

{{define "order_derived"}}
    `minutes_to_payment` Nullable(Float64) COMMENT 'Minutes from created_at to paid_at, one decimal; null while it is not known when it was paid',
    `line_count` Int64 COMMENT 'Number of lines',
    `item_count` Decimal(38, 10) COMMENT 'Sum of the quantities of the lines, kilograms and pieces together: how large an order was, roughly. line_count counts lines',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discount as a percentage of the lines (totals_discount of totals_items), two decimals; null when the lines are worth nothing',
    `has_refund` Bool COMMENT 'Whether anything of the order was refunded',
    `refunds_total` Decimal(38, 2) COMMENT 'Refunds of the order on all days together, RON'
{{end}}

{{define "day_ratios"}}
    `average_order` Nullable(Float64) COMMENT 'Net sales of an order on average, RON, two decimals; null on a day without orders. Of several days divide the sums anew: averages do not add up',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discounts as a percentage of items, two decimals; null when items are 0'
{{end}}

{{define "product_of"}}
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product at the time of the change',
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to'
{{end}}

{{define "price_change"}}
    `channel` LowCardinality(String) COMMENT 'Where the price holds: pos, or a sales channel of the product as orders name it (direct, platform_a, platform_b)',
    `variant_id` Nullable(String) COMMENT 'Variant whose price changed; null for the price of the product itself',
    `variant_name` Nullable(String) COMMENT 'Name of that variant',
    `old_price` Decimal(18, 2) COMMENT 'Price before, RON',
    `new_price` Decimal(18, 2) COMMENT 'Price since, RON',
    `change_percent` Nullable(Float64) COMMENT 'Change as a percentage of the old price, two decimals; null when that was 0',
    `since` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when the new price holds',
    `until` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Until when it held: when it changed again, or when the product, the channel or the variant was no longer there; null while it holds'
{{end}}

{{define "outage_of"}}
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `product_name` String COMMENT 'Name of the product when it was sold out',
    `category_id` Nullable(String) COMMENT 'Menu category of the product at that time'
{{end}}

{{define "outage_at"}}
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to'
{{end}}

{{define "outage"}}
    `sold_out_from` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when it was sold out; when it was so already as Larder first saw it, since its last change before',
    `sold_out_to` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was available again, or was removed from the catalogue; null while it is sold out',
    `minutes` Int64 COMMENT 'Minutes it was sold out; up to now while it is',
    `open_minutes` Nullable(Int64) COMMENT 'Those of them within the opening hours of the location, as its schedule stands today, special days included; null when it has no schedule',
    `open_minutes_a_week` Nullable(Int64) COMMENT 'Minutes that the location is open in a week without special days, as its schedule stands today; null when it has no schedule'
{{end}}

{{define "sold"}}
    `quantity` Decimal(38, 10) COMMENT 'Quantity: kilograms of a line sold by weight, else pieces. Do not add the two up: pieces and weight_kg can be',
    `is_weighed` Bool COMMENT 'Whether the line was sold by weight',
    `weight_kg` Nullable(Decimal(38, 10)) COMMENT 'Weight, kg, of a line sold by weight; null of any other',
    `pieces` Nullable(Decimal(38, 10)) COMMENT 'Pieces sold; null of a line sold by weight'
{{end}}

{{define "order_id"}}
    `order_id` String COMMENT 'Order: joins with sales_orders on (business_id, id)'
{{end}}

{{define "order_day"}}
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at'
{{end}}

{{define "sold_at"}}
    `location_id` LowCardinality(String) COMMENT 'Location that sold it'
{{end}}

{{define "order_channel"}}
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)'
{{end}}

{{define "line_position"}}
    `position` Int64 COMMENT 'Place of the line in the order, from 1'
{{end}}

{{define "line_product"}}
    `product_id` Nullable(String) COMMENT 'Product: joins with products on (business_id, id); null when the line has no catalogue product'
{{end}}

{{define "line_variant"}}
    `variant_id` Nullable(String) COMMENT 'Variant id; null when there is none'
{{end}}
