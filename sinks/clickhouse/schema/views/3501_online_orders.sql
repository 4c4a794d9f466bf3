-- Orders placed through the keys, what they hold, and how they went.

CREATE OR REPLACE VIEW `{{db}}`.`online_orders`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Order id',
    `external_id` String COMMENT 'Id that the one who placed the order gave it; unique per key',
    `number` Nullable(String) COMMENT 'Order number on receipts; null for test orders',
    `pickup_code` Nullable(String) COMMENT 'Code shown to the customer and the staff',
    `status` LowCardinality(String) COMMENT 'received, accepted, ready; or final: completed, rejected, cancelled',
    `test` Bool COMMENT 'true: placed with a test key; it never reached the kitchen, stock or reports',
    `type` LowCardinality(String) COMMENT 'pickup (the customer collects) or delivery (a courier of the restaurant)',
    `location_id` LowCardinality(String) COMMENT 'Location that it was placed at',
    `scheduled_for` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it is wanted; null is as soon as possible',
    `placed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was placed',
    `answer_by` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when the restaurant must accept, else it is rejected with code no_response',
    `accepted_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the restaurant accepted it',
    `estimated_ready_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it is promised to be ready; it may move later',
    `ready_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was ready',
    `completed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was completed',
    `rejected_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was rejected',
    `cancelled_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When it was cancelled',
    `rejection_code` LowCardinality(Nullable(String)) COMMENT 'Why it was rejected: items_unavailable, closing_soon, no_response, other; null when it was not',
    `rejection_message` Nullable(String) COMMENT 'Words of the restaurant about the rejection; null unless personal_data is keep',
    `cancellation_by` LowCardinality(Nullable(String)) COMMENT 'Who cancelled it: customer or restaurant; null when nobody did',
    `cancellation_reason` Nullable(String) COMMENT 'Why it was cancelled, in words; null unless personal_data is keep',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `business_day` Date32 COMMENT 'Day the order was placed on: day in {{zone}} of created_at',
    `minutes_to_accept` Nullable(Float64) COMMENT 'Minutes from placing to acceptance; null when it was not accepted',
    `minutes_to_ready` Nullable(Float64) COMMENT 'Minutes from acceptance to ready; null when it was not ready',
    `minutes_late` Nullable(Float64) COMMENT 'Minutes from the promised time to ready, negative when it was earlier; null when either is not known',
    `line_count` Int64 COMMENT 'Lines',
    `item_count` Int64 COMMENT 'Units of all lines',
    `totals_items` Decimal(18, 2) COMMENT 'Line totals, RON',
    `totals_deposit` Decimal(18, 2) COMMENT 'SGR (deposit-return) deposits, RON',
    `totals_tip` Decimal(18, 2) COMMENT 'Tip, RON',
    `totals_total` Decimal(18, 2) COMMENT 'What the customer pays, RON: items + deposit + tip',
    `payment_status` LowCardinality(String) COMMENT 'paid or unpaid; an unpaid order becomes paid at the counter or with the courier',
    `payment_method` LowCardinality(Nullable(String)) COMMENT 'How it is paid, in the words of the one who placed it',
    `payment_reference` Nullable(String) COMMENT 'Reference of the payment; null unless personal_data is keep',
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
    `allergies` Nullable(String) COMMENT 'Allergies that the customer named; null unless personal_data is keep',
    `cutlery` Nullable(Bool) COMMENT 'Whether cutlery is wanted; null when it was not said',
    `created_at` DateTime64(6, '{{zone}}') COMMENT 'When the service took the order in',
    `updated_at` DateTime64(6, '{{zone}}') COMMENT 'When the order last changed; sync goes by it',
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
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x (unit price + options), RON; without the deposit',
    `via` LowCardinality(String) COMMENT 'What brought this version of the order: polling or webhook',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, id, `external_id`, `number`, `pickup_code`, `status`, `test`, `type`, `location_id`, `scheduled_for`, `placed_at`, `answer_by`, `accepted_at`, `estimated_ready_at`, `ready_at`, `completed_at`, `rejected_at`, `cancelled_at`, `rejection_code`, `rejection_message`, `cancellation_by`, `cancellation_reason`, `location_name`,
    toDate32(created_at) AS business_day,
    round(dateDiff('second', ifNull(placed_at, created_at), accepted_at) / 60, 1) AS minutes_to_accept,
    round(dateDiff('second', accepted_at, ready_at) / 60, 1) AS minutes_to_ready,
    round(dateDiff('second', estimated_ready_at, ready_at) / 60, 1) AS minutes_late,
    toInt64(length(`items.product_id`)) AS line_count,
    arraySum(`items.quantity`) AS item_count,
    `totals_items`, `totals_deposit`, `totals_tip`, `totals_total`, `payment_status`, `payment_method`, `payment_reference`, `customer_name`, `customer_phone`, `customer_email`, `customer_key`, `delivery_address`, `delivery_city`, `delivery_notes`, `delivery_lat`, `delivery_lng`, `notes`, `allergies`, `cutlery`, `created_at`, `updated_at`, `items.product_id`, `items.variant_id`, `items.name`, `items.variant_name`, `items.quantity`, `items.unit_price`, `items.options_id`, `items.options_name`, `items.options_quantity`, `items.options_unit_price`, `items.notes`, `items.deposit`, `items.total`, `via`, `_source`, `_fetched_at`, `_raw`
FROM
(
    SELECT business_id, id, `via`, `external_id`, `number`, `pickup_code`, `status`, `test`, `type`, `location_id`, `scheduled_for`, `placed_at`, `answer_by`, `accepted_at`, `estimated_ready_at`, `ready_at`, `completed_at`, `rejected_at`, `cancelled_at`, `rejection_code`, `rejection_message`, `cancellation_by`, `cancellation_reason`, `customer_name`, `customer_phone`, `customer_email`, `customer_key`, `delivery_address`, `delivery_city`, `delivery_notes`, `delivery_lat`, `delivery_lng`, `notes`, `allergies`, `cutlery`, `items.product_id`, `items.variant_id`, `items.name`, `items.variant_name`, `items.quantity`, `items.unit_price`, `items.options_id`, `items.options_name`, `items.options_quantity`, `items.options_unit_price`, `items.notes`, `items.deposit`, `items.total`, `totals_items`, `totals_deposit`, `totals_tip`, `totals_total`, `payment_status`, `payment_method`, `payment_reference`, `created_at`, `updated_at`, `_source`, `_fetched_at`, `_raw`
    FROM `{{raw}}`.`online_orders` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1
) AS orders
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
COMMENT 'One row per restaurant and order placed through a key, test orders included. What it holds of the customer depends on personal_data of the source';
