{{define "menu"}}
    `id` String COMMENT 'Location id: a location has one menu',
    `etag` Nullable(String) COMMENT 'Version of the menu as the service named it (ETag) when it first answered with this content; null when it named none',
    `location_id` String COMMENT 'Location',
    `currency` LowCardinality(String) COMMENT 'Currency of the prices, always RON',
    `updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the menu last changed, as the service dates it',
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
    `categories.products_position` Array(Array(Int64)) COMMENT 'Products of each category: places'
{{end}}

{{define "menu_offer"}}
    `category_id` String COMMENT 'Category of the menu',
    `category_name` String COMMENT 'Name of the category, as the menu has it',
    `name` String COMMENT 'Name of the product, as the menu has it',
    `price` Decimal(18, 2) COMMENT 'Online price of one unit without extras, RON, VAT included; with variants that of the cheapest',
    `deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) charge per unit, RON, added to the total',
    `available` Bool COMMENT 'false: temporarily sold out, ordering it fails',
    `variants.id` Array(String) COMMENT 'Variants: ids; an id changes when the variant is renamed. With variants one must be chosen',
    `variants.name` Array(String) COMMENT 'Variants: names',
    `variants.price` Array(Decimal(18, 2)) COMMENT 'Variants: online price of one unit, RON',
    `extra_groups.id` Array(String) COMMENT 'Groups of extras: ids',
    `extra_groups.name` Array(String) COMMENT 'Groups of extras: names',
    `extra_groups.min` Array(Int64) COMMENT 'Groups of extras: how many options must be chosen',
    `extra_groups.max` Array(Nullable(Int64)) COMMENT 'Groups of extras: how many options may be chosen; null is no limit',
    `extra_groups.required` Array(Bool) COMMENT 'Groups of extras: whether a choice is required',
    `extra_groups.options_id` Array(Array(String)) COMMENT 'Groups of extras: ids of the options of each group',
    `extra_groups.options_name` Array(Array(String)) COMMENT 'Groups of extras: names of the options of each group',
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product'
{{end}}

{{define "menu_product_rest"}}
    `description` Nullable(String) COMMENT 'Description',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices; informative',
    `allergens.code` Array(String) COMMENT 'Allergens: codes',
    `allergens.name` Array(String) COMMENT 'Allergens: names in Romanian',
    `diets` Array(String) COMMENT 'Diets the product suits, such as vegetarian, vegan',
    `calories` Nullable(Int64) COMMENT 'Calories, kcal; null when not set',
    `prep_minutes` Nullable(Int64) COMMENT 'Preparation time, minutes; null when not set'
{{end}}

{{define "menu_version"}}
    `_states` Array(UInt64) COMMENT 'Products on the menu, each as the hash of its state in menu_states; none while the menu is removed'
{{end}}

{{/* The products of menus, one row each: of the table, or of what follows it, in the dot. A menu without products is a row without a product. The lists of a product's fields are as long as that of the products, since each product has all of them; were one not, an error would keep every row from being written, hence arrayResize. */}}
{{define "menu_dishes" -}}
SELECT
    business_id, id, _source, _version, _fetched_at, _deleted, _deleted_at, updated_at,
    product_id, category_id, category_name, category_image_url, category_position, name, price, deposit, available,
    variants_id AS `variants.id`, variants_name AS `variants.name`, variants_price AS `variants.price`,
    groups_id AS `extra_groups.id`, groups_name AS `extra_groups.name`, groups_min AS `extra_groups.min`, groups_max AS `extra_groups.max`,
    groups_required AS `extra_groups.required`, options_id AS `extra_groups.options_id`, options_name AS `extra_groups.options_name`, options_price AS `extra_groups.options_price`,
    description, image_url, vat_rate, allergens_code AS `allergens.code`, allergens_name AS `allergens.name`, diets, nullIf(kcal, 0) AS calories, prep_minutes, position
FROM
(
    SELECT
        business_id, id, _source, _version, _fetched_at, _deleted, _deleted_at, updated_at, category_id, category_name, category_image_url, category_position,
        ids, names, prices, deposits, availables, variants_ids, variants_names, variants_prices,
        groups_ids, groups_names, groups_mins, groups_maxs, groups_requireds, options_ids, options_names, options_prices,
        descriptions, image_urls, vat_rates, allergens_codes, allergens_names, diets_of, calories_of, prep_minutes_of, positions
    FROM {{.}}
    LEFT ARRAY JOIN
        `categories.id` AS category_id, `categories.name` AS category_name, `categories.image_url` AS category_image_url, `categories.position` AS category_position,
        `categories.products_id` AS ids, `categories.products_name` AS names, `categories.products_price` AS prices, `categories.products_deposit` AS deposits, `categories.products_available` AS availables,
        `categories.products_variants_id` AS variants_ids, `categories.products_variants_name` AS variants_names, `categories.products_variants_price` AS variants_prices,
        `categories.products_extra_groups_id` AS groups_ids, `categories.products_extra_groups_name` AS groups_names, `categories.products_extra_groups_min` AS groups_mins,
        `categories.products_extra_groups_max` AS groups_maxs, `categories.products_extra_groups_required` AS groups_requireds,
        `categories.products_extra_groups_options_id` AS options_ids, `categories.products_extra_groups_options_name` AS options_names, `categories.products_extra_groups_options_price` AS options_prices,
        `categories.products_description` AS descriptions, `categories.products_image_url` AS image_urls, `categories.products_vat_rate` AS vat_rates,
        `categories.products_allergens_code` AS allergens_codes, `categories.products_allergens_name` AS allergens_names, `categories.products_diets` AS diets_of,
        `categories.products_calories` AS calories_of, `categories.products_prep_minutes` AS prep_minutes_of, `categories.products_position` AS positions
) AS menu_categories
LEFT ARRAY JOIN
    ids AS product_id, arrayResize(names, length(ids)) AS name, arrayResize(prices, length(ids)) AS price, arrayResize(deposits, length(ids)) AS deposit, arrayResize(availables, length(ids)) AS available,
    arrayResize(variants_ids, length(ids)) AS variants_id, arrayResize(variants_names, length(ids)) AS variants_name, arrayResize(variants_prices, length(ids)) AS variants_price,
    arrayResize(groups_ids, length(ids)) AS groups_id, arrayResize(groups_names, length(ids)) AS groups_name, arrayResize(groups_mins, length(ids)) AS groups_min, arrayResize(groups_maxs, length(ids)) AS groups_max, arrayResize(groups_requireds, length(ids)) AS groups_required,
    arrayResize(options_ids, length(ids)) AS options_id, arrayResize(options_names, length(ids)) AS options_name, arrayResize(options_prices, length(ids)) AS options_price,
    arrayResize(descriptions, length(ids)) AS description, arrayResize(image_urls, length(ids)) AS image_url, arrayResize(vat_rates, length(ids)) AS vat_rate, arrayResize(allergens_codes, length(ids)) AS allergens_code, arrayResize(allergens_names, length(ids)) AS allergens_name,
    arrayResize(diets_of, length(ids)) AS diets, arrayResize(calories_of, length(ids)) AS kcal, arrayResize(prep_minutes_of, length(ids)) AS prep_minutes, arrayResize(positions, length(ids)) AS position
{{- end}}
