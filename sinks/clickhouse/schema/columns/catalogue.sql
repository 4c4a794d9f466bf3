{{define "location"}}
    `id` String COMMENT 'Location id',
    `name` String COMMENT 'Name of the location',
    `address` Nullable(String) COMMENT 'Street address',
    `city` Nullable(String) COMMENT 'City',
    `phone` Nullable(String) COMMENT 'Phone number',
    `timezone` LowCardinality(String) COMMENT 'Time zone of the location, always Europe/Bucharest',
    `ordering_accepting` Bool COMMENT 'Whether an online order can be placed now',
    `ordering_status` LowCardinality(String) COMMENT 'Online ordering: open, paused, closed or disabled',
    `ordering_message` Nullable(String) COMMENT 'Short Romanian text to show a customer',
    `ordering_paused_until` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'Until when online ordering is paused',
    `ordering_next_opening_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When online ordering opens next',
    `ordering_types` Array(LowCardinality(String)) COMMENT 'Order types taken online: pickup, delivery',
    `ordering_default_prep_minutes` Int64 COMMENT 'Usual preparation time, minutes',
    `ordering_answer_within_minutes` Int64 COMMENT 'Time the restaurant has to accept an online order, minutes',
    `opening_hours_monday_open` Nullable(String) COMMENT 'Monday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_monday_close` Nullable(String) COMMENT 'Monday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_monday_closed` Nullable(Bool) COMMENT 'Monday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_tuesday_open` Nullable(String) COMMENT 'Tuesday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_tuesday_close` Nullable(String) COMMENT 'Tuesday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_tuesday_closed` Nullable(Bool) COMMENT 'Tuesday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_wednesday_open` Nullable(String) COMMENT 'Wednesday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_wednesday_close` Nullable(String) COMMENT 'Wednesday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_wednesday_closed` Nullable(Bool) COMMENT 'Wednesday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_thursday_open` Nullable(String) COMMENT 'Thursday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_thursday_close` Nullable(String) COMMENT 'Thursday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_thursday_closed` Nullable(Bool) COMMENT 'Thursday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_friday_open` Nullable(String) COMMENT 'Friday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_friday_close` Nullable(String) COMMENT 'Friday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_friday_closed` Nullable(Bool) COMMENT 'Friday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_saturday_open` Nullable(String) COMMENT 'Saturday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_saturday_close` Nullable(String) COMMENT 'Saturday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_saturday_closed` Nullable(Bool) COMMENT 'Saturday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_sunday_open` Nullable(String) COMMENT 'Sunday: opening time, HH:MM local time; null when closed or no schedule is set',
    `opening_hours_sunday_close` Nullable(String) COMMENT 'Sunday: closing time, HH:MM local time; earlier than the opening time means after midnight',
    `opening_hours_sunday_closed` Nullable(Bool) COMMENT 'Sunday: whether the location is closed all day; null when no schedule is set',
    `opening_hours_exceptions.date` Array(Date32) COMMENT 'Days that differ from their weekday: the day (Europe/Bucharest)',
    `opening_hours_exceptions.closed` Array(Bool) COMMENT 'Days that differ from their weekday: whether the location is closed',
    `opening_hours_exceptions.reason` Array(Nullable(String)) COMMENT 'Days that differ from their weekday: why'
{{end}}

{{define "allergen"}}
    `id` String COMMENT 'Allergen code: it identifies the allergen within the restaurant',
    `code` String COMMENT 'Stable code from the restaurant catalogue',
    `name` String COMMENT 'Name in Romanian'
{{end}}

{{define "category"}}
    `id` String COMMENT 'Category id',
    `location_id` LowCardinality(Nullable(String)) COMMENT 'Location; null when the category is shared by every location',
    `name` String COMMENT 'Name of the category',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `position` Int64 COMMENT 'Place among the categories',
    `created_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the category was created',
    `updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the category last changed; sync goes by it'
{{end}}

{{define "product_state"}}
    `location_id` LowCardinality(String) COMMENT 'Location the product belongs to',
    `category_id` Nullable(String) COMMENT 'Menu category id',
    `name` String COMMENT 'Name, the restaurant own text',
    `description` Nullable(String) COMMENT 'Description',
    `image_url` Nullable(String) COMMENT 'Address of the picture',
    `price` Decimal(18, 2) COMMENT 'Point-of-sale price, RON, VAT included; per kilogram when the unit is kg',
    `unit` LowCardinality(String) COMMENT 'piece, or kg for a product sold by weight',
    `vat_rate` Nullable(Decimal(38, 10)) COMMENT 'VAT, percent, included in prices',
    `deposit` Nullable(Decimal(18, 2)) COMMENT 'SGR (deposit-return) charge per unit, RON',
    `available` Bool COMMENT 'false: sold out right now',
    `allergens.code` Array(LowCardinality(String)) COMMENT 'Allergens: codes',
    `allergens.name` Array(LowCardinality(String)) COMMENT 'Allergens: names in Romanian',
    `diets` Array(LowCardinality(String)) COMMENT 'Diets the product suits, such as vegetarian, vegan',
    `calories` Nullable(Int64) COMMENT 'Calories, kcal; null when not set',
    `prep_minutes` Nullable(Int64) COMMENT 'Preparation time, minutes; null when not set',
    `station` LowCardinality(String) COMMENT 'Where it is prepared: kitchen, bar, or a station the restaurant created',
    `channels_enabled` Map(LowCardinality(String), Bool) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): whether it is sold there',
    `channels_price` Map(LowCardinality(String), Decimal(18, 2)) COMMENT 'Per sales channel as the API names it (online is direct of sales; platform_a, platform_b): price there, RON',
    `variants.id` Array(String) COMMENT 'Variants: ids; an id changes when the variant is renamed',
    `variants.name` Array(String) COMMENT 'Variants: names',
    `variants.price` Array(Decimal(18, 2)) COMMENT 'Variants: point-of-sale price of one unit, RON',
    `variants.price_delta` Array(Decimal(18, 2)) COMMENT 'Variants: difference from the price of the product, RON; may be negative',
    `extra_groups.id` Array(String) COMMENT 'Groups of extras: ids',
    `extra_groups.name` Array(String) COMMENT 'Groups of extras: names',
    `extra_groups.min` Array(Int64) COMMENT 'Groups of extras: how many options must be chosen',
    `extra_groups.max` Array(Nullable(Int64)) COMMENT 'Groups of extras: how many options may be chosen; null is no limit',
    `extra_groups.required` Array(Bool) COMMENT 'Groups of extras: whether a choice is required',
    `extra_groups.options_id` Array(Array(String)) COMMENT 'Groups of extras: ids of the options of each group',
    `extra_groups.options_name` Array(Array(String)) COMMENT 'Groups of extras: names of the options of each group',
    `extra_groups.options_price` Array(Array(Decimal(18, 2))) COMMENT 'Groups of extras: price of each option, RON, added per unit of the product',
    `position` Int64 COMMENT 'Place among the products of its category'
{{end}}

{{define "product_dates"}}
    `created_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the product was created',
    `updated_at` Nullable(DateTime64(6, 'Europe/Bucharest')) COMMENT 'When the product last changed; sync goes by it'
{{end}}

{{define "api_key"}}
    `id` String COMMENT 'Id of the key (app.id)',
    `app_id` String COMMENT 'Id of the key',
    `app_name` String COMMENT 'Name the restaurant gave the key',
    `app_mode` LowCardinality(String) COMMENT 'test or live',
    `business_name` String COMMENT 'Name of the restaurant',
    `scopes` Array(String) COMMENT 'Scopes of the key: locations:read, menu:read, sales:read, stock:read, orders:write',
    `location_ids` Array(String) COMMENT 'Active locations the key may use',
    `all_locations` Bool COMMENT 'true: the key covers every location, those added later included',
    `rate_limits_per_minute` Int64 COMMENT 'Requests a minute for this key',
    `rate_limits_business_per_minute` Int64 COMMENT 'Requests a minute for all keys of the restaurant together',
    `rate_limits_heavy_per_minute` Int64 COMMENT 'Requests a minute to the two sales aggregates together',
    `rate_limits_orders_per_minute` Int64 COMMENT 'Orders placed a minute',
    `webhook_url` Nullable(String) COMMENT 'Where order events are sent',
    `webhook_configured` Bool COMMENT 'Whether order events are sent'
{{end}}
