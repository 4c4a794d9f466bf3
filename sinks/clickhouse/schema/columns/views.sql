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
    `order_id` String COMMENT 'Order: joins with sales_orders on (business_id, id)',
    `order_number` Nullable(String) COMMENT 'Order number on receipts',
    `business_day` Date32 COMMENT 'Day the order counts on: day in Europe/Bucharest of created_at',
    `created_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the order was opened',
    `paid_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the order was paid',
    `location_id` LowCardinality(String) COMMENT 'Location that sold it',
    {{columns "location_name"}},
    `channel` LowCardinality(String) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(String) COMMENT 'Order type: dine_in, takeaway, delivery'
{{end}}

{{define "order_derived"}}
    `minutes_to_payment` Nullable(Float64) COMMENT 'Minutes from created_at to paid_at, one decimal; null while it is not known when it was paid',
    `line_count` Int64 COMMENT 'Number of lines',
    `item_count` Decimal(38, 10) COMMENT 'Sum of the quantities of the lines, as the service counts them',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discount as a percentage of the lines (totals_discount of totals_items), two decimals; null when the lines are worth nothing',
    `has_refund` Bool COMMENT 'Whether anything of the order was refunded',
    `refunds_total` Decimal(38, 2) COMMENT 'Refunds of the order on all days together, RON'
{{end}}

{{define "day_ratios"}}
    `average_order` Nullable(Float64) COMMENT 'Net sales of an order on average, RON, two decimals; null on a day without orders. Of several days divide the sums anew: averages do not add up',
    `discount_percent` Nullable(Float64) COMMENT 'Order-level discounts as a percentage of items, two decimals; null when items are 0'
{{end}}
