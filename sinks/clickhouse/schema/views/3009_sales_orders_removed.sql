CREATE OR REPLACE VIEW `{{db}}`.`sales_orders_removed`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Order id',
    `reason` LowCardinality(String) COMMENT 'Why it is no sale any more: cancelled, unpaid or deleted (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location)',
    `removed_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service removed it: when it deleted it, else when it last changed it (a cancelled or unpaid order has no other time); null when neither is known',
    `noticed_at` DateTime64(6, '{{zone}}') COMMENT 'When Larder learned of it',
    `value_known` Bool COMMENT 'Whether the order was ever seen as a sale; when not, what it was is not known: everything below is null or empty, but for _raw, which says that it was removed',
    `number` Nullable(String) COMMENT 'Order number on receipts',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location that sold it',
    `channel` LowCardinality(Nullable(String)) COMMENT 'Sales channel: pos, platform_a, platform_b, direct (online ordering)',
    `type` LowCardinality(Nullable(String)) COMMENT 'Order type: dine_in, takeaway, delivery',
    `table_id` Nullable(String) COMMENT 'Table',
    `business_day` Nullable(Date32) COMMENT 'Day the order counts on: day in {{zone}} of created_at',
    `created_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was opened',
    `updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order last changed; of one that is removed, before its removal. Sync goes by it',
    `paid_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the order was paid',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `totals_items` Nullable(Decimal(18, 2)) COMMENT 'Line totals after line discounts, RON',
    `totals_discount` Nullable(Decimal(18, 2)) COMMENT 'Order-level discount, RON',
    `totals_delivery_fee` Nullable(Decimal(18, 2)) COMMENT 'Delivery fee, RON',
    `totals_tip` Nullable(Decimal(18, 2)) COMMENT 'Tip, RON; not part of net sales',
    `totals_deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) deposits, RON; not part of net sales',
    `totals_total` Nullable(Decimal(18, 2)) COMMENT 'What the customer paid, RON',
    `totals_net_sales` Nullable(Decimal(18, 2)) COMMENT 'Net sales, RON: total - tip - deposit; refunds are not subtracted',
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
    `items.total` Array(Decimal(18, 2)) COMMENT 'Lines: quantity x unit price x (1 - discount) + extras x quantity, RON',
    `payments.method` Array(LowCardinality(String)) COMMENT 'Payments: method (cash, card, card_at_counter, online, voucher, protocol, other)',
    `payments.amount` Array(Decimal(18, 2)) COMMENT 'Payments: amount, RON',
    `payments.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Payments: when',
    `refunds.amount` Array(Decimal(18, 2)) COMMENT 'Refunds: amount, RON',
    `refunds.method` Array(LowCardinality(String)) COMMENT 'Refunds: method',
    `refunds.at` Array(DateTime64(6, '{{zone}}')) COMMENT 'Refunds: when; a refund counts on its own day in {{zone}}',
    `refunds.item_id` Array(Nullable(String)) COMMENT 'Refunds: line refunded; null when it is not one line',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included',
    `_tombstone_raw` String COMMENT 'JSON of the tombstone as received, unknown fields included; empty when Larder found the order gone'
)
AS SELECT
    business_id, business_name, id, reason, removed_at, noticed_at, value_known,
    if(value_known, removed.`number`, NULL) AS `number`, if(value_known, removed.`location_id`, NULL) AS `location_id`, if(value_known, removed.`channel`, NULL) AS `channel`, if(value_known, removed.`type`, NULL) AS `type`, if(value_known, removed.`table_id`, NULL) AS `table_id`, if(value_known, removed.`business_day`, NULL) AS `business_day`, if(value_known, removed.`created_at`, NULL) AS `created_at`, if(value_known, removed.`updated_at`, NULL) AS `updated_at`, if(value_known, removed.`paid_at`, NULL) AS `paid_at`, 
    location_name,
    if(value_known, removed.`totals_items`, NULL) AS `totals_items`, if(value_known, removed.`totals_discount`, NULL) AS `totals_discount`, if(value_known, removed.`totals_delivery_fee`, NULL) AS `totals_delivery_fee`, if(value_known, removed.`totals_tip`, NULL) AS `totals_tip`, if(value_known, removed.`totals_deposit`, NULL) AS `totals_deposit`, if(value_known, removed.`totals_total`, NULL) AS `totals_total`, if(value_known, removed.`totals_net_sales`, NULL) AS `totals_net_sales`, 
    `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `payments.method`, `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, `_raw`, _tombstone_raw
FROM
(
    SELECT
        business_id, id, reason, removed_at, noticed_at, value_known,
        `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `payments.method`, `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, `_raw`, _tombstone_raw
    FROM
    (
        SELECT business_id, id, max(_version) AS last_version
        FROM `{{raw}}`.`sales_orders`
        GROUP BY business_id, id
        HAVING argMax(sales_orders._deleted, sales_orders._version) = 1
    ) AS current
    ANY INNER JOIN
    (
        SELECT
            business_id, id, _version AS last_version,
            _delete_reason AS reason, ifNull(_deleted_at, _tombstone_updated_at) AS removed_at, _fetched_at AS noticed_at, toBool(CAST(location_id, 'String') != '') AS value_known,
            `number`, `location_id`, `channel`, `type`, `table_id`, `business_day`, `created_at`, `updated_at`, `paid_at`, `totals_items`, `totals_discount`, `totals_delivery_fee`, `totals_tip`, `totals_deposit`, `totals_total`, `totals_net_sales`, `items.id`, `items.product_id`, `items.name`, `items.variant_id`, `items.variant_name`, `items.quantity`, `items.weight_kg`, `items.price_per_kg`, `items.unit_price`, `items.extras_name`, `items.extras_price`, `items.discount_percent`, `items.vat_rate`, `items.total`, `payments.method`, `payments.amount`, `payments.at`, `refunds.amount`, `refunds.method`, `refunds.at`, `refunds.item_id`, `_raw`, _tombstone_raw
        FROM `{{raw}}`.`sales_orders`
        WHERE _deleted = 1
    ) AS found USING (business_id, id, last_version)
) AS removed
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
SETTINGS optimize_aggregation_in_order = 1, join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and order that stopped being a sale, with its last known values';
