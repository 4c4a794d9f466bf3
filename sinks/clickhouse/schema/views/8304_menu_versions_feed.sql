-- What is written to the histories follows the program, as the views do: the migrations that made
-- the feeds did so with the columns of their time.

ALTER TABLE `{{raw}}`.`menu_versions_feed`{{on_cluster}} MODIFY QUERY SELECT
    business_id, id,
    -- The hash is the same as in menu_states_feed.
    arraySort(groupUniqArrayIf(cityHash64(toJSONString(tuple(product_id,
        category_id, category_name, name, price, deposit, available, `variants.id`, `variants.name`, `variants.price`, `extra_groups.id`,
        `extra_groups.name`, `extra_groups.min`, `extra_groups.max`, `extra_groups.required`, `extra_groups.options_id`,
        `extra_groups.options_name`, `extra_groups.options_price`))), product_id != '' AND _deleted = 0)) AS _states,
    least(any(_fetched_at), ifNull(any(if(_deleted = 1, _deleted_at, updated_at)), any(_fetched_at))) AS valid_from,
    any(_fetched_at) AS seen_at,
    _version
FROM (
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
        FROM `{{raw}}`.`menus{{local}}`
        -- One row for each product of a menu; a menu without products is a row without a product. The lists of
        -- the fields of a product are as long as the list of products, since each product has all of them. Were
        -- one shorter, an error would keep every row from being written, hence arrayResize.
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
)
GROUP BY business_id, id, _version;
