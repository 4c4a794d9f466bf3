-- What can be ordered online at each location, and what could be before: the API only knows
-- the present. A menu is mostly what it was, so that each state of a product is kept once
-- (menu_states), and each version of a menu as the list of those that were on it
-- (menu_versions). The view menu_history puts them together.

CREATE TABLE IF NOT EXISTS `{{raw}}`.`menus{{local}}`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `id` String COMMENT 'Location id: a location has one menu',
    `etag` Nullable(String) COMMENT 'Version of the menu as the service named it (ETag) when it first answered with this content; null when it named none',
    `location_id` String COMMENT 'Location',
    `currency` LowCardinality(String) COMMENT 'Currency of the prices, always RON',
    `updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the menu last changed, as the service dates it',
    `categories.id` Array(String) COMMENT 'Categories: ids. All that begins with categories is unfolded by menu_products, menu_variants and menu_options',
    `categories.name` Array(String) COMMENT 'Categories: names',
    `categories.image_url` Array(Nullable(String)) COMMENT 'Categories: addresses of the pictures',
    `categories.position` Array(Int64) COMMENT 'Categories: places',
    `categories.products_id` Array(Array(String)) COMMENT 'Products of each category: ids',
    `categories.products_name` Array(Array(String)) COMMENT 'Products of each category: names',
    `categories.products_description` Array(Array(Nullable(String))) COMMENT 'Products of each category: descriptions',
    `categories.products_image_url` Array(Array(Nullable(String))) COMMENT 'Products of each category: addresses of the pictures',
    `categories.products_price` Array(Array(Decimal(18, 2))) COMMENT 'Products of each category: online price of one unit without extras, RON; with variants that of the cheapest',
    `categories.products_vat_rate` Array(Array(Nullable(Decimal(38, 10)))) COMMENT 'Products of each category: VAT, percent, informative',
    `categories.products_available` Array(Array(Bool)) COMMENT 'Products of each category: false when temporarily sold out',
    `categories.products_allergens_code` Array(Array(Array(String))) COMMENT 'Products of each category: codes of their allergens',
    `categories.products_allergens_name` Array(Array(Array(String))) COMMENT 'Products of each category: names of their allergens in Romanian',
    `categories.products_diets` Array(Array(Array(String))) COMMENT 'Products of each category: diets they suit',
    `categories.products_calories` Array(Array(Int64)) COMMENT 'Products of each category: calories, kcal; 0 is not set',
    `categories.products_prep_minutes` Array(Array(Nullable(Int64))) COMMENT 'Products of each category: preparation time, minutes',
    `categories.products_deposit` Array(Array(Nullable(Decimal(18, 2)))) COMMENT 'Products of each category: SGR (deposit-return) charge per unit, RON',
    `categories.products_variants_id` Array(Array(Array(String))) COMMENT 'Products of each category: ids of their variants',
    `categories.products_variants_name` Array(Array(Array(String))) COMMENT 'Products of each category: names of their variants',
    `categories.products_variants_price` Array(Array(Array(Decimal(18, 2)))) COMMENT 'Products of each category: prices of their variants, RON',
    `categories.products_extra_groups_id` Array(Array(Array(String))) COMMENT 'Products of each category: ids of their groups of extras',
    `categories.products_extra_groups_name` Array(Array(Array(String))) COMMENT 'Products of each category: names of their groups of extras',
    `categories.products_extra_groups_min` Array(Array(Array(Int64))) COMMENT 'Products of each category: how many options of each group must be chosen',
    `categories.products_extra_groups_max` Array(Array(Array(Nullable(Int64)))) COMMENT 'Products of each category: how many options of each group may be chosen; null is no limit',
    `categories.products_extra_groups_required` Array(Array(Array(Bool))) COMMENT 'Products of each category: whether a choice of each group is required',
    `categories.products_extra_groups_options_id` Array(Array(Array(Array(String)))) COMMENT 'Products of each category: ids of the options of each group',
    `categories.products_extra_groups_options_name` Array(Array(Array(Array(String)))) COMMENT 'Products of each category: names of the options of each group',
    `categories.products_extra_groups_options_price` Array(Array(Array(Array(Decimal(18, 2))))) COMMENT 'Products of each category: prices of the options of each group, RON',
    `categories.products_position` Array(Array(Int64)) COMMENT 'Products of each category: places',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_version` UInt64 COMMENT 'Version of the row: the highest one of a business and id is the current one',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_deleted` UInt8 COMMENT '1 when this version buries the row',
    `_deleted_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When the service deleted the row; null when it is not known',
    `_delete_reason` LowCardinality(String) COMMENT 'Why the row was removed: deleted, cancelled or unpaid (the service reported it), gone (it vanished from a list that was read whole), no_access (the key lost the location); empty for a live row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included' CODEC(ZSTD(3)),
    `_tombstone_updated_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Of a removed row: updated_at of its tombstone, when the service last changed it; null when the tombstone has none, or when Larder found the row gone',
    `_tombstone_raw` String COMMENT 'Of a removed row: JSON of its tombstone as received, unknown fields included; empty when Larder found the row gone. _raw is that of the row as it was' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(_version, _deleted)
ORDER BY (business_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728, default_compression_codec = 'ZSTD(1)'
COMMENT 'Orderable menus, one of each location';
