CREATE OR REPLACE VIEW `{{db}}`.`ingredient_allergens`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `ingredient_id` String COMMENT 'Ingredient of one location: joins with ingredients on (business_id, id)',
    `ingredient_name` String COMMENT 'Name of the ingredient',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
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
    FROM `{{db}}`.`ingredients` AS ingredients
)
ARRAY JOIN arrayEnumerate(codes) AS line
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location, ingredient and allergen that it contains';
