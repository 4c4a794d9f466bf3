-- Whose personal data is not kept any more, whatever the configuration says.

CREATE TABLE IF NOT EXISTS {{storage "forgotten_orders"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `order_id` String COMMENT 'Online order of whose customer nothing is kept any more',
    `chosen_by` LowCardinality(String) COMMENT 'How it was chosen: order, by its id; phone, by that of its customer',
    `forgotten_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When that was decided'
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, order_id)
SETTINGS {{settings}}
COMMENT 'Online orders whose customers are forgotten: what a later walk brings of them is stored without personal data';

{{distributed "forgotten_orders" "business_id"}}
