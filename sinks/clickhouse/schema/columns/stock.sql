{{define "stock_state"}}
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum'
{{end}}

{{define "ingredient_more"}}
    `category_id` Nullable(String) COMMENT 'Ingredient category: id',
    `category_name` Nullable(String) COMMENT 'Ingredient category: name',
    `warehouse_id` Nullable(String) COMMENT 'Stock ledger: id',
    `warehouse_name` Nullable(String) COMMENT 'Stock ledger: name',
    `sku` Nullable(String) COMMENT 'Stock keeping unit',
    `barcode` Nullable(String) COMMENT 'Barcode',
    `is_prepared` Bool COMMENT 'Whether it is made in-house from other ingredients',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `created_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the ingredient was created',
    `updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the ingredient last changed; sync goes by it'
{{end}}
