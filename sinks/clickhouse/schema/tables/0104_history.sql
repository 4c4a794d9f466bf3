-- The API only knows the present: these tables keep every version of a product and of a
-- stock that was stored. The views product_history and stock_history collapse the repeats.

CREATE TABLE IF NOT EXISTS {{storage "product_history"}}
(
{{columns "business"}},
    `id` String COMMENT 'Product id',
{{columns "product_state" "held" "state_dates"}}
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, id, _version)
SETTINGS {{settings}}
COMMENT 'Every version of a product that was stored';

{{distributed "product_history" "business_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS {{inner "product_history_feed"}} TO {{local "product_history"}}
(
{{shown "business"}},
    `id` String COMMENT 'Product id',
{{shown "product_state" "held" "state_dates"}}
)
AS {{template "product_history_feed"}}
COMMENT 'Writes every version of products to product_history';

CREATE TABLE IF NOT EXISTS {{storage "stock_history"}}
(
{{columns "business"}},
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
{{columns "stock_state" "held" "state_dates"}}
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, id, _version)
SETTINGS {{settings}}
COMMENT 'Every version of an ingredient stock that was stored';

{{distributed "stock_history" "business_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS {{inner "stock_history_feed"}} TO {{local "stock_history"}}
(
{{shown "business"}},
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
{{shown "stock_state" "held" "state_dates"}}
)
AS {{template "stock_history_feed"}}
COMMENT 'Writes every version of ingredients to stock_history';
