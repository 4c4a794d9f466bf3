-- Stock.

CREATE TABLE IF NOT EXISTS {{storage "ingredients"}}
(
{{columns "business"}},
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
{{columns "stock_state" "ingredient_more" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Ingredients with the current stock of each location';

{{distributed "ingredients" "business_id"}}
