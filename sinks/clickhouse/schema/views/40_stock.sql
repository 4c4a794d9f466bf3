-- Stock as it is.

CREATE OR REPLACE VIEW {{view "ingredients"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
{{shown "stock_state" "location_name" "ingredient_more" "origin" "raw"}}
)
AS SELECT
    business_id, business_name, id, {{names "stock_state"}}, location_name, {{names "ingredient_more" "origin" "raw"}}
FROM (SELECT business_id, id, {{names "stock_state" "ingredient_more" "origin" "raw"}} FROM {{table "ingredients"}} FINAL {{quick}}) AS rows
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, location and ingredient, with its current stock. Amounts are in the unit of each ingredient: they do not add up over units';

CREATE OR REPLACE VIEW {{view "ingredient_allergens"}}
(
{{shown "business"}},
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
{{shown "location_name"}},
    `position` Int64 COMMENT 'Place among the allergens of the ingredient, from 1',
    `code` String COMMENT 'Allergen code: joins with allergens on (business_id, id)',
    `name` String COMMENT 'Name of the allergen in Romanian, as the ingredient has it'
)
AS SELECT
    business_id, ingredient_id, ingredient_name, location_id, location_name,
    toInt64(line) AS position, codes[line] AS code, names[line] AS name
FROM
(
    SELECT business_id, id AS ingredient_id, ingredients.name AS ingredient_name, location_id, location_name, `allergens.code` AS codes, `allergens.name` AS names
    FROM {{name "ingredients"}} AS ingredients
)
ARRAY JOIN arrayEnumerate(codes) AS line
{{plain}}
COMMENT 'One row per restaurant, location, ingredient and allergen that it contains';
