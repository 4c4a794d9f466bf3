-- What can be ordered online now: the menus, unfolded.

CREATE OR REPLACE VIEW `{{db}}`.`menus`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
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
    `location_name` Nullable(String) COMMENT 'Name of the location, also of one that is no longer active; null when it is not known',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, `id`, `etag`, `location_id`, `currency`, `updated_at`, `categories.id`, `categories.name`, `categories.image_url`, `categories.position`, `categories.products_id`, `categories.products_name`, `categories.products_description`, `categories.products_image_url`, `categories.products_price`, `categories.products_vat_rate`, `categories.products_available`, `categories.products_allergens_code`, `categories.products_allergens_name`, `categories.products_diets`, `categories.products_calories`, `categories.products_prep_minutes`, `categories.products_deposit`, `categories.products_variants_id`, `categories.products_variants_name`, `categories.products_variants_price`, `categories.products_extra_groups_id`, `categories.products_extra_groups_name`, `categories.products_extra_groups_min`, `categories.products_extra_groups_max`, `categories.products_extra_groups_required`, `categories.products_extra_groups_options_id`, `categories.products_extra_groups_options_name`, `categories.products_extra_groups_options_price`, `categories.products_position`, `location_name`, `_source`, `_fetched_at`, `_raw`
FROM (SELECT business_id, `id`, `etag`, `location_id`, `currency`, `updated_at`, `categories.id`, `categories.name`, `categories.image_url`, `categories.position`, `categories.products_id`, `categories.products_name`, `categories.products_description`, `categories.products_image_url`, `categories.products_price`, `categories.products_vat_rate`, `categories.products_available`, `categories.products_allergens_code`, `categories.products_allergens_name`, `categories.products_diets`, `categories.products_calories`, `categories.products_prep_minutes`, `categories.products_deposit`, `categories.products_variants_id`, `categories.products_variants_name`, `categories.products_variants_price`, `categories.products_extra_groups_id`, `categories.products_extra_groups_name`, `categories.products_extra_groups_min`, `categories.products_extra_groups_max`, `categories.products_extra_groups_required`, `categories.products_extra_groups_options_id`, `categories.products_extra_groups_options_name`, `categories.products_extra_groups_options_price`, `categories.products_position`, `_source`, `_fetched_at`, `_raw` FROM `{{raw}}`.`menus` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1) AS rows
LEFT ANY JOIN (
    SELECT business_id, id AS location_id, nullIf(argMax(name, _version), '') AS location_name
    FROM `{{raw}}`.`locations`
    GROUP BY business_id, id
) AS places USING (business_id, location_id)
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and location: its orderable menu. While online ordering is off it stays as it was';
