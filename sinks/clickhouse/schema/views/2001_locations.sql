-- The current live rows of locations, menu and keys, and what a product holds, unfolded.

CREATE OR REPLACE VIEW `{{db}}`.`locations`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `business_name` Nullable(String) COMMENT 'Name of the restaurant; null when no key of it has told it yet',
    `id` String COMMENT 'Location id',
    `name` String COMMENT 'Name of the location',
    `address` Nullable(String) COMMENT 'Street address',
    `city` Nullable(String) COMMENT 'City',
    `phone` Nullable(String) COMMENT 'Phone number',
    `timezone` LowCardinality(String) COMMENT 'Time zone of the location, always {{zone}}',
    `ordering_accepting` Bool COMMENT 'Whether an online order can be placed now',
    `ordering_status` LowCardinality(String) COMMENT 'Online ordering: open, paused, closed or disabled',
    `ordering_message` Nullable(String) COMMENT 'Short Romanian text to show a customer',
    `ordering_paused_until` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'Until when online ordering is paused',
    `ordering_next_opening_at` Nullable(DateTime64(6, '{{zone}}')) COMMENT 'When online ordering opens next',
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
    `opening_hours_exceptions.date` Array(Date32) COMMENT 'Days that differ from their weekday: the day ({{zone}})',
    `opening_hours_exceptions.closed` Array(Bool) COMMENT 'Days that differ from their weekday: whether the location is closed',
    `opening_hours_exceptions.reason` Array(Nullable(String)) COMMENT 'Days that differ from their weekday: why',
    `_source` LowCardinality(String) COMMENT 'Source (API key, as named in the configuration) that brought this version of the row',
    `_fetched_at` DateTime64(6, '{{zone}}') COMMENT 'When the service answered with this version of the row',
    `_raw` String COMMENT 'JSON of the row as received, unknown fields included'
)
AS SELECT
    business_id, business_name, `id`, `name`, `address`, `city`, `phone`, `timezone`, `ordering_accepting`, `ordering_status`, `ordering_message`, `ordering_paused_until`, `ordering_next_opening_at`, `ordering_types`, `ordering_default_prep_minutes`, `ordering_answer_within_minutes`, `opening_hours_monday_open`, `opening_hours_monday_close`, `opening_hours_monday_closed`, `opening_hours_tuesday_open`, `opening_hours_tuesday_close`, `opening_hours_tuesday_closed`, `opening_hours_wednesday_open`, `opening_hours_wednesday_close`, `opening_hours_wednesday_closed`, `opening_hours_thursday_open`, `opening_hours_thursday_close`, `opening_hours_thursday_closed`, `opening_hours_friday_open`, `opening_hours_friday_close`, `opening_hours_friday_closed`, `opening_hours_saturday_open`, `opening_hours_saturday_close`, `opening_hours_saturday_closed`, `opening_hours_sunday_open`, `opening_hours_sunday_close`, `opening_hours_sunday_closed`, `opening_hours_exceptions.date`, `opening_hours_exceptions.closed`, `opening_hours_exceptions.reason`, `_source`, `_fetched_at`, `_raw`
FROM (SELECT business_id, `id`, `name`, `address`, `city`, `phone`, `timezone`, `ordering_accepting`, `ordering_status`, `ordering_message`, `ordering_paused_until`, `ordering_next_opening_at`, `ordering_types`, `ordering_default_prep_minutes`, `ordering_answer_within_minutes`, `opening_hours_monday_open`, `opening_hours_monday_close`, `opening_hours_monday_closed`, `opening_hours_tuesday_open`, `opening_hours_tuesday_close`, `opening_hours_tuesday_closed`, `opening_hours_wednesday_open`, `opening_hours_wednesday_close`, `opening_hours_wednesday_closed`, `opening_hours_thursday_open`, `opening_hours_thursday_close`, `opening_hours_thursday_closed`, `opening_hours_friday_open`, `opening_hours_friday_close`, `opening_hours_friday_closed`, `opening_hours_saturday_open`, `opening_hours_saturday_close`, `opening_hours_saturday_closed`, `opening_hours_sunday_open`, `opening_hours_sunday_close`, `opening_hours_sunday_closed`, `opening_hours_exceptions.date`, `opening_hours_exceptions.closed`, `opening_hours_exceptions.reason`, `_source`, `_fetched_at`, `_raw` FROM `{{raw}}`.`locations` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1) AS rows
LEFT ANY JOIN (
    SELECT business_id, nullIf(argMax(api_keys.business_name, _version), '') AS business_name
    FROM `{{raw}}`.`api_keys` AS api_keys
    GROUP BY business_id
) AS businesses USING (business_id)
SETTINGS join_algorithm = 'hash', join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant and location: the active locations the keys may use';
