-- What was offered online, and since and until when, read from the versions of the menus.

{{define "by_menu" -}}
    OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND
{{- end}}

CREATE OR REPLACE VIEW {{view "menu_history"}}
(
{{shown "business"}},
    `location_id` String COMMENT 'Location whose menu it is',
{{shown "location_name"}},
    `product_id` String COMMENT 'Product: joins with products on (business_id, id)',
    `valid_from` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when it was offered so: the change as the service dates it, or when Larder first saw it',
    `valid_to` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Until when: it was changed, taken off the menu, or the menu was removed; null while it is offered so',
{{shown "menu_offer"}}
)
AS SELECT
    business_id, location_id, location_name, product_id, valid_from, valid_to, {{names "menu_offer"}}
FROM
(
    -- What a product begins to be and what it ceases to be take turns.
    SELECT
        business_id, id AS location_id, change.1 AS _state, change.2 AS began, changed_at AS valid_from,
        leadInFrame(toNullable(changed_at)) OVER (PARTITION BY business_id, id, change.1 ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS valid_to
    FROM
    (
        SELECT
            business_id, id, _version, changes,
            max(if(isNull(newest_before) OR dated_at > newest_before, dated_at, seen_at)) {{template "by_menu"}} CURRENT ROW) AS changed_at
        FROM
        (
            -- Of both lists together, sorted, those have changed that are there once. Lambdas that
            -- look into another list would copy it for each of their elements, and blocks of
            -- thousands of lists take hundreds of megabytes.
            SELECT
                business_id, id, _version, dated_at, seen_at, newest_before,
                arraySort(side -> side.1, arrayConcat(arrayMap(state -> (state, true), _states), arrayMap(state -> (state, false), states_before))) AS both,
                arrayMap(side -> side.1, both) AS states,
                arrayFilter((side, left, right) -> side.1 != left AND side.1 != right, both, arrayPushFront(arrayPopBack(states), 0), arrayPushBack(arrayPopFront(states), 0)) AS changes
            FROM
            (
                SELECT
                    business_id, id, _version, _states, menu_versions.valid_from AS dated_at, seen_at,
                    max(toNullable(dated_at)) {{template "by_menu"}} 1 PRECEDING) AS newest_before,
                    lagInFrame(_states) {{template "by_menu"}} UNBOUNDED FOLLOWING) AS states_before
                FROM {{table "menu_versions"}} AS menu_versions FINAL
            )
            WHERE _states != states_before
            SETTINGS max_block_size = 256
        )
    )
    ARRAY JOIN changes AS change
) AS rows
-- What a lost part of menu_states held has no product.
LEFT ANY JOIN (SELECT business_id, id AS location_id, product_id, _state, {{names "menu_offer"}} FROM {{table "menu_states"}}) AS states USING (business_id, location_id, _state)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
WHERE began AND product_id != ''
{{joined}}
COMMENT 'One row per restaurant, location, product and state in which Larder saw it on the menu, with when it was offered so';
