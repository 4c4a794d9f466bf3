-- Every state seen, once each, with when it held; and what happened in between.

{{define "state_period" -}}
    `valid_from` DateTime64(6, 'Europe/Bucharest') COMMENT 'Since when it was so: the change as the service dates it, or when Larder first saw it',
    `valid_to` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Until when it was so; null for the present state',
    `removed` Bool COMMENT 'true while the row was removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed: deleted, gone, no_access; empty otherwise'
{{- end}}

{{define "by_version" -}}
    OVER (PARTITION BY business_id, id ORDER BY _version ROWS BETWEEN UNBOUNDED PRECEDING AND
{{- end}}

{{/* A state that the service does not date, or dates before the state that held until then,
began when Larder saw it, and never before the one before: a change that left updated_at as it
was, one stamped in the past, a clock that stepped back. The dot has the table and the columns. */}}
{{define "states" -}}
SELECT
    business_id, id, valid_from,
    leadInFrame(toNullable(valid_from)) {{template "by_version"}} UNBOUNDED FOLLOWING) AS valid_to,
    removed, removed_reason, {{.Columns}}
FROM
(
    SELECT
        business_id, id, _version, removed, removed_reason,
        max(if(isNull(state_before) OR dated_at > newest_before, dated_at, seen_at)) {{template "by_version"}} CURRENT ROW) AS valid_from,
        {{.Columns}}
    FROM
    (
        SELECT
            business_id, id, _version, history.valid_from AS dated_at, seen_at, removed, removed_reason, _state,
            -- Until then the state before held, whenever it began.
            max(dated_at) {{template "by_version"}} 1 PRECEDING) AS newest_before,
            lagInFrame(toNullable(_state)) {{template "by_version"}} UNBOUNDED FOLLOWING) AS state_before,
            {{.Columns}}
        FROM {{table .Table}} AS history FINAL
    )
    WHERE state_before IS NULL OR state_before != _state
)
{{- end}}

CREATE OR REPLACE VIEW {{view "product_history"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Product id',
{{template "state_period"}},
{{shown "product_state" "location_name" "category_name"}}
)
AS SELECT
    business_id, business_name, id, valid_from, valid_to, removed, removed_reason, {{names "product_state"}}, location_name, category_name
FROM ({{template "states" (history "product_history" (names "product_state"))}}) AS states
LEFT ANY JOIN {{template "category_names"}} AS categories USING (business_id, category_id)
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, product and state that Larder saw, with when it held';

CREATE OR REPLACE VIEW {{view "stock_history"}}
(
{{shown "business" "business_name"}},
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
{{template "state_period"}},
{{shown "stock_state" "location_name"}}
)
AS SELECT
    business_id, business_name, id, valid_from, valid_to, removed, removed_reason, {{names "stock_state"}}, location_name
FROM ({{template "states" (history "stock_history" (names "stock_state"))}}) AS states
LEFT ANY JOIN {{template "location_names"}} AS places USING (business_id, location_id)
LEFT ANY JOIN {{template "business_names"}} AS businesses USING (business_id)
{{joined}}
COMMENT 'One row per restaurant, ingredient and state of its stock that Larder saw, with when it held. States do not add up, nor do amounts of different units';
