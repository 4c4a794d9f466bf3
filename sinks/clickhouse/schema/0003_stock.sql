-- Stock.

CREATE TABLE IF NOT EXISTS {{storage "ingredients"}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Ingredient id, of one ingredient in one location',
    `location_id` LowCardinality(String) COMMENT 'Location the stock is held at',
    `name` String COMMENT 'Name of the ingredient',
    `unit` LowCardinality(String) COMMENT 'Unit of the stock: kg, g, l, ml, buc, portie',
    `stock` Decimal(38, 10) COMMENT 'Current stock, in the unit of the row; may be negative',
    `min_stock` Decimal(38, 10) COMMENT 'Minimum stock, in the unit of the row; 0 is no minimum',
    `below_min` Bool COMMENT 'Whether the stock is at or below the minimum',
    `category_id` Nullable(String) COMMENT 'Ingredient category: id',
    `category_name` Nullable(String) COMMENT 'Ingredient category: name',
    `warehouse_id` Nullable(String) COMMENT 'Stock ledger: id',
    `warehouse_name` Nullable(String) COMMENT 'Stock ledger: name',
    `sku` Nullable(String) COMMENT 'Stock keeping unit',
    `barcode` Nullable(String) COMMENT 'Barcode',
    `is_prepared` Bool COMMENT 'Whether it is made in-house from other ingredients',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `created_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the ingredient was created (UTC)',
    `updated_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the ingredient last changed (UTC); sync goes by it',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, 'UTC') COMMENT 'When the service answered with this version of the row (UTC)',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, 'UTC')) COMMENT 'When the service deleted the row (UTC); null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service said so), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3))
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Ingredients with the current stock of each location';

{{distributed "ingredients" "business_id"}}
