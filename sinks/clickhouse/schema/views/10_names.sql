-- Names by id, for the views that show them beside ids. Rows that were removed keep their
-- last name, so these read without FINAL, which would drop them. They are no views: the
-- engine takes ten milliseconds more to plan a join with a view than one with its query.

{{/* One row per restaurant: its name. */}}
{{define "business_names" -}}
(
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM {{table "api_keys"}} AS api_keys
    GROUP BY business_id
)
{{- end}}

{{/* One row per restaurant and location, removed ones included: its name. */}}
{{define "location_names" -}}
(
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM {{table "locations"}}
    GROUP BY business_id, id
)
{{- end}}

{{/* One row per restaurant and menu category, removed ones included: its name. */}}
{{define "category_names" -}}
(
    SELECT business_id, id AS category_id, nullIf(argMax(name, _version), '') AS category_name
    FROM {{table "categories"}}
    GROUP BY business_id, id
)
{{- end}}

{{/* One row per restaurant and product, removed ones included: its name and menu category. */}}
{{define "product_names" -}}
(
    SELECT business_id, product_id, product_name, category_id, category_name
    FROM
    (
        SELECT
            business_id, id AS product_id, nullIf(argMax(name, _version), '') AS product_name,
            argMax(tuple(products.category_id), _version).1 AS category_id
        FROM {{table "products"}} AS products
        GROUP BY business_id, id
    ) AS products
    LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
)
{{- end}}

{{/* One row per restaurant and location, removed ones included: its opening hours, Monday first. The arrays are from Monday to Sunday; the special days are those that differ from their weekday. */}}
{{define "opening_hours" -}}
(
    SELECT
        business_id, id AS location_id,
        argMax(tuple([opening_hours_monday_open, opening_hours_tuesday_open, opening_hours_wednesday_open, opening_hours_thursday_open, opening_hours_friday_open, opening_hours_saturday_open, opening_hours_sunday_open]), _version).1 AS opens,
        -- A day that ends at 24:00 ends at 00:00 of the next.
        arrayMap(close -> if(close = '24:00', '00:00', close), argMax(tuple([opening_hours_monday_close, opening_hours_tuesday_close, opening_hours_wednesday_close, opening_hours_thursday_close, opening_hours_friday_close, opening_hours_saturday_close, opening_hours_sunday_close]), _version).1) AS closes,
        argMax(tuple([opening_hours_monday_closed, opening_hours_tuesday_closed, opening_hours_wednesday_closed, opening_hours_thursday_closed, opening_hours_friday_closed, opening_hours_saturday_closed, opening_hours_sunday_closed]), _version).1 AS closed_on,
        argMax(tuple(`opening_hours_exceptions.date`), _version).1 AS special_days,
        argMax(tuple(`opening_hours_exceptions.closed`), _version).1 AS special_closed
    FROM {{table "locations"}}
    GROUP BY business_id, id
)
{{- end}}
