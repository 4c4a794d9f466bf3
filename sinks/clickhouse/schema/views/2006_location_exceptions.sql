CREATE OR REPLACE VIEW `{{db}}`.`location_exceptions`{{on_cluster}}
(
    `business_id` String COMMENT 'Restaurant (business) the row belongs to, as the API names it',
    `location_id` String COMMENT 'Location',
    `location_name` String COMMENT 'Name of the location',
    `position` Int64 COMMENT 'Place among the exceptions of the location, from 1',
    `date` Date32 COMMENT 'Day that differs from its weekday ({{zone}})',
    `closed` Bool COMMENT 'Whether the location is closed that day; if not, the hours of the weekday hold: the API gives no others',
    `reason` Nullable(String) COMMENT 'Why'
)
AS SELECT business_id, id AS location_id, name AS location_name, toInt64(line) AS position, date, closed, reason
FROM (SELECT business_id, id, name, `opening_hours_exceptions.date`, `opening_hours_exceptions.closed`, `opening_hours_exceptions.reason` FROM `{{raw}}`.`locations` FINAL SETTINGS optimize_move_to_prewhere_if_final = 1)
ARRAY JOIN arrayEnumerate(`opening_hours_exceptions.date`) AS line, `opening_hours_exceptions.date` AS date, `opening_hours_exceptions.closed` AS closed, `opening_hours_exceptions.reason` AS reason
SETTINGS join_use_nulls = 0, join_default_strictness = 'ALL', aggregate_functions_null_for_empty = 0, prefer_column_name_to_alias = 0, final = 0
COMMENT 'One row per restaurant, location and day that differs from its weekday';
