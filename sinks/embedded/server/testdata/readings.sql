SELECT * FROM larder.v AS t INNER JOIN larder_raw.r AS r USING (a) LEFT JOIN (SELECT 1 AS a) AS s ON s.a = t.a ARRAY JOIN [1,2] AS q
SELECT t.*, r.* EXCEPT (a), COLUMNS('a'), t.COLUMNS('a'), COLUMNS(file_name) FROM larder.v AS t, larder_raw.r AS r
SELECT * REPLACE (2 AS a) FROM larder.v
SELECT * EXCEPT a APPLY toString FROM larder.v
SELECT * APPLY(toString) FROM larder.v
SELECT * ILIKE '%a%' FROM larder.v
SELECT a, sum(a) OVER (PARTITION BY a ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w, row_number() OVER w2, count(DISTINCT a), sum(a) FILTER (WHERE a > 1) FROM larder.v GROUP BY a WINDOW w2 AS (ORDER BY a)
SELECT a FROM larder.v GROUP BY GROUPING SETS ((a), ()) 
SELECT a FROM larder.v GROUP BY ROLLUP(a) QUALIFY row_number() OVER (ORDER BY a) = 1
SELECT a FROM larder.v GROUP BY ALL ORDER BY ALL
WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 5), 1 AS y, z -> z + 1 AS f SELECT n, f(y) FROM x
WITH x (a) AS (SELECT 1) SELECT * FROM x
WITH x AS MATERIALIZED (SELECT 1) SELECT * FROM x
SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3
(SELECT 1 INTERSECT SELECT 1) EXCEPT SELECT 2
SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CAST(a AS String), a::String, a BETWEEN 1 AND 2, a IS NULL, NOT a, -a, [1, 2][1], (1, 2).1, INTERVAL 1 DAY, DATE '2020-01-01', extract(DAY FROM today()), EXISTS (SELECT 1), a = 1 ? 1 : 2, map('a', 1), substring('abc' FROM 1 FOR 1), trim(BOTH ' ' FROM ' a '), position('a' IN 'ba'), file_name || 'b', a % 2, a DIV 2, 0x10, 1e3, nan, t.a AS b FROM larder.v AS t
SELECT 1 = ANY (SELECT 1), 1 < ALL (SELECT 1), 2 IN (SELECT 1)
SELECT * FROM numbers(10) AS n WHERE number IN (SELECT a FROM larder.v) AND (number, 1) GLOBAL IN (SELECT a, a FROM larder.v)
SELECT * FROM (SELECT 1) AS x (a)
SELECT * FROM view(SELECT 1) 
SELECT * FROM generate_series(1, 10) 
SELECT DISTINCT ON (a) a FROM larder.v
SELECT TOP 3 a FROM larder.v
SELECT a FROM larder.v LIMIT 10 OFFSET 5
SELECT a FROM larder.v LIMIT 0.5
SELECT * FROM larder.v PASTE JOIN larder_raw.r
SELECT * FROM larder.v CROSS JOIN larder_raw.r
SELECT * FROM larder.v SEMI LEFT JOIN larder_raw.r ON v.a = r.a
EXPLAIN SELECT 1
EXPLAIN AST SELECT 1
EXPLAIN SYNTAX SELECT 1
EXPLAIN QUERY TREE SELECT 1
EXPLAIN QUERY TREE passes = 1 SELECT 1
EXPLAIN PLAN header = 1, actions = 1 SELECT 1
EXPLAIN PIPELINE graph = 1 SELECT 1
EXPLAIN ESTIMATE SELECT 1
EXPLAIN indexes = 1, json = 1 SELECT a FROM larder.v UNION ALL SELECT 1
EXPLAIN (SELECT 1)
EXPLAIN CURRENT TRANSACTION
DESCRIBE larder.v
DESC TABLE larder.v
DESCRIBE (SELECT 1)
DESCRIBE numbers(10)
EXISTS larder.v
EXISTS TABLE larder.v
EXISTS VIEW larder.v
EXISTS DATABASE larder
EXISTS DICTIONARY larder.v
EXISTS TEMPORARY TABLE x
SHOW TABLES
SHOW FULL TABLES FROM larder LIKE '%a%' LIMIT 3
SHOW TABLES FROM larder WHERE name = 'v'
SHOW TEMPORARY TABLES
SHOW DATABASES
SHOW DICTIONARIES
SHOW CREATE TABLE larder.v
SHOW CREATE larder.v
SHOW CREATE VIEW larder.v
SHOW CREATE DATABASE larder
SHOW TABLE larder.v
SHOW COLUMNS FROM larder.v
SHOW EXTENDED FULL COLUMNS FROM v FROM larder LIKE 'a' LIMIT 1
SHOW INDEX FROM larder.v
SHOW INDEXES FROM v IN larder WHERE 1
SHOW KEYS FROM larder.v
SHOW ENGINES
SHOW SETTINGS LIKE 'max%'
SHOW CHANGED SETTINGS ILIKE 'max%'
SHOW SETTING max_threads
SHOW CLUSTERS
SHOW CLUSTER 'default'
SHOW MERGES
SHOW GRANTS
SHOW PRIVILEGES
SELECT a FROM larder.v ORDER BY a LIMIT 3 WITH TIES
SELECT count() FROM larder.v HAVING 1 LIMIT 1
SELECT a.* FROM larder.v a
SELECT * ILIKE '%a%' FROM larder.v
SELECT arrayMap((x, y) -> x + y, [1], [2]), arraySort([2, 1])
SELECT 1 WHERE (1, 2) = (SELECT 1, 2)
SELECT * FROM larder.v WHERE a IN larder.v AND a NOT IN (1)
SELECT a FROM larder.v LIMIT 1 OFFSET 2 BY a
SELECT sumIf(a, a > 1), countState(), quantiles(0.5, 0.9)(a), groupArray(3)(a), argMaxMerge(s) FROM (SELECT a, argMaxState(a, a) AS s FROM larder.v GROUP BY a)
SELECT * FROM larder.v NATURAL JOIN larder_raw.r
SELECT grouping(a), a FROM larder.v GROUP BY CUBE(a)
SELECT a FROM larder.v GROUP BY a WITH ROLLUP WITH TOTALS
SELECT 1 FORMAT `CSV`
SELECT 1 FORMAT "JSON" SETTINGS max_threads = 1
SELECT 1 SETTINGS max_threads = 1 FORMAT `CSV`;
SELECT 1 FORMAT {fmt:Identifier}
SELECT t.format, format('{}', 'x') FROM (SELECT 1 AS format) AS t FORMAT TSV
SELECT `table`.`a`, "v"."file_name" FROM larder.v AS `table`, larder.v AS "v"
SELECT '(alias x' AS `a (alias x`, ' (children 1)' AS "b (children 2)"
SELECT a FROM larder.v ORDER BY a ASC NULLS LAST WITH FILL FROM 1 TO 10 STEP 1 INTERPOLATE
SELECT a FROM larder_raw.r FINAL PREWHERE a = 1 WHERE a = 1
SELECT a FROM larder.v GROUP BY a WITH TOTALS HAVING a > 0 LIMIT 1 BY a LIMIT 1, 2
SELECT file_name FROM larder.v ORDER BY file_name COLLATE 'en'
SELECT toTimeZone(now(), 'Europe/Bucharest'), toDate(now(), 'UTC'), now('UTC'), toDateTime('2026-01-01 00:00:00', 'UTC'), CAST('2026-01-01 00:00:00' AS DateTime('UTC')), CAST(1 AS Enum8('a b' = 1)), toDateTime64(1, 3, 'UTC'), now64(3)
SELECT toStartOfInterval(now(), INTERVAL 15 MINUTE), toStartOfInterval(now(), INTERVAL 1 DAY, 'UTC'), dateDiff('day', toDate(concat('2026', '-01-01')), today()), formatDateTime(now(), '%Y-%m', 'UTC'), date_trunc('month', now()), toString(now(), 'UTC'), toWeek(today(), 1)
SELECT JSONExtract('{"a": 1}', 'a', 'UInt8'), accurateCastOrNull('1', 'UInt8'), 1::Nullable(Decimal(18, 2)), [1, 2]::Array(UInt8), uniqMerge(s) FROM (SELECT uniqState(1) AS s)
SELECT addDays(today(), toInt32(concat('1', '2'))), now() + INTERVAL 1 DAY - toIntervalHour(2), subtractMonths(today(), 1)
SELECT (1, 2).1 AS `sum(a)`, tupleElement((1, 'x'), 2), CAST((1, 'a') AS Tuple(n UInt8, `text` String)) FROM larder.v
SELECT CAST('2026-01-01 00:00:00' AS DateTime64(3, 'Europe/Bucharest')), CAST('a/b' AS Enum8('a/b' = 1, 'ș' = -2)), CAST(1 AS Decimal(18, 2)) AS `toDateTime(created_at)`
SELECT toStartOfInterval(now(), INTERVAL 1 DAY, toDateTime('2026-01-01 00:00:00'), 'UTC'), toDaysInMonth(today()), now64(3, 'UTC'), toDateTimeOrDefault('x', 'UTC')
SELECT a AS `Datetime (UTC)`, a AS "timestamp (s)", a AS `it's` FROM larder.v
