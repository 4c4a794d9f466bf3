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
COMMENT 'One row per restaurant, location and ingredient, with its current stock';
