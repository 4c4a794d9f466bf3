CREATE OR REPLACE VIEW `{{db}}`.`location_hours`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location',
    `location_name` String COMMENT 'Name of the location',
    `weekday` Int64 COMMENT 'Weekday: 1 is Monday, 7 is Sunday, as toDayOfWeek counts',
    `open` Nullable(String) COMMENT 'Opening time, HH:MM local time; null when it is closed, and when no schedule is set',
    `close` Nullable(String) COMMENT 'Closing time, HH:MM local time; not later than the opening time, it is on the next day. Null when it is closed, and when no schedule is set',
    `closed` Nullable(Bool) COMMENT 'Whether it is closed all day; null when no schedule is set'
)
AS SELECT business_id, location_id, location_name, toInt64(weekday) AS weekday, open, close, closed
FROM
(
    SELECT
        business_id, id AS location_id, name AS location_name,
        [opening_hours_monday_open, opening_hours_tuesday_open, opening_hours_wednesday_open, opening_hours_thursday_open, opening_hours_friday_open, opening_hours_saturday_open, opening_hours_sunday_open] AS opens,
        [opening_hours_monday_close, opening_hours_tuesday_close, opening_hours_wednesday_close, opening_hours_thursday_close, opening_hours_friday_close, opening_hours_saturday_close, opening_hours_sunday_close] AS closes,
        [opening_hours_monday_closed, opening_hours_tuesday_closed, opening_hours_wednesday_closed, opening_hours_thursday_closed, opening_hours_friday_closed, opening_hours_saturday_closed, opening_hours_sunday_closed] AS closed_on
    FROM `{{raw}}`.`locations` FINAL
    SETTINGS optimize_move_to_prewhere_if_final = 1
)
ARRAY JOIN arrayEnumerate(opens) AS weekday, opens AS open, closes AS close, closed_on AS closed
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and weekday: its opening hours. Days that differ are in location_exceptions';
