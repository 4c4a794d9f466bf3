-- Totals of days: as the service reports them, and as the mirrored orders give them.

{{define "as_of" -}}
    `as_of` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service last gave these figures, as far as it is stored; what was entered or changed later may be missing. Yesterday and today are asked for every few minutes (schedule.reconcile); an answer with the same figures is not stored then. The last 92 days, and those of single locations, are asked for every night (schedule.reconcile_deep), all days by a full resync: that they were asked is stored. larder reconcile asks at once'
{{- end}}

{{/* When the last run of a kind that asked for days began, by source: it has ended, so all of its days were asked for since. */}}
{{define "begun" -}}
    (SELECT CAST(groupArray((source, begun)), 'Map(String, DateTime64(6, \'Europe/Bucharest\'))') FROM
    (
        SELECT toString(source) AS source, assumeNotNull(max(started_at)) AS begun
        FROM {{table "checkpoints"}} FINAL
        WHERE {{.}} AND done AND isNotNull(started_at)
        GROUP BY source
    ))[toString(_source)]
{{- end}}

{{define "ratios" -}}
    if(orders = 0, NULL, round(toFloat64(net_sales) / orders, 2)) AS average_order,
    if(items = 0, NULL, round(toFloat64(discounts) * 100 / toFloat64(items), 2)) AS discount_percent
{{- end}}

CREATE OR REPLACE VIEW {{view "sales_daily"}}
(
{{shown "business" "business_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{shown "day_figures" "day_ratios" "as_of" "origin" "raw"}}
)
AS WITH
    {{template "begun" "stream = 'sales_daily' AND walk = 'reconcile_deep'"}} AS deep_begun,
    {{template "begun" "stream = 'sales_daily' AND walk = 'totals'"}} AS all_begun
SELECT
    business_id, business_name, date, {{names "day_figures"}},
    {{template "ratios"}},
    -- A figure that is given again is not stored again.
    greatest(_fetched_at, all_begun, if(date >= toDate32(deep_begun) - 91, deep_begun, _fetched_at)) AS as_of,
    {{names "origin" "raw"}}
FROM
(
    SELECT business_id, date, {{names "day_figures" "origin" "raw"}}
    FROM {{table "sales_daily"}} FINAL
    WHERE isNull(location_id)
    {{quick}}
) AS days
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and day: all locations together, as the service reports it. A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';

CREATE OR REPLACE VIEW {{view "sales_daily_by_location"}}
(
{{shown "business" "business_name"}},
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
{{shown "location_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{shown "day_figures" "day_ratios" "as_of" "origin" "raw"}}
)
AS WITH
    {{template "begun" "stream = 'sales_daily' AND walk = 'reconcile_deep'"}} AS deep_begun
SELECT
    business_id, business_name, location_id, location_name, date, {{names "day_figures"}},
    {{template "ratios"}},
    -- Deep runs ask for single locations, while they are the key's.
    greatest(_fetched_at, if(date >= toDate32(deep_begun) - 91
        AND (business_id, toString(location_id)) IN (SELECT business_id, id FROM {{table "locations"}} FINAL),
        deep_begun, _fetched_at)) AS as_of,
    {{names "origin" "raw"}}
FROM
(
    SELECT business_id, assumeNotNull(days.location_id) AS location_id, date, {{names "day_figures" "origin" "raw"}}
    FROM {{table "sales_daily"}} AS days FINAL
    WHERE isNotNull(days.location_id)
    {{quick}}
) AS days
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, location and day, as the service reports it. A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';

CREATE OR REPLACE VIEW {{view "sales_products"}}
(
{{shown "business" "business_name" "product_day" "category_name" "as_of" "origin" "raw"}}
)
AS WITH
    {{template "begun" "stream = 'sales_products' AND walk = 'reconcile_deep'"}} AS deep_begun,
    {{template "begun" "stream = 'sales_products' AND walk = 'totals'"}} AS all_begun
SELECT
    business_id, business_name, {{names "product_day"}}, category_name,
    greatest(_fetched_at, all_begun, if(date >= toDate32(deep_begun) - 91, deep_begun, _fetched_at)) AS as_of,
    {{names "origin" "raw"}}
FROM (SELECT business_id, {{names "product_day" "origin" "raw"}} FROM {{table "sales_products"}} FINAL WHERE isNull(location_id) {{quick}}) AS days
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, day and product sold (of lines without a catalogue product, per name): all locations together, as the service reports it. Its net is before order-level discounts, and quantity mixes kilograms and pieces';

CREATE OR REPLACE VIEW {{view "sales_products_by_location"}}
(
{{shown "business" "business_name"}},
    `location_id` LowCardinality(String) COMMENT 'Location the sales are of',
{{shown "location_name" "product_day" "category_name"}},
    `as_of` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service last gave these figures, as far as it is stored: an answer with the same figures is stored again by a full resync only',
{{shown "origin" "raw"}}
)
AS SELECT
    business_id, business_name, location_id, location_name, {{names "product_day"}}, category_name, _fetched_at AS as_of,
    {{names "origin" "raw"}}
FROM
(
    SELECT business_id, assumeNotNull(days.location_id) AS location_id, {{names "product_day" "origin" "raw"}}
    FROM {{table "sales_products"}} AS days FINAL
    WHERE isNotNull(days.location_id)
    {{quick}}
) AS days
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, location, day and product sold (of lines without a catalogue product, per name), as the service reports it, with the traps of sales_products (net, quantity): of sources that name locations, and of keys that see some locations. What other sources sold by location is in sales_lines';

{{/* The figures of each location, day, type and channel: orders on their own day, refunds on theirs. */}}
{{define "parts" -}}
    SELECT
        business_id, location_id, business_day AS date, type AS day_type, channel AS day_channel,
        count() AS day_orders,
        sum(totals_net_sales) AS day_net_sales,
        sum(totals_items) AS day_items,
        sum(totals_discount) AS day_discounts,
        sum(totals_delivery_fee) AS day_delivery_fees,
        sum(totals_tip) AS day_tips,
        sum(totals_deposit) AS day_deposits,
        toDecimal128(0, 2) AS day_refunds,
        sumMap(`payments.method`, `payments.amount`) AS day_payments,
        max(_fetched_at) AS day_fetched_at
    FROM {{table "sales_orders"}} FINAL
    GROUP BY business_id, location_id, business_day, type, channel

    UNION ALL

    SELECT
        business_id, location_id, toDate32(refund_at) AS date, type AS day_type, channel AS day_channel,
        0, 0, 0, 0, 0, 0, 0,
        sum(refund_amount) AS day_refunds,
        (emptyArrayString()::Array(LowCardinality(String)), CAST([], 'Array(Decimal(38, 2))')) AS day_payments,
        max(_fetched_at) AS day_fetched_at
    FROM {{table "sales_orders"}} FINAL
    ARRAY JOIN `refunds.at` AS refund_at, `refunds.amount` AS refund_amount
    GROUP BY business_id, location_id, date, type, channel
{{- end}}

{{define "sums" -}}
    toInt64(sum(day_orders)) AS orders,
    {{range figures "Decimal"}}toDecimal64(sum(day_{{.Name}}), 2) AS {{.Name}}, {{end}}
    CAST(sumMap(day_payments.1, day_payments.2), 'Map(LowCardinality(String), Decimal(18, 2))') AS payments,
    CAST(sumMap([day_type], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_type,
    CAST(sumMap([day_channel], [day_net_sales]), 'Map(LowCardinality(String), Decimal(18, 2))') AS by_channel,
    max(day_fetched_at) AS _fetched_at
{{- end}}

CREATE OR REPLACE VIEW {{view "sales_daily_computed"}}
(
{{shown "business" "business_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{shown "day_figures" "day_ratios"}},
    `_fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with the newest of these orders'
)
AS SELECT business_id, business_name, date, {{names "day_figures"}}, {{template "ratios"}}, _fetched_at
FROM
(
    SELECT business_id, date, {{template "sums"}}
    FROM
    (
    {{template "parts"}}
    )
    GROUP BY business_id, date
) AS days
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant and day: all locations together, as the mirrored orders give it (the same figures as sales_daily). A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';

CREATE OR REPLACE VIEW {{view "sales_daily_computed_by_location"}}
(
{{shown "business" "business_name"}},
    `location_id` LowCardinality(String) COMMENT 'Location the totals are of',
{{shown "location_name"}},
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{shown "day_figures" "day_ratios"}},
    `_fetched_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service answered with the newest of these orders'
)
AS SELECT business_id, business_name, location_id, location_name, date, {{names "day_figures"}}, {{template "ratios"}}, _fetched_at
FROM
(
    SELECT business_id, location_id, date, {{template "sums"}}
    FROM
    (
    {{template "parts"}}
    )
    GROUP BY business_id, location_id, date
) AS days
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, location and day, as the mirrored orders give it (the same figures as sales_daily_by_location). A ratio of two amounts is cut at two decimals: divide toFloat64(amount). Averages do not add up';
