# SETTINGS within a statement: what readonly=1 and constraints do not see
SELECT * FROM (SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)
SELECT * FROM (SELECT * FROM format(TSV, 'a UInt8', 'x\n1\n') SETTINGS a.b = 1, readonly = 0, input_format_allow_errors_num = 10, input_format_record_errors_file_path = '{new}')
SELECT * FROM (SELECT * FROM format(AvroConfluent, 'a String', 'x') SETTINGS a.b = 1, readonly = 0, format_avro_schema_registry_url = 'http://{host}/')
SELECT * FROM (SELECT * FROM format(AvroConfluent, 'a String', '\0') SETTINGS final, format_avro_schema_registry_url = 'http://{host}/')
SELECT * FROM (SELECT * FROM format(Protobuf, 'a String', 'x') SETTINGS final, format_schema = '{proto}:M')
SELECT * FROM (SELECT * FROM `{csv}` SETTINGS final, readonly = 0)
SELECT * FROM (SELECT * FROM `{csv}` SETTINGS final)
SELECT * FROM (SELECT * FROM `{csv}` SETTINGS readonly)
SELECT * FROM (SELECT * FROM `{csv}` SETTINGS final = 1, readonly = 0)
SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)
SELECT * FROM (SELECT 1 settings Readonly = 0)
SELECT * FROM (SELECT 1 SETTINGS `readonly` = 0)
SELECT * FROM (SELECT 1 SETTINGS "readonly" = 0)
SELECT * FROM (SELECT 1 SETTINGS/**/readonly/**/=/**/0)
SELECT * FROM (SELECT 1 SETTINGS--\nreadonly = 0)
SELECT * FROM (SELECT 1 SETTINGS a.b.c = 1, readonly = 0)
SELECT * FROM (SELECT 1 SETTINGS `a.b` = 1, readonly = 0)
SELECT * FROM (SELECT 1. SETTINGS readonly = 0)
SELECT * FROM (SELECT 1.SETTINGS readonly = 0)
SELECT * FROM (SELECT 0x1. SETTINGS readonly = 0)
SELECT * FROM (SELECT 1e1. SETTINGS readonly = 0)
SELECT * FROM (SELECT t.1. SETTINGS readonly = 0 FROM numbers(1) AS t)
SELECT * FROM (SELECT 1 FROM system.settings SETTINGS readonly = 0)
SELECT * FROM (SELECT 1 FROM system . settings settings readonly = 0)
SELECT 1 AS settings FROM (SELECT 1 SETTINGS readonly = 0)
WITH x AS (SELECT 1 SETTINGS readonly = 0) SELECT * FROM x
SELECT 1 IN (SELECT 1 SETTINGS readonly = 0)
SELECT (SELECT 1 SETTINGS readonly = 0)
SELECT 1 SETTINGS readonly = 0
SELECT 1 SETTINGS readonly
SELECT 1 SETTINGS final
SELECT 1 SETTINGS final, readonly = 0
SELECT 1 SETTINGS a.b = 1
SELECT 1 SETTINGS max_threads = 1, readonly = 0
SELECT 1 SETTINGS max_threads = 1, max_memory_usage = 0
SELECT 1 SETTINGS max_threads = (SELECT 1)
SELECT 1 SETTINGS max_threads = {p:String}
SELECT 1 SETTINGS log_comment = 'a\\'b'
SELECT 1 SETTINGS log_comment = 'a''b'
SELECT 1 SETTINGS log_comment = $$a$$
SELECT 1 SETTINGS max_threads = 1 SETTINGS readonly = 0
SELECT 1 SETTINGS readonly = 0 SETTINGS max_threads = 1
SELECT 1 SETTINGS max_threads = 1 UNION ALL SELECT 2
SELECT 1 SETTINGS max_threads = 1 UNION ALL SELECT 2 SETTINGS readonly = 0
SELECT 1 SETTINGS readonly = 0 UNION ALL SELECT 2 SETTINGS max_threads = 1
SELECT 1 FORMAT TSV SETTINGS readonly = 0
SELECT 1 SETTINGS readonly = 0 FORMAT TSV
SELECT 1 SETTINGS max_threads = 1 FORMAT TSV SETTINGS readonly = 0
SELECT 1 SETTINGS format_schema_source = 'file'
SELECT 1 SETTINGS format_schema = '{proto}:M' FORMAT Protobuf
SELECT 1 SETTINGS format_template_row = '{csv}' FORMAT Template
SELECT * FROM larder.v FORMAT Template SETTINGS format_template_row = '{csv}'
SELECT 1 SETTINGS profile = 'default'
SELECT 1 SETTINGS log_queries = 1
SELECT 1 SETTINGS allow_introspection_functions = 1
SELECT 1 SETTINGS allow_experimental_ai_functions = 1
SELECT 1 SETTINGS url_base = 'http://{host}/'
SELECT * FROM s3('x', SETTINGS readonly = 0)
SELECT * FROM values(SETTINGS readonly = 0)
SELECT * FROM view(SELECT 1 SETTINGS readonly = 0)
SELECT * FROM view(SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)
SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1 SETTINGS readonly = 0))
SELECT * FROM viewIfPermitted(SELECT 1 SETTINGS readonly = 0 ELSE null('a UInt8'))
EXPLAIN SELECT * FROM (SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)
EXPLAIN AST SELECT 1 SETTINGS readonly = 0
EXPLAIN SYNTAX SELECT * FROM (SELECT 1 SETTINGS readonly = 0)
EXPLAIN header = 1 SELECT * FROM (SELECT 1 SETTINGS readonly = 0)
DESCRIBE TABLE (SELECT 1 SETTINGS readonly = 0)
DESCRIBE (SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)
DESCRIBE TABLE larder.v SETTINGS readonly = 0
SHOW TABLES WHERE name IN (SELECT * FROM default.`{csv}` SETTINGS a.b = 1, readonly = 0)
SHOW TABLES WHERE name IN (SELECT 1)
SHOW TABLES SETTINGS readonly = 0
SHOW CREATE TABLE larder.v SETTINGS readonly = 0
EXISTS TABLE larder.v SETTINGS readonly = 0
# Paths that are names
SELECT * FROM `{csv}`
SELECT * FROM "{csv}"
SELECT * FROM '{csv}'
SELECT * FROM default.`{csv}`
SELECT * FROM `default`.`{csv}`
SELECT * FROM "default"."{csv}"
SELECT * FROM (SELECT * FROM `{csv}`)
SELECT * FROM `file:{csv}`
SELECT * FROM `file://{csv}`
SELECT * FROM `{dir}/*.csv`
SELECT * FROM `{dir}/secret.{csv,json}`
SELECT * FROM {p:Identifier}
SELECT * FROM default.{p:Identifier}
SELECT 1 IN `{csv}`
SELECT 1 IN default.`{csv}`
SELECT 1 GLOBAL NOT IN default.`{csv}`
SELECT * FROM larder.v JOIN default.`{csv}` ON 1
SELECT * FROM larder.v, default.`{csv}`
WITH x AS (SELECT * FROM default.`{csv}`) SELECT * FROM x
DESCRIBE `{csv}`
DESCRIBE TABLE default.`{csv}`
EXPLAIN SELECT * FROM default.`{csv}`
EXPLAIN ESTIMATE SELECT * FROM default.`{csv}`
SHOW CREATE TABLE default.`{csv}`
SELECT * FROM default.`http://{host}/x.csv`
SELECT * FROM `http://{host}/x.csv`
SELECT joinGet('default.{csv}', 'a', 1)
SELECT dictGet('default.{csv}', 'a', 1)
SELECT hasColumnInTable('default', '{csv}', 'c1')
# Functions that are sources
SELECT * FROM file('{csv}')
SELECT * FROM file ( '{csv}', CSV)
SELECT * FROM FILE('{csv}')
SELECT * FROM `file`('{csv}')
SELECT * FROM "file"('{csv}')
SELECT * FROM `fi\x6ce`('{csv}')
SELECT * FROM fileCluster('default', '{csv}')
SELECT * FROM filesystem('{dir}')
SELECT * FROM url('http://{host}/', CSV, 'a String')
SELECT * FROM urlCluster('default', 'http://{host}/', CSV, 'a String')
SELECT * FROM s3('http://{host}/b/k', CSV)
SELECT * FROM gcs('http://{host}/b/k', CSV)
SELECT * FROM azureBlobStorage('http://{host}/', 'c', 'b')
SELECT * FROM remote('{host}', system.one)
SELECT * FROM remoteSecure('{host}', system.one)
SELECT * FROM cluster('default', system.one)
SELECT * FROM clusterAllReplicas('default', system.one)
SELECT * FROM mysql('{host}', 'd', 't', 'u', 'p')
SELECT * FROM postgresql('{host}', 'd', 't', 'u', 'p')
SELECT * FROM mongodb('{host}', 'd', 'c', 'u', 'p', 'a String')
SELECT * FROM redis('{host}', 'k', 'k String, v String')
SELECT * FROM jdbc('jdbc:x', 'y')
SELECT * FROM odbc('DSN=x', 'y', 'z')
SELECT * FROM ytsaurus('http://{host}', '//x', 't', 'a String')
SELECT * FROM arrowstream('{host}', 'x')
SELECT * FROM prometheusQuery('x', 'y', now())
SELECT * FROM sqlite('{csv}', 't')
SELECT * FROM executable('id', TSV, 'a String')
SELECT * FROM hdfs('hdfs://{host}/', CSV, 'a String')
SELECT * FROM hudi('http://{host}/')
SELECT * FROM iceberg('http://{host}/')
SELECT * FROM icebergLocal('{dir}')
SELECT * FROM deltaLakeLocal('{dir}')
SELECT * FROM paimonLocal('{dir}')
SELECT * FROM eval('SELECT file(\\'{csv}\\')')
SELECT * FROM fuzzQuery('SELECT 1', 10, 1)
SELECT * FROM fuzzJSON('{"a": 1}')
SELECT * FROM input('a UInt8')
SELECT * FROM Python('x')
SELECT * FROM python(x)
SELECT * FROM format(TSV, 'a UInt8', '1')
SELECT * FROM format(CSV, '1')
SELECT * FROM larder.v JOIN format(TSV, 'a UInt8', '1') AS f ON 1
SELECT * FROM view(SELECT * FROM format(TSV, 'a UInt8', '1'))
DESCRIBE format(TSV, 'a UInt8', '1')
SELECT * FROM merge('system', 'models')
SELECT * FROM merge('larder', '.*')
SELECT * FROM merge(REGEXP('.*'), 'models')
SELECT * FROM loop(larder.v)
SELECT * FROM loop(file('{csv}'))
SELECT * FROM mergeTreeIndex('larder_raw', 'r')
SELECT * FROM mergeTreeAnalyzeIndexes('larder_raw', 'r')
SELECT * FROM timeSeriesData('larder', 'x')
SELECT * FROM view(SELECT * FROM file('{csv}'))
SELECT * FROM viewExplain('EXPLAIN', '', (SELECT file('{csv}')))
SELECT * FROM numbers(1) WHERE number IN file('{csv}')
SELECT * FROM numbers(1) WHERE number IN (SELECT * FROM file('{csv}'))
SELECT * FROM larder.v AS a ARRAY JOIN [file('{csv}')] AS b
DESCRIBE TABLE file('{csv}')
DESCRIBE file('{csv}')
EXISTS TABLE file('{csv}')
SHOW CREATE TABLE file('{csv}')
# Texts that are read as declarations of columns, with expressions
SELECT a FROM generateRandom('x UInt8, a String ALIAS file(\'{csv}\')') LIMIT 1
SELECT a FROM generateRandom('x UInt8, a String DEFAULT file(\'{csv}\')') LIMIT 1
SELECT a FROM generateRandom(concat('x UInt8, a String AL', 'IAS fi', 'le(\'{csv}\')')) LIMIT 1
SELECT a FROM generateRandom(unhex(hex('x UInt8, a String ALIAS file(\'{csv}\')'))) LIMIT 1
SELECT a FROM generateRandom({p:String}) LIMIT 1
SELECT a FROM values('x UInt8, a String ALIAS file(\'{csv}\')', (1))
SELECT a FROM VALUES('x UInt8, a String ALIAS file(\'{csv}\')', (1))
SELECT a FROM view(SELECT a FROM values('x UInt8, a String ALIAS file(\'{csv}\')', (1)))
SELECT * FROM larder.v JOIN values('x UInt8, a String ALIAS file(\'{csv}\')', (1)) AS b ON 1
SELECT 1 IN values('x UInt8, a String ALIAS file(\'{csv}\')', (1))
SELECT a FROM null('x UInt8, a String ALIAS file(\'{csv}\')')
DESCRIBE null('x UInt8, a DEFAULT file(\'{csv}\')')
DESCRIBE TABLE values('x UInt8, a DEFAULT file(\'{csv}\')', (1))
SELECT structureToCapnProtoSchema('a String DEFAULT file(\'{csv}\')')
SELECT structureToProtobufSchema('a String DEFAULT file(\'{csv}\')')
SELECT * FROM dictionary('x')
# The function file('…'), which no grant stands before
SELECT file('{csv}')
SELECT FILE('{csv}')
SELECT File ( '{csv}' )
SELECT file('{csv}', 'x')
SELECT `file`('{csv}')
SELECT "file"('{csv}')
SELECT `fi\x6ce`('{csv}')
SELECT "fi\u006ce"('{csv}')
SELECT fi/**/le('{csv}')
SELECT file/**/('{csv}')
SELECT file--\n('{csv}')
SELECT file # x\n('{csv}')
SELECT file\0('{csv}')
SELECT file ('{csv}')
SELECT ‘a’, file('{csv}')
SELECT * APPLY(file) FROM (SELECT '{csv}' AS a)
SELECT * APPLY file FROM (SELECT '{csv}' AS a)
SELECT * APPLY `file` FROM (SELECT '{csv}' AS a)
SELECT * APPLY "file" FROM (SELECT '{csv}' AS a)
SELECT COLUMNS('a') APPLY(file) FROM (SELECT '{csv}' AS a)
SELECT COLUMNS('a') APPLY `file` FROM (SELECT '{csv}' AS a)
SELECT * APPLY(x -> file(x)) FROM (SELECT '{csv}' AS a)
SELECT * REPLACE(file(a) AS a) FROM (SELECT '{csv}' AS a)
SELECT arrayMap(x -> file(x), ['{csv}'])
SELECT arrayMap(file, ['{csv}'])
SELECT {f:Identifier}('{csv}')
SELECT * FROM {f:Identifier}('{csv}')
SELECT 1 WHERE (SELECT file('{csv}')) != ''
WITH file('{csv}') AS x SELECT x
WITH x -> file(x) AS f SELECT f('{csv}')
SELECT file({p:String})
SELECT 1 FROM larder.v ORDER BY file('{csv}')
SELECT 1 FROM larder.v GROUP BY file('{csv}')
SELECT 1 FROM larder.v LIMIT length(file('{csv}'))
SELECT 1 FROM larder.v OFFSET length(file('{csv}'))
SELECT 1 FROM larder.v LIMIT 1 BY file('{csv}')
SELECT 1 FROM larder.v QUALIFY file('{csv}') = ''
SELECT 1 FROM larder.v HAVING file('{csv}') = ''
SELECT 1 FROM larder.v WINDOW w AS (PARTITION BY file('{csv}'))
SELECT a FROM larder.v ORDER BY a WITH FILL TO length(file('{csv}'))
SELECT a FROM larder.v ORDER BY a INTERPOLATE (a AS file('{csv}'))
SELECT 1 FROM larder.v SAMPLE file('{csv}')
SELECT sum(1) FILTER (WHERE file('{csv}') = '') FROM larder.v
SELECT CASE WHEN file('{csv}') = '' THEN 1 END
SELECT CAST(file('{csv}') AS UInt64)
SELECT file('{csv}')::UInt64
SELECT $$x$$, file('{csv}')
SELECT joinGet(`file`, 'a', 1)
EXPLAIN SELECT file('{csv}')
EXPLAIN QUERY TREE SELECT file('{csv}')
DESCRIBE (SELECT file('{csv}'))
SHOW TABLES WHERE file('{csv}') = ''
SHOW TABLES LIKE file('{csv}')
SELECT 1 UNION ALL SELECT file('{csv}')
(SELECT 1) INTERSECT (SELECT file('{csv}'))
# Other functions that reach out
SELECT catboostEvaluate('{csv}', 1)
SELECT hasColumnInTable('{host}', 'd', 't', 'c')
SELECT hasColumnInTable('{host}', 'u', 'p', 'd', 't', 'c')
SELECT reverseDNSQuery('127.0.0.1')
SELECT showCertificate()
SELECT aiGenerate('x', 'y')
SELECT AIGenerate('x', 'y')
SELECT aiClassify('x', ['y'])
SELECT aiEmbed('x')
SELECT aiExtract('x', 'y')
SELECT aiTranslate('x', 'y')
# Tables of the engine that do more than tell
SELECT * FROM system.models
SELECT * FROM system . models
SELECT * FROM `system`.`models`
SELECT * FROM "system".models
SELECT * FROM system/**/.models
SELECT 1 IN system.models
SELECT 1 IN (system.models)
SELECT * FROM (SELECT * FROM system.models)
SELECT * FROM larder.v JOIN system.models ON 1
SELECT count() FROM system.stack_trace
SELECT * FROM system.certificates
SELECT * FROM system.jemalloc_profile_text
SELECT * FROM system.symbols
SELECT * FROM system.user_directories
SELECT * FROM system.named_collections
SELECT * FROM system.server_settings
SELECT * FROM system.schema_inference_cache
SELECT * FROM system.filesystem_cache
SELECT * FROM system.errors
# Statements that cannot be stopped, or that hold a place for nothing
SELECT arrayLevenshteinDistance(range(200000), range(1, 200001))
SELECT arrayLevenshteinDistanceWeighted([1], [2], [1.], [1.])
SELECT arraySimilarity([1], [2], [1.], [1.])
SELECT sleepEachRow(2) FROM numbers(1000)
SELECT sleep(3)
SELECT length(polygonsUnionCartesian([[[(0., 0.), (1., 1.)]]], [[[(0., 0.), (1., 1.)]]]))
SELECT levenshteinDistance(repeat('ab', 30000), repeat('bc', 30000)) FROM numbers(3)
SELECT editDistance(repeat('a', 65000), repeat('b', 65000))
SELECT length(seriesDecomposeSTL(range(1000000), 100000))
SELECT kolmogorovSmirnovTest('two-sided', 'exact')(toFloat64(sipHash64(number)), number % 2) FROM numbers(300000)
SELECT kolmogorovSmirnovTestIf('two-sided', 'exact')(toFloat64(sipHash64(number)), number % 2, 1) FROM numbers(300000)
SELECT arrayReduce('kolmogorovSmirnovTest(\'two-sided\', \'exact\')', arrayMap(x -> toFloat64(sipHash64(x)), range(300000)), arrayMap(x -> x % 2, range(300000)))
SELECT length(h3PolygonToCells([(0., 0.), (0., 10.), (10., 10.), (10., 0.)], 9))
SELECT length(h3PolygonToCellsWithContainment([(0., 0.), (0., 10.), (10., 10.), (10., 0.)], 9, 'CENTER'))
SELECT countSubstringsCaseInsensitiveUTF8(repeat('ab', 200000), repeat('ba', 100000))
SELECT highlightQuery(concat('SELECT ', repeat('f(', 100000)))
SELECT formatQuery(concat('SELECT ', repeat('f(', 100000)))
SELECT formatQueryOrNull(concat('SELECT ', repeat('f(', 100000), toString(number))) FROM numbers(1000)
SELECT length(obfuscateQuery(repeat('<a>', 400000)))
SELECT multiMatchAny('a', arrayMap(x -> toString(x), range(40000)))
SELECT multiFuzzyMatchAny('a', 2, arrayMap(x -> toString(x), range(40000)))
# Nested text that ends the process
SELECT length(JSONMergePatch(concat(repeat('{"a":', 200000), '1', repeat('}', 200000)), '{}'))
SELECT length(jsonMergePatch(concat(repeat('{"a":', 200000), '1', repeat('}', 200000)), '{}'))
SELECT length(prettyPrintJSON(concat(repeat('{"a":', 200000), '1', repeat('}', 200000))))
# Formats with files of their own
SELECT 1 AS a FORMAT Protobuf
SELECT 1 AS a FORMAT ProtobufSingle
SELECT 1 AS a FORMAT protobuflist
SELECT 1 AS `a = 1; } import "secret"; message Foo { uint32 b` FORMAT Protobuf
SELECT 1 FORMAT Template
SELECT 1 FORMAT CapnProto
SELECT 1 FORMAT AvroConfluent
SELECT 1 FORMAT MySQLWire
SELECT 1 AS a FORMAT `Protobuf`
SELECT 1 AS a FORMAT "Protobuf"
SELECT 1 AS a FORMAT "ProtobufList"
SELECT 1 AS a FORMAT/**/`Protobuf`
SELECT 1 AS a FORMAT--\n`Protobuf`
SELECT 1 AS a FORMAT `Protob\x75f`
SELECT 1 AS a FORMAT "Protob""uf"
SELECT 1 AS a FORMAT {pb:Identifier}
SELECT 1 AS a FORMAT {pb : Identifier }
SELECT 1 AS a FORMAT `Template`
SELECT 1 AS a FORMAT `CapnProto`
SELECT 'x' AS a FORMAT `AvroConfluent`
SELECT 1 AS a FORMAT `Protobuf` SETTINGS max_threads = 1
SELECT 1 AS a SETTINGS max_threads = 1 FORMAT `Protobuf`
SELECT 1 AS a FORMAT `TSV` FORMAT `Protobuf`
SELECT 1 AS a FORMAT `Protobuf` FORMAT `TSV`
SELECT 1 AS a FORMAT `Protobuf` FORMAT TSV
SELECT 1 AS a FORMAT TSV FORMAT `Protobuf`
SELECT 1 AS a FORMAT 'Protobuf'
SELECT 1 AS a FORMAT ‘Protobuf’
(SELECT 1 AS a) FORMAT `Protobuf`
((SELECT 1 AS a)) FORMAT `Protobuf`
(SELECT 1 AS a FORMAT `Protobuf`)
(SELECT 1 AS a FORMAT `Protobuf`) FORMAT TSV
(SELECT 1 AS a) UNION ALL (SELECT 2 AS a FORMAT `Protobuf`)
SELECT 1 AS a UNION ALL SELECT 2 AS a FORMAT `Protobuf`
SELECT 1 AS a FORMAT `Protobuf` UNION ALL SELECT 2 AS a
SELECT 1 AS a INTERSECT SELECT 1 AS a FORMAT `Protobuf`
SELECT 1 AS a EXCEPT SELECT 2 AS a FORMAT `Protobuf`
WITH 1 AS a SELECT a FORMAT `Protobuf`
WITH x AS (SELECT 1 AS a FORMAT `Protobuf`) SELECT * FROM x
SELECT * FROM (SELECT 1 AS a FORMAT `Protobuf`)
SELECT * FROM view(SELECT 1 AS a FORMAT `Protobuf`)
SELECT 1 IN (SELECT 1 AS a FORMAT `Protobuf`)
SELECT t.FORMAT `Protobuf` FROM (SELECT 1 AS FORMAT) AS t FORMAT `Protobuf`
SELECT 1.FORMAT `Protobuf`
SELECT 1 AS FORMAT FORMAT `Protobuf`
SELECT 1 AS a FROM system.one AS FORMAT FORMAT `Protobuf`
EXPLAIN SELECT 1 AS a FORMAT `Protobuf`
EXPLAIN AST SELECT 1 AS a FORMAT TSV FORMAT `Protobuf`
EXPLAIN AST SELECT 1 AS a FORMAT `Protobuf` FORMAT TSV
EXPLAIN SYNTAX SELECT 1 AS a FORMAT `Protobuf`
EXPLAIN EXPLAIN SELECT 1 AS a FORMAT `Protobuf`
SELECT * FROM (EXPLAIN SELECT 1 AS a FORMAT `Protobuf`)
SELECT * FROM (EXPLAIN AST SELECT 1 AS a FORMAT `Protobuf`)
DESCRIBE larder.v FORMAT `Protobuf`
DESCRIBE (SELECT 1 AS a) FORMAT `Protobuf`
DESCRIBE (SELECT 1 AS a FORMAT `Protobuf`)
SHOW TABLES FORMAT `Protobuf`
SHOW TABLES LIKE 'a' FORMAT `Protobuf`
SHOW DATABASES FORMAT `Protobuf`
SHOW CREATE TABLE larder.v FORMAT `Protobuf`
SHOW COLUMNS FROM larder.v FORMAT `Protobuf`
SHOW PROCESSLIST FORMAT `Protobuf`
EXISTS TABLE larder.v FORMAT `Protobuf`
SELECT formatRow('Protobuf', 1)
SELECT formatRowNoNewline(concat('Proto', 'buf'), 1)
SELECT groupFormat('Protobuf')(1)
SELECT groupFormatIf('Protobuf')(1, 1)
SELECT groupFormatOrNullIf('Protobuf')(1, 1)
SELECT groupFormatArray('Protobuf')([1])
SELECT groupFormatMerge('Protobuf')(s) FROM (SELECT groupFormatState('Protobuf')(1) AS s)
SELECT groupFormatDistinct('Protobuf')(1)
SELECT * APPLY(groupFormatIf('Protobuf')) FROM (SELECT 1)
SELECT arrayReduce('groupFormat(\'Protobuf\')', [1, 2])
SELECT arrayReduce(concat('group', 'Format(\'Protobuf\')'), [1, 2])
SELECT arrayReduceInRanges(concat('group', 'Format(\'Protobuf\')'), [(1, 1)], [1, 2])
SELECT initializeAggregation(concat('group', 'Format(\'Protobuf\')'), 1)
SELECT finalizeAggregation(initializeAggregation(concat('group', 'FormatState(\'Protobuf\')'), 1))
SELECT finalizeAggregation(defaultValueOfTypeName(concat('AggregateFunction(group', 'Format(\'Protobuf\'), UInt8)')))
SELECT runningAccumulate(initializeAggregation(concat('group', 'FormatState(\'Protobuf\')'), 1))
SELECT * APPLY(finalizeAggregation) FROM (SELECT defaultValueOfTypeName(concat('AggregateFunction(group', 'Format(\'Protobuf\'), UInt8)')))
SELECT 1 SETTINGS use_query_cache = 1
# A setting's value with what the engine takes for its end
SELECT 1 SETTINGS max_execution_time = '30\0--session_timezone=Asia/Tokyo'
SELECT 1 SETTINGS log_comment = 'a\nb'
SELECT 1 SETTINGS max_rows_to_foo = 3
SELECT 1 SETTINGS output_format_pretty = 3
# EXPLAIN of what is no SELECT
EXPLAIN PIPELINE INSERT INTO larder_raw.r SELECT 2, 'y'
EXPLAIN AST INSERT INTO larder_raw.r SELECT 2, 'y'
SELECT * FROM (EXPLAIN PIPELINE INSERT INTO larder_raw.r SELECT 2, 'y')
EXPLAIN AST DROP TABLE larder_raw.r
# Files to write
SELECT 1 INTO OUTFILE '{new}'
SELECT 1 INTO/**/OUTFILE '{new}' FORMAT CSV
SELECT 1 into outfile '{csv}' APPEND
SELECT 1 INTO OUTFILE '{csv}' TRUNCATE
SELECT 1 INTO OUTFILE '{new}' AND STDOUT
EXPLAIN SELECT 1 INTO OUTFILE '{new}'
SHOW TABLES INTO OUTFILE '{new}'
DESCRIBE TABLE larder.v INTO OUTFILE '{new}'
SELECT 1 FROM INFILE '{csv}'
SELECT * FROM larder.v FORMAT CSV INTO OUTFILE '{new}'
SELECT 1 FORMAT CSV SETTINGS max_threads = 1 INTO OUTFILE '{new}'
SELECT 1 FORMAT CSV FORMAT CSV
) INTO OUTFILE '{new}'
SELEC 1 INTO OUTFILE '{new}'
# Changes
INSERT INTO larder_raw.r VALUES (2, 'y')
INSERT INTO larder_raw.r SELECT 2, 'y'
INSERT INTO larder_raw.r FORMAT CSV\n2,y\n
INSERT INTO FUNCTION file('{new}', CSV, 'a String') VALUES ('x')
INSERT INTO larder_raw.r SELECT * FROM file('{csv}')
/* SELECT */ INSERT INTO larder_raw.r VALUES (2, 'y')
-- SELECT\nINSERT INTO larder_raw.r VALUES (2, 'y')
(INSERT INTO larder_raw.r VALUES (2, 'y'))
WITH x AS (SELECT 2 AS a, 'y' AS b) INSERT INTO larder_raw.r SELECT a, b FROM x
SELECT 1; INSERT INTO larder_raw.r VALUES (2, 'y')
SELECT 1;\n;DROP TABLE larder_raw.r
SELECT 1 PARALLEL WITH DROP TABLE larder_raw.r
EXPLAIN SELECT 1; DROP TABLE larder_raw.r
SELECT 1 /* /* */ ; DROP TABLE larder_raw.r -- */
SELECT 'a\'' ; DROP TABLE larder_raw.r -- '
SELECT $x$ $x$; DROP TABLE larder_raw.r
SELECT 1 # \n; DROP TABLE larder_raw.r
SELECT 1 #!\n; DROP TABLE larder_raw.r
DROP TABLE larder_raw.r
TRUNCATE TABLE larder_raw.r
ALTER TABLE larder_raw.r DELETE WHERE 1
DELETE FROM larder_raw.r WHERE 1
UPDATE larder_raw.r SET file_name = 'y' WHERE 1
RENAME TABLE larder_raw.r TO larder_raw.q
OPTIMIZE TABLE larder_raw.r FINAL
DETACH TABLE larder_raw.r
CREATE TABLE larder.q (a UInt8) ENGINE = Memory
CREATE TEMPORARY TABLE q (a UInt8)
CREATE TEMPORARY TABLE q AS SELECT file('{csv}')
CREATE TABLE larder.f (a String) ENGINE = File(CSV, '{csv}')
CREATE VIEW larder.q AS SELECT 1
CREATE DATABASE q
CREATE FUNCTION q AS x -> file(x)
CREATE USER q
CREATE NAMED COLLECTION q AS a = 1
ATTACH TABLE larder.q FROM '{dir}' (a UInt8) ENGINE = MergeTree ORDER BY a
BACKUP TABLE larder_raw.r TO File('{new}')
RESTORE TABLE larder_raw.r FROM File('{dir}')
SYSTEM FLUSH LOGS
SYSTEM SHUTDOWN
SYSTEM STOP MERGES
KILL QUERY WHERE 1 ASYNC
GRANT ALL ON *.* TO default
SET readonly = 0
SET max_threads = 1
USE system
BEGIN TRANSACTION
CHECK TABLE larder_raw.r
EXECUTE AS default SELECT 1
WATCH larder.v
UNDROP TABLE larder_raw.r
1 + 1
file('{csv}')
# states and types made of other values, time zones that stay for good, and calls that no limit counts
SELECT length(bitmapToArray(bitmapAnd(CAST(unhex('01133b30000001000000000200010000000000ffff') AS AggregateFunction(groupBitmap, UInt32)), bitmapBuild([1]))))
SELECT CAST(unhex('00'), 'AggregateFunction(sum, UInt8)')
SELECT CAST(unhex('00'), concat('Aggregate', 'Function(sum, UInt8)'))
SELECT CAST(unhex('00'), 'Aggregate\x46unction(sum, UInt8)')
SELECT unhex('00')::AggregateFunction(sum, UInt8)
SELECT unhex('00')::Array(SimpleAggregateFunction(sum, UInt8))
WITH concat('Aggregate', 'Function(sum, UInt8)') AS t SELECT CAST(unhex('00'), t)
WITH t -> CAST(unhex('00'), t) AS f SELECT f('AggregateFunction(sum, UInt8)')
SELECT accurateCastOrNull(unhex('00'), lower('AggregateFunction(sum, UInt8)'))
SELECT _CAST(unhex('00'), (SELECT 'AggregateFunction(sum, UInt8)'))
SELECT JSONExtract('{}', concat('Aggregate', 'Function(sum, UInt8)'))
SELECT rankCorrMerge(CAST(unhex('0202FFFFFFFFFFFFFFFF000000000000F03F000000000000F03F0000000000000040') AS AggregateFunction(rankCorr, Float64, Float64)))
SELECT * APPLY(x -> CAST(x, concat('Aggregate', 'Function(sum, UInt8)'))) FROM (SELECT '' AS a)
SELECT toTimeZone(toDateTime(0), 'Fixed/UTC+02:02:00')
SELECT toTimeZone(toDateTime(0), concat('Fixed/', 'UTC+02:02:00'))
WITH concat('Fixed/', 'UTC+02:02:00') AS z SELECT toTimeZone(toDateTime(0), z)
WITH z -> toTimeZone(toDateTime(0), z) AS f SELECT f('Fixed/UTC+02:02:00')
SELECT * APPLY(x -> toTimeZone(x, concat('Fixed/', 'UTC+02:02:00'))) FROM (SELECT now() AS a)
SELECT toTimeZone(toDateTime(0), 'file:{csv}')
SELECT now('file:{csv}')
SELECT toDateTime('2026-01-01 00:00:00', '../../..{csv}')
SELECT formatDateTime(now(), '%Y', reverse('/dexiF'))
SELECT CAST(0 AS DateTime('Fixed/UTC+02:02:00'))
SELECT CAST(0 AS Tuple(a Enum8('x' = 1), b DateTime64(3, 'file:{csv}')))
SELECT 0::TIMESTAMP('Fixed/UTC+02:02:00')
SELECT 1 SETTINGS session_timezone = 'file:{csv}'
SELECT 1 SETTINGS session_timezone = 'Fixed/UTC+02:02:00'
SELECT now() AS d FORMAT ORC SETTINGS output_format_orc_writer_time_zone_name = '../../..{csv}'
SELECT now() AS d FORMAT ORC
SELECT length(printf('%900000000d', 1))
SELECT joinGet('default.{csv}', 'a', 1)
SELECT dictGet('default.{csv}', 'a', 1)
SELECT convertCharset('a', 'utf-8', '../../..{csv}')
SELECT addDays(now(), 1, 'Fixed/UTC+02:02:00')
SELECT subtractHours(now(), 1, concat('Fixed/', 'UTC+02:02:00'))
SELECT __toYearCalendarOnly(now(), concat('Fixed/', 'UTC+02:02:00'))
# around the checks of types and zones
SELECT * APPLY x -> (SELECT any(a) FROM values('x UInt8, a String ALIAS file(\'{csv}\')', (1))) FROM (SELECT 1 AS a)
SELECT * APPLY x -> CAST(unhex(x), concat('Aggregate', 'Function(sum, UInt8)')) FROM (SELECT '00' AS a)
SELECT * APPLY x -> toTimeZone(x, concat('Fixed/', 'UTC+02:02:00')) FROM (SELECT now() AS a)
SELECT * APPLY toTimeZone('Fixed/UTC+02:02:00') FROM (SELECT now() AS a)
SELECT CAST(0, 'DateTime($$Fixed/UTC+03:00:01$$)')
SELECT CAST(0, 'DateTime($$file:{csv}$$)')
SELECT CAST(0, 'DateTime(\'Fixed\\x2fUTC+02\\x3a04\\x3a00\')')
SELECT CAST(0, 'DateTime(\'L1xxxx\')')
SELECT CAST(0, 'Tuple(Enum8(\'a\' = 1), DateTime(\'L1xxxx\'))')
WITH x -> concat('Fixed/', 'UTC+02:02:00') AS todatex SELECT toTimeZone(now(), todatex(1))
WITH x -> concat('Fixed/', 'UTC+02:02:00') AS toDateTime SELECT toTimeZone(now(), toDateTime(1))
SELECT getSubcolumn(CAST(1 AS Dynamic), 'DateTime(\'Fixed/UTC+05:00:01\')')
SELECT tupleElement(CAST(1 AS Dynamic), concat('DateTime(', '\'Fixed/UTC+05:00:01\')'))
SELECT d.`DateTime('Fixed/UTC+05:00:02')` FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT d."DateTime64(3, 'Fixed/UTC+05:00:02')" FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT j.a.:`DateTime('Fixed/UTC+05:00:03')` FROM (SELECT CAST('{"a":1}' AS JSON) AS j)
SELECT CAST(unhex('00'), '`Aggregate\\x46unction`(sum, UInt8)')
SELECT _CAST(* REPLACE (concat('Aggregate', 'Function(sum, UInt8)') AS z)) FROM (SELECT '' AS a, '' AS z)
SELECT _CAST(COLUMNS('^nope$'), 'UInt8', concat('Aggregate', 'Function(sum, UInt8)')) FROM (SELECT '' AS a, '' AS z)
SELECT _CAST(untuple(('', concat('Aggregate', 'Function(sum, UInt8)'))))
SELECT toTimeZone(* REPLACE (concat('Fixed/', 'UTC+04:01:00') AS z)) FROM (SELECT now() AS a, '' AS z)
SELECT toTimeZone(untuple((now(), concat('Fixed/', 'UTC+04:02:00'))))
SELECT toTimeZone(now(), 'UTC (alias 1xxx')
SELECT dictIsIn('default.{csv}', toUInt64(1), toUInt64(2))
SELECT naiveBayesClassifier('default.{csv}', 'y')
SELECT CAST((1, 0), 'Tuple(a Enum8(\'x\' = 1), enum DateTime(\'Fixed/UTC+02:02:00\'))')
SELECT CAST((1, 0), 'Tuple(a UInt8, enum8 DateTime(\'Fixed/UTC+02:02:00\'))')
SELECT CAST(tuple(0) AS Tuple(enumeration DateTime64(3, 'Fixed/UTC+02:02:00')))
SELECT d.`DateTime/*a*/('Fixed/UTC+05:00:02')` FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT d.`DateTime64/*a*/(3, 'file:{csv}')` FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT d.`DateTime(‘Fixed/UTC+05:00:03’)` FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT d."TIMESTAMP(‘file:{csv}’)" FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT d.`Tuple(a Array(datetime /*(*/ (/*)*/'Fixed/UTC+05:00:04')))` FROM (SELECT CAST(1 AS Dynamic) AS d)
SELECT j.`a.:DateTime/*a*/('Fixed/UTC+05:00:05')` FROM (SELECT CAST('{"a":1}' AS JSON) AS j)
# Calls that go on for ever, and memory that no limit counts
SELECT JSON_QUERY(concat(repeat('[', 60), '1', repeat(']', 60)), concat('$', repeat('[0,0]', 60)))
SELECT json_query('[1]', '$[0 to 18446744073709551615]')
SELECT JSON_VALUE(concat(repeat('[', 60), '1', repeat(']', 60)), concat('$', repeat('[0,0]', 60), '.a'))
SELECT JSON_EXISTS(concat(repeat('[', 60), '1', repeat(']', 60)), concat('$', repeat('[0,0]', 60), '.a'))
SELECT arrayMap(JSON_QUERY, ['[1]'], ['$'])
SELECT * APPLY(JSON_EXISTS) FROM (SELECT '[1]' AS a)
SELECT length(extractTextFromHTML(repeat('<![CDATA[', 2000000)))
SELECT prime FROM system.primes WHERE prime > 18446744073709500000 LIMIT 1
SELECT prime FROM `system`.`primes` WHERE prime > 18446744073709500000 LIMIT 1
SELECT prime FROM primes(18446744073709551615, 1)
SELECT estimateCompressionRatio('FPC(28)')(toFloat64(number)) FROM numbers(10)
SELECT estimateCompressionRatio('ZSTD(22, 31)')(number) FROM numbers(1000000)
SELECT estimateCompressionRatioIf('ZSTD(22, 31)')(number, 1) FROM numbers(1000000)
SELECT estimateCompressionRatioForEach('FPC(28)')([1.5, 2.5])
SELECT * APPLY(estimateCompressionRatioArray) FROM (SELECT [1.5] AS a)
# A column of type Geometry in Parquet ends the process
SELECT readWKT('POINT(1 1)') AS g FORMAT Parquet SETTINGS output_format_parquet_geometadata = 1
SELECT CAST(NULL AS Geometry) AS g SETTINGS output_format_parquet_geometadata = 1 FORMAT Parquet
# Patterns that are prepared for long and stay in memory
SELECT multiMatchAny('abc', ['a'])
SELECT multiMatchAllIndices('abc', ['(abc|def){1,40}x'])
SELECT multiFuzzyMatchAny('abc', 2, ['abcdefghijklmnopqrstuvwxyz'])
# Time zones that are not the last argument, or of a function that nobody had listed
SELECT toDateTimeOrDefault(now(), concat('Fixed/', 'UTC+02:02:00'), 1)
SELECT toDateTimeOrDefault('x', 'Fixed/UTC+02:02:00', toDateTime(0))
SELECT toDateTime64OrDefault(now(), 1, concat('Fixed/', 'UTC+02:02:00'), 1)
SELECT toDateTime64OrDefault(now(), 1, 'file:{csv}', 1)
SELECT toDaysInMonth(now(), 'Fixed/UTC+02:02:00')
SELECT toDaysInMonth(now(), concat('file:', '{csv}'))
SELECT naiveBayesClassifierWithProb('default.{csv}', 'x')
SELECT naiveBayesClassifierWithAllProbs('default.{dir}/key', 'x')
SELECT naiveBayesClassifierWithProb('default.{dir}/{secret,secret}?csv', 'x')
SELECT arrayMap(toString, [toDateTime(0)], ['file:{csv}'])
SELECT arrayMap(`toString`, [toDateTime(0)], ['Fixed/UTC+02:03:00'])
SELECT arraySort(toString, [toDateTime(0)], ['Fixed/UTC+02:03:00'])
SELECT arrayMap(tostring, [toDateTime(0)], [concat('Fixed/', 'UTC+02:03:00')])
SELECT mapApply(toString, map(toDateTime(0), 'Fixed/UTC+02:03:00'))
SELECT arrayMap(cast, [unhex('05')], ['AggregateFunction(uniqExact, String)'])
SELECT arrayMap(naiveBayesClassifier, ['default.{csv}'], ['x'])
SELECT parseDateTimeInJodaSyntax('2020 file:{csv}', 'yyyy zzz')
SELECT parseDateTimeInJodaSyntaxOrNull(concat('2020 Fixed/UTC+02:03:', '01'), 'yyyy z')
SELECT parseDateTime64InJodaSyntaxOrZero('2020 file:{csv}', concat('yyyy ', 'z'))
SHOW TABLES WHERE metadata_modification_time AT TIME ZONE 'file:{csv}' IS NOT NULL
SHOW COLUMNS FROM larder.v WHERE current_timestamp AT TIME ZONE 'Fixed/UTC+04:09:01' IS NOT NULL
SHOW TABLES LIMIT 1 + (current_timestamp AT TIME ZONE 'file:{csv}' IS NULL)
SELECT * APPLY(getTypeSerializationStreams) FROM (SELECT 'DateTime(\'file:{csv}\')' AS a)
SELECT COLUMNS('a') APPLY getTypeSerializationStreams FROM (SELECT concat('Date', 'Time(UTC)') AS a)
SELECT * APPLY(JSONExtract) FROM (SELECT 'x' AS a)
SELECT query FROM system.processes
SHOW PROCESSLIST
SELECT query FROM system.query_cache
# Types whose names double with each subquery: memory that no limit stops, and a minute of one call
SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT 1 AS x))))))))))))))))))))))))
DESCRIBE (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT (x, x) AS x FROM (SELECT 1 AS x)))))))))))))))))))))))))
SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT arrayZip(x, x) AS x FROM (SELECT [1] AS x))))))))))))))))))))
