-- Names by id, for the views that show them beside ids. Rows that were removed keep their
-- last name, so these read without FINAL, which would drop them.

CREATE OR REPLACE VIEW {{inner "business_names"}}
(
{{shown "business" "business_name"}}
)
AS SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
FROM {{table "api_keys"}} AS api_keys
GROUP BY business_id
COMMENT 'One row per restaurant: its name';

CREATE OR REPLACE VIEW {{inner "location_names"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location id',
{{shown "location_name"}}
)
AS SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
FROM {{table "locations"}}
GROUP BY business_id, id
COMMENT 'One row per restaurant and location, removed ones included: its name';

CREATE OR REPLACE VIEW {{inner "category_names"}}
(
{{shown "business"}},
    `category_id` String COMMENT 'Category id',
{{shown "category_name"}}
)
AS SELECT business_id, id AS category_id, nullIf(argMax(name, _version), '') AS category_name
FROM {{table "categories"}}
GROUP BY business_id, id
COMMENT 'One row per restaurant and menu category, removed ones included: its name';

CREATE OR REPLACE VIEW {{inner "product_names"}}
(
{{shown "business"}},
    `product_id` String COMMENT 'Product id',
    `product_name` Nullable(String) COMMENT 'Name of the product',
    `category_id` Nullable(String) COMMENT 'Menu category of the product',
{{shown "category_name"}}
)
AS SELECT business_id, product_id, product_name, category_id, category_name
FROM
(
    SELECT
        business_id, id AS product_id, nullIf(argMax(name, _version), '') AS product_name,
        argMax(tuple(products.category_id), _version).1 AS category_id
    FROM {{table "products"}} AS products
    GROUP BY business_id, id
) AS products
LEFT ANY JOIN {{inner_name "category_names"}} AS categories USING (business_id, category_id)
{{joined}}
COMMENT 'One row per restaurant and product, removed ones included: its name and menu category';

CREATE OR REPLACE VIEW {{inner "opening_hours"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location id',
    `opens` Array(Nullable(String)) COMMENT 'Opening times from Monday to Sunday, HH:MM local time; null when closed or no schedule is set',
    `closes` Array(Nullable(String)) COMMENT 'Closing times from Monday to Sunday; not after the opening time means on the next day',
    `closed_on` Array(Nullable(Bool)) COMMENT 'Whether it is closed all day, from Monday to Sunday; null when no schedule is set',
    `special_days` Array(Date32) COMMENT 'Days that differ from their weekday',
    `special_closed` Array(Bool) COMMENT 'Whether it is closed on those days'
)
AS SELECT
    business_id, id AS location_id,
    argMax(tuple([opening_hours_monday_open, opening_hours_tuesday_open, opening_hours_wednesday_open, opening_hours_thursday_open, opening_hours_friday_open, opening_hours_saturday_open, opening_hours_sunday_open]), _version).1 AS opens,
    -- A day that ends at 24:00 ends at 00:00 of the next.
    arrayMap(close -> if(close = '24:00', '00:00', close), argMax(tuple([opening_hours_monday_close, opening_hours_tuesday_close, opening_hours_wednesday_close, opening_hours_thursday_close, opening_hours_friday_close, opening_hours_saturday_close, opening_hours_sunday_close]), _version).1) AS closes,
    argMax(tuple([opening_hours_monday_closed, opening_hours_tuesday_closed, opening_hours_wednesday_closed, opening_hours_thursday_closed, opening_hours_friday_closed, opening_hours_saturday_closed, opening_hours_sunday_closed]), _version).1 AS closed_on,
    argMax(tuple(`opening_hours_exceptions.date`), _version).1 AS special_days,
    argMax(tuple(`opening_hours_exceptions.closed`), _version).1 AS special_closed
FROM {{table "locations"}}
GROUP BY business_id, id
COMMENT 'One row per restaurant and location, removed ones included: its opening hours, Monday first';
