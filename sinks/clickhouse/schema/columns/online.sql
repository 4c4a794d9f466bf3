{{define "online_head"}}
    `external_id` String COMMENT 'Id that the one who placed the order gave it; unique per key',
    `number` Nullable(String) COMMENT 'Order number on receipts; null for test orders',
    `pickup_code` Nullable(String) COMMENT 'Code shown to the customer and the staff',
    `status` LowCardinality(String) COMMENT 'received, accepted, ready; or final: completed, rejected, cancelled',
    `test` Bool COMMENT 'true: placed with a test key; it never reached the kitchen, stock or reports',
    `type` LowCardinality(String) COMMENT 'pickup (the customer collects) or delivery (a courier of the restaurant)',
    `location_id` LowCardinality(String) COMMENT 'Location that it was placed at',
    `scheduled_for` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it is wanted; null is as soon as possible',
    `placed_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was placed',
    `answer_by` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Until when the restaurant must accept, else it is rejected with code no_response',
    `accepted_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the restaurant accepted it',
    `estimated_ready_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it is promised to be ready; it may move later',
    `ready_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was ready',
    `completed_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was completed',
    `rejected_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was rejected',
    `cancelled_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When it was cancelled',
    `rejection_code` LowCardinality(Nullable(String)) COMMENT 'Why it was rejected: items_unavailable, closing_soon, no_response, other; null when it was not',
    `rejection_message` Nullable(String) COMMENT 'Words of the restaurant about the rejection; null unless personal_data is keep',
    `cancellation_by` LowCardinality(Nullable(String)) COMMENT 'Who cancelled it: customer or restaurant; null when nobody did',
    `cancellation_reason` Nullable(String) COMMENT 'Why it was cancelled, in words; null unless personal_data is keep'
{{end}}

{{define "online_customer"}}
    `customer_name` Nullable(String) COMMENT 'Name of the customer; null unless personal_data is keep',
    `customer_phone` Nullable(String) COMMENT 'Phone of the customer; null unless personal_data is keep',
    `customer_email` Nullable(String) COMMENT 'E-mail of the customer; null unless personal_data is keep',
    `customer_key` Nullable(String) COMMENT 'Pseudonym of the customer: a keyed hash of the phone, the same for each of their orders; null unless personal_data is pseudonymise',
    `delivery_address` Nullable(String) COMMENT 'Address of the delivery; null unless personal_data is keep',
    `delivery_city` Nullable(String) COMMENT 'Town of the delivery; null when personal_data is drop',
    `delivery_notes` Nullable(String) COMMENT 'Notes on the delivery; null unless personal_data is keep',
    `delivery_lat` Nullable(Decimal(38, 10)) COMMENT 'Latitude of the delivery; null unless personal_data is keep',
    `delivery_lng` Nullable(Decimal(38, 10)) COMMENT 'Longitude of the delivery; null unless personal_data is keep',
    `notes` Nullable(String) COMMENT 'Notes on the order; null unless personal_data is keep',
    `allergies` Nullable(String) COMMENT 'Allergies that the customer named; null unless personal_data is keep'
{{end}}

{{define "online_items"}}
    `items.product_id` Array(LowCardinality(String)) COMMENT 'Lines: product id',
    `items.variant_id` Array(Nullable(String)) COMMENT 'Lines: variant id; null when there is none',
    `items.name` Array(LowCardinality(String)) COMMENT 'Lines: name of the product as it was ordered',
    `items.variant_name` Array(Nullable(String)) COMMENT 'Lines: variant name',
    `items.quantity` Array(Int64) COMMENT 'Lines: quantity',
    `items.unit_price` Array(Decimal(18, 2)) COMMENT 'Lines: price of one unit, RON',
    `items.options_id` Array(Array(String)) COMMENT 'Lines: ids of the options of each line',
    `items.options_name` Array(Array(LowCardinality(String))) COMMENT 'Lines: names of the options of each line',
    `items.options_quantity` Array(Array(Int64)) COMMENT 'Lines: quantity of each option, per unit of the product',
    `items.options_unit_price` Array(Array(Decimal(18, 2))) COMMENT 'Lines: price of one of each option, RON',
    `items.notes` Array(Nullable(String)) COMMENT 'Lines: notes for the kitchen; null unless personal_data is keep',
    `items.deposit` Array(Decimal(18, 2)) COMMENT 'Lines: SGR deposit of the line, RON: quantity x deposit of one unit',
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x (unit price + options), RON; without the deposit'
{{end}}

{{define "online_totals"}}
    `totals_items` Decimal(18, 2) COMMENT 'Line totals, RON',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer pays, RON: items + deposit + tip'
{{end}}

{{define "online_payment"}}
    `payment_status` LowCardinality(String) COMMENT 'paid or unpaid; an unpaid order becomes paid at the counter or with the courier',
    `payment_method` LowCardinality(Nullable(String)) COMMENT 'How it is paid, in the words of the one who placed it',
    `payment_reference` Nullable(String) COMMENT 'Reference of the payment; null unless personal_data is keep'
{{end}}

{{define "online_rest"}}
    `cutlery` Nullable(Bool) COMMENT 'Whether cutlery is wanted; null when it was not said'
{{end}}

{{define "online_dates"}}
    `created_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service took the order in',
    `updated_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the order last changed; sync goes by it'
{{end}}

{{define "online_via"}}
    `via` LowCardinality(String) COMMENT 'What brought this version of the order: polling or webhook'
{{end}}

{{define "online_derived"}}
    `business_day` Date32 COMMENT 'Day the order was placed on: day in Europe/Bucharest of created_at',
    `minutes_to_accept` Nullable(Float64) COMMENT 'Minutes from placing to acceptance; null when it was not accepted',
    `minutes_to_ready` Nullable(Float64) COMMENT 'Minutes from acceptance to ready; null when it was not ready',
    `minutes_late` Nullable(Float64) COMMENT 'Minutes from the promised time to ready, negative when it was earlier; null when either is not known',
    `line_count` Int64 COMMENT 'Lines',
    `item_count` Int64 COMMENT 'Units of all lines'
{{end}}

{{define "online_of"}}
    `order_id` String COMMENT 'Order: joins with online_orders on (business_id, id)',
    `external_id` String COMMENT 'Id that the one who placed the order gave it; unique per key',
    `business_day` Date32 COMMENT 'Day the order was placed on: day in Europe/Bucharest of created_at',
    `created_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service took the order in',
    `status` LowCardinality(String) COMMENT 'Status of the order now',
    `test` Bool COMMENT 'true: a test order',
    `type` LowCardinality(String) COMMENT 'pickup or delivery',
    `location_id` LowCardinality(String) COMMENT 'Location that it was placed at',
    {{columns "location_name"}}
{{end}}

{{define "order_event_of"}}
    `location_id` LowCardinality(String) COMMENT 'Location that the order was placed at',
    `test` Bool COMMENT 'true: a test order'
{{end}}

{{define "order_event"}}
    `status` LowCardinality(String) COMMENT 'What the order became: received, accepted, ready, completed, rejected, cancelled',
    `at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When, as the service dates it',
    `received_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When Larder first learned of it',
    `via` LowCardinality(String) COMMENT 'What told of it first: webhook or polling'
{{end}}

{{/* The transitions of orders, one row each: of the table, or of what follows it, in the dot. */}}
{{define "order_transitions" -}}
SELECT
    business_id, id AS order_id, location_id, test, transition.1 AS status, assumeNotNull(transition.2) AS at, _fetched_at AS received_at, via, bitNot(_version) AS _first
FROM {{.}}
ARRAY JOIN arrayFilter(t -> isNotNull(t.2), [
    ('received', ifNull(placed_at, created_at)::Nullable(DateTime64(6, 'Europe/Bucharest'))), ('accepted', accepted_at), ('ready', ready_at),
    ('completed', completed_at), ('rejected', rejected_at), ('cancelled', cancelled_at)
]) AS transition
WHERE _deleted = 0
{{- end}}
