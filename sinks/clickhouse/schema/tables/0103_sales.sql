-- Sales. An order keeps its lines, payments and refunds in its own row, as arrays of
-- one length, so that it is replaced as one. No partitions: a tombstone carries no day.

CREATE TABLE IF NOT EXISTS {{storage "sales_orders"}}
(
{{columns "business"}},
    `id` String COMMENT 'Order id',
{{columns "order_head" "order_items" "order_totals" "order_payments" "order_refunds" "meta"}},
    INDEX business_day_minmax business_day TYPE minmax GRANULARITY 1,
    INDEX created_at_minmax created_at TYPE minmax GRANULARITY 1,
    INDEX paid_at_minmax paid_at TYPE minmax GRANULARITY 1,
    INDEX deleted_at_minmax _deleted_at TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Paid orders that are not cancelled, with their lines, payments and refunds';

{{distributed "sales_orders" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "sales_daily"}}
(
{{columns "business"}},
    `id` String COMMENT '<date> for all locations together, <date>/<location id> for one',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location the totals are of; null is all locations together',
    `date` Date32 COMMENT 'Day (Europe/Bucharest)',
{{columns "day_figures" "meta"}},
    INDEX date_minmax date TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Daily totals as the service reports them';

{{distributed "sales_daily" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "sales_products"}}
(
{{columns "business"}},
    `id` String COMMENT '<date>/p/<product id>, or <date>/n/<name> for lines without a catalogue product',
{{columns "product_day" "meta"}},
    INDEX date_minmax date TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Sales of each product by day, as the service reports them';

{{distributed "sales_products" "business_id"}}
