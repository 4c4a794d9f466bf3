-- Orders placed through the keys, and when Larder first learned of each of their transitions:
-- the API only knows the present.

CREATE TABLE IF NOT EXISTS {{storage "online_orders"}}
(
{{columns "business"}},
    `id` String COMMENT 'Order id',
{{columns "online_via" "online_head" "online_customer" "online_rest" "online_items" "online_totals" "online_payment" "online_dates" "meta"}},
    INDEX created_at_minmax created_at TYPE minmax GRANULARITY 1
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Orders placed through the keys, with their lines';

{{distributed "online_orders" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "order_transitions"}}
(
{{columns "business"}},
    `order_id` String COMMENT 'Order id',
{{columns "order_event_of" "order_event"}},
    `_first` UInt64 COMMENT 'The greater, the earlier it was written: of equal transitions the first stays'
)
ENGINE = {{replacing "_first"}}
ORDER BY (business_id, order_id, status)
SETTINGS {{settings}}
COMMENT 'Transitions of online orders, as they were first learned of';

{{distributed "order_transitions" "business_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS {{inner "order_transitions_feed"}} TO {{local "order_transitions"}}
(
{{shown "business"}},
    `order_id` String COMMENT 'Order id',
{{shown "order_event_of" "order_event"}},
    `_first` UInt64 COMMENT 'The greater, the earlier it was written: of equal transitions the first stays'
)
AS {{template "order_transitions" (local "online_orders")}}
COMMENT 'Writes the transitions of online orders to order_transitions';
