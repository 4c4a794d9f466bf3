-- A removed row keeps the JSON and the updated_at of its tombstone beside its own.

{{define "tombstone_columns"}}
    ADD COLUMN IF NOT EXISTS `_tombstone_updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone' AFTER `_raw`,
    ADD COLUMN IF NOT EXISTS `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3)) AFTER `_tombstone_updated_at`
{{- end}}

{{define "add_tombstone_columns"}}
ALTER TABLE {{storage .}}
{{- template "tombstone_columns"}};

ALTER TABLE {{inner .}}
{{- template "tombstone_columns"}};
{{end}}

{{template "add_tombstone_columns" "locations"}}
{{template "add_tombstone_columns" "allergens"}}
{{template "add_tombstone_columns" "categories"}}
{{template "add_tombstone_columns" "products"}}
{{template "add_tombstone_columns" "api_keys"}}
{{template "add_tombstone_columns" "ingredients"}}
{{template "add_tombstone_columns" "sales_orders"}}
{{template "add_tombstone_columns" "sales_daily"}}
{{template "add_tombstone_columns" "sales_products"}}
{{template "add_tombstone_columns" "menus"}}
{{template "add_tombstone_columns" "online_orders"}}

-- removed_at is one of two columns now, so no filter on it reads the index.
ALTER TABLE {{storage "sales_orders"}}
    DROP INDEX IF EXISTS deleted_at_minmax;
