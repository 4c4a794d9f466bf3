{{define "held"}}
    `removed` Bool COMMENT 'Whether the row is removed in the service',
    `removed_reason` LowCardinality(String) COMMENT 'Why it was removed; empty otherwise'
{{end}}

{{define "version_dates"}}
    `valid_from` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the state began, as the service dates it, or when it was first seen',
    `seen_at` DateTime64(6, 'Europe/Bucharest') COMMENT 'When the service first answered with the state',
    `_version` UInt64 COMMENT 'Version of the row that brought the state'
{{end}}

{{define "state_dates"}}
{{columns "version_dates"}},
    `_state` UInt64 COMMENT 'Hash of the state: equal states have equal hashes'
{{end}}

{{/* The hash of a state covers a fixed list of columns, in this order. A column that is added later is
not in it: with it each state would have another hash, and each product and ingredient would seem to
change at the next full resync. See docs/adding-a-column.md. */}}
{{define "product_state_hash" -}}
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, category_id, name, description, image_url, price, unit, vat_rate, deposit, available, `allergens.code`,
        `allergens.name`, diets, calories, prep_minutes, station, channels_enabled, channels_price, `variants.id`, `variants.name`,
        `variants.price`, `variants.price_delta`, `extra_groups.id`, `extra_groups.name`, `extra_groups.min`, `extra_groups.max`,
        `extra_groups.required`, `extra_groups.options_id`, `extra_groups.options_name`, `extra_groups.options_price`, position)))
{{- end}}

{{define "stock_state_hash" -}}
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, name, unit, stock, min_stock, below_min)))
{{- end}}

{{define "menu_state_hash" -}}
    cityHash64(toJSONString(tuple(product_id,
        category_id, category_name, name, price, deposit, available, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`,
        `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
        `extra_groups.options_name`, `extra_groups.options_price`)))
{{- end}}

{{/* A removal is dated by the first of the two times that the service gave, as removed_at of the views. */}}
{{define "product_history_feed" -}}
SELECT
    business_id, id, {{names "product_state"}},
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    least(_fetched_at, ifNull(if(removed, {{removedAt}}, updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    {{template "product_state_hash"}} AS _state
FROM {{local "products"}}
{{- end}}

{{define "stock_history_feed" -}}
SELECT
    business_id, id, {{names "stock_state"}},
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    least(_fetched_at, ifNull(if(removed, {{removedAt}}, updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    {{template "stock_state_hash"}} AS _state
FROM {{local "ingredients"}}
{{- end}}

{{define "menu_states_feed" -}}
SELECT
    business_id, id, product_id, {{names "menu_offer"}},
    {{template "menu_state_hash"}} AS _state
FROM ({{template "menu_dishes" (local "menus")}})
WHERE product_id != '' AND _deleted = 0
{{- end}}

{{define "menu_versions_feed" -}}
SELECT
    business_id, id,
    arraySort(groupUniqArrayIf({{template "menu_state_hash"}}, product_id != '' AND _deleted = 0)) AS _states,
    least(any(_fetched_at), ifNull(any(if(_deleted = 1, _deleted_at, updated_at)), any(_fetched_at))) AS valid_from,
    any(_fetched_at) AS seen_at,
    _version
FROM ({{template "menu_dishes" (local "menus")}})
GROUP BY business_id, id, _version
{{- end}}
