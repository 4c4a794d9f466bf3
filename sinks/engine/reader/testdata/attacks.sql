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
# Sets of GROUP BY, each planned with the keys of all: gigabytes that no limit stops
SELECT count() FROM numbers(1000) GROUP BY GROUPING SETS ((number % 1), (number % 2), (number % 3), (number % 4), (number % 5), (number % 6), (number % 7), (number % 8), (number % 9), (number % 10), (number % 11), (number % 12), (number % 13), (number % 14), (number % 15), (number % 16), (number % 17), (number % 18), (number % 19), (number % 20), (number % 21), (number % 22), (number % 23), (number % 24), (number % 25), (number % 26), (number % 27), (number % 28), (number % 29), (number % 30), (number % 31), (number % 32), (number % 33), (number % 34), (number % 35), (number % 36), (number % 37), (number % 38), (number % 39), (number % 40), (number % 41), (number % 42), (number % 43), (number % 44), (number % 45), (number % 46), (number % 47), (number % 48), (number % 49), (number % 50), (number % 51), (number % 52), (number % 53), (number % 54), (number % 55), (number % 56), (number % 57), (number % 58), (number % 59), (number % 60), (number % 61), (number % 62), (number % 63), (number % 64), (number % 65), (number % 66), (number % 67), (number % 68), (number % 69), (number % 70), (number % 71), (number % 72), (number % 73), (number % 74), (number % 75), (number % 76), (number % 77), (number % 78), (number % 79), (number % 80), (number % 81), (number % 82), (number % 83), (number % 84), (number % 85), (number % 86), (number % 87), (number % 88), (number % 89), (number % 90), (number % 91), (number % 92), (number % 93), (number % 94), (number % 95), (number % 96), (number % 97), (number % 98), (number % 99), (number % 100), (number % 101), (number % 102), (number % 103), (number % 104), (number % 105), (number % 106), (number % 107), (number % 108), (number % 109), (number % 110), (number % 111), (number % 112), (number % 113), (number % 114), (number % 115), (number % 116), (number % 117), (number % 118), (number % 119), (number % 120), (number % 121), (number % 122), (number % 123), (number % 124), (number % 125), (number % 126), (number % 127), (number % 128), (number % 129), (number % 130), (number % 131), (number % 132), (number % 133), (number % 134), (number % 135), (number % 136), (number % 137), (number % 138), (number % 139), (number % 140), (number % 141), (number % 142), (number % 143), (number % 144), (number % 145), (number % 146), (number % 147), (number % 148), (number % 149), (number % 150), (number % 151), (number % 152), (number % 153), (number % 154), (number % 155), (number % 156), (number % 157), (number % 158), (number % 159), (number % 160), (number % 161), (number % 162), (number % 163), (number % 164), (number % 165), (number % 166), (number % 167), (number % 168), (number % 169), (number % 170), (number % 171), (number % 172), (number % 173), (number % 174), (number % 175), (number % 176), (number % 177), (number % 178), (number % 179), (number % 180), (number % 181), (number % 182), (number % 183), (number % 184), (number % 185), (number % 186), (number % 187), (number % 188), (number % 189), (number % 190), (number % 191), (number % 192), (number % 193), (number % 194), (number % 195), (number % 196), (number % 197), (number % 198), (number % 199), (number % 200), (number % 201), (number % 202), (number % 203), (number % 204), (number % 205), (number % 206), (number % 207), (number % 208), (number % 209), (number % 210), (number % 211), (number % 212), (number % 213), (number % 214), (number % 215), (number % 216), (number % 217), (number % 218), (number % 219), (number % 220), (number % 221), (number % 222), (number % 223), (number % 224), (number % 225), (number % 226), (number % 227), (number % 228), (number % 229), (number % 230), (number % 231), (number % 232), (number % 233), (number % 234), (number % 235), (number % 236), (number % 237), (number % 238), (number % 239), (number % 240), (number % 241), (number % 242), (number % 243), (number % 244), (number % 245), (number % 246), (number % 247), (number % 248), (number % 249), (number % 250), (number % 251), (number % 252), (number % 253), (number % 254), (number % 255), (number % 256), (number % 257), (number % 258), (number % 259), (number % 260), (number % 261), (number % 262), (number % 263), (number % 264), (number % 265), (number % 266), (number % 267), (number % 268), (number % 269), (number % 270), (number % 271), (number % 272), (number % 273), (number % 274), (number % 275), (number % 276), (number % 277), (number % 278), (number % 279), (number % 280), (number % 281), (number % 282), (number % 283), (number % 284), (number % 285), (number % 286), (number % 287), (number % 288), (number % 289), (number % 290), (number % 291), (number % 292), (number % 293), (number % 294), (number % 295), (number % 296), (number % 297), (number % 298), (number % 299), (number % 300), (number % 301), (number % 302), (number % 303), (number % 304), (number % 305), (number % 306), (number % 307), (number % 308), (number % 309), (number % 310), (number % 311), (number % 312), (number % 313), (number % 314), (number % 315), (number % 316), (number % 317), (number % 318), (number % 319), (number % 320), (number % 321), (number % 322), (number % 323), (number % 324), (number % 325), (number % 326), (number % 327), (number % 328), (number % 329), (number % 330), (number % 331), (number % 332), (number % 333), (number % 334), (number % 335), (number % 336), (number % 337), (number % 338), (number % 339), (number % 340), (number % 341), (number % 342), (number % 343), (number % 344), (number % 345), (number % 346), (number % 347), (number % 348), (number % 349), (number % 350), (number % 351), (number % 352), (number % 353), (number % 354), (number % 355), (number % 356), (number % 357), (number % 358), (number % 359), (number % 360), (number % 361), (number % 362), (number % 363), (number % 364), (number % 365), (number % 366), (number % 367), (number % 368), (number % 369), (number % 370), (number % 371), (number % 372), (number % 373), (number % 374), (number % 375), (number % 376), (number % 377), (number % 378), (number % 379), (number % 380), (number % 381), (number % 382), (number % 383), (number % 384), (number % 385), (number % 386), (number % 387), (number % 388), (number % 389), (number % 390), (number % 391), (number % 392), (number % 393), (number % 394), (number % 395), (number % 396), (number % 397), (number % 398), (number % 399), (number % 400), (number % 401), (number % 402), (number % 403), (number % 404), (number % 405), (number % 406), (number % 407), (number % 408), (number % 409), (number % 410), (number % 411), (number % 412), (number % 413), (number % 414), (number % 415), (number % 416), (number % 417), (number % 418), (number % 419), (number % 420), (number % 421), (number % 422), (number % 423), (number % 424), (number % 425), (number % 426), (number % 427), (number % 428), (number % 429), (number % 430), (number % 431), (number % 432), (number % 433), (number % 434), (number % 435), (number % 436), (number % 437), (number % 438), (number % 439), (number % 440), (number % 441), (number % 442), (number % 443), (number % 444), (number % 445), (number % 446), (number % 447), (number % 448), (number % 449), (number % 450), (number % 451), (number % 452), (number % 453), (number % 454), (number % 455), (number % 456), (number % 457), (number % 458), (number % 459), (number % 460), (number % 461), (number % 462), (number % 463), (number % 464), (number % 465), (number % 466), (number % 467), (number % 468), (number % 469), (number % 470), (number % 471), (number % 472), (number % 473), (number % 474), (number % 475), (number % 476), (number % 477), (number % 478), (number % 479), (number % 480), (number % 481), (number % 482), (number % 483), (number % 484), (number % 485), (number % 486), (number % 487), (number % 488), (number % 489), (number % 490), (number % 491), (number % 492), (number % 493), (number % 494), (number % 495), (number % 496), (number % 497), (number % 498), (number % 499), (number % 500), (number % 501), (number % 502), (number % 503), (number % 504), (number % 505), (number % 506), (number % 507), (number % 508), (number % 509), (number % 510), (number % 511), (number % 512), (number % 513), (number % 514), (number % 515), (number % 516), (number % 517), (number % 518), (number % 519), (number % 520), (number % 521), (number % 522), (number % 523), (number % 524), (number % 525), (number % 526), (number % 527), (number % 528), (number % 529), (number % 530), (number % 531), (number % 532), (number % 533), (number % 534), (number % 535), (number % 536), (number % 537), (number % 538), (number % 539), (number % 540), (number % 541), (number % 542), (number % 543), (number % 544), (number % 545), (number % 546), (number % 547), (number % 548), (number % 549), (number % 550), (number % 551), (number % 552), (number % 553), (number % 554), (number % 555), (number % 556), (number % 557), (number % 558), (number % 559), (number % 560), (number % 561), (number % 562), (number % 563), (number % 564), (number % 565), (number % 566), (number % 567), (number % 568), (number % 569), (number % 570), (number % 571), (number % 572), (number % 573), (number % 574), (number % 575), (number % 576), (number % 577), (number % 578), (number % 579), (number % 580), (number % 581), (number % 582), (number % 583), (number % 584), (number % 585), (number % 586), (number % 587), (number % 588), (number % 589), (number % 590), (number % 591), (number % 592), (number % 593), (number % 594), (number % 595), (number % 596), (number % 597), (number % 598), (number % 599), (number % 600), (number % 601), (number % 602), (number % 603), (number % 604), (number % 605), (number % 606), (number % 607), (number % 608), (number % 609), (number % 610), (number % 611), (number % 612), (number % 613), (number % 614), (number % 615), (number % 616), (number % 617), (number % 618), (number % 619), (number % 620), (number % 621), (number % 622), (number % 623), (number % 624), (number % 625), (number % 626), (number % 627), (number % 628), (number % 629), (number % 630), (number % 631), (number % 632), (number % 633), (number % 634), (number % 635), (number % 636), (number % 637), (number % 638), (number % 639), (number % 640), (number % 641), (number % 642), (number % 643), (number % 644), (number % 645), (number % 646), (number % 647), (number % 648), (number % 649), (number % 650), (number % 651), (number % 652), (number % 653), (number % 654), (number % 655), (number % 656), (number % 657), (number % 658), (number % 659), (number % 660), (number % 661), (number % 662), (number % 663), (number % 664), (number % 665), (number % 666), (number % 667), (number % 668), (number % 669), (number % 670), (number % 671), (number % 672), (number % 673), (number % 674), (number % 675), (number % 676), (number % 677), (number % 678), (number % 679), (number % 680), (number % 681), (number % 682), (number % 683), (number % 684), (number % 685), (number % 686), (number % 687), (number % 688), (number % 689), (number % 690), (number % 691), (number % 692), (number % 693), (number % 694), (number % 695), (number % 696), (number % 697), (number % 698), (number % 699), (number % 700))
# The engine's old analyzer writes every CTE out before it looks at a limit: gigabytes, and a minute that nothing stops
WITH c0 AS (SELECT 1 AS n), c1 AS (SELECT n FROM c0 UNION ALL SELECT n FROM c0), c2 AS (SELECT n FROM c1 UNION ALL SELECT n FROM c1), c3 AS (SELECT n FROM c2 UNION ALL SELECT n FROM c2), c4 AS (SELECT n FROM c3 UNION ALL SELECT n FROM c3), c5 AS (SELECT n FROM c4 UNION ALL SELECT n FROM c4), c6 AS (SELECT n FROM c5 UNION ALL SELECT n FROM c5), c7 AS (SELECT n FROM c6 UNION ALL SELECT n FROM c6), c8 AS (SELECT n FROM c7 UNION ALL SELECT n FROM c7), c9 AS (SELECT n FROM c8 UNION ALL SELECT n FROM c8), c10 AS (SELECT n FROM c9 UNION ALL SELECT n FROM c9), c11 AS (SELECT n FROM c10 UNION ALL SELECT n FROM c10), c12 AS (SELECT n FROM c11 UNION ALL SELECT n FROM c11), c13 AS (SELECT n FROM c12 UNION ALL SELECT n FROM c12), c14 AS (SELECT n FROM c13 UNION ALL SELECT n FROM c13), c15 AS (SELECT n FROM c14 UNION ALL SELECT n FROM c14), c16 AS (SELECT n FROM c15 UNION ALL SELECT n FROM c15) SELECT count() FROM c16 SETTINGS enable_analyzer = 0
WITH c0 AS (SELECT 1 AS n), c1 AS (SELECT n FROM c0 UNION ALL SELECT n FROM c0), c2 AS (SELECT n FROM c1 UNION ALL SELECT n FROM c1), c3 AS (SELECT n FROM c2 UNION ALL SELECT n FROM c2), c4 AS (SELECT n FROM c3 UNION ALL SELECT n FROM c3), c5 AS (SELECT n FROM c4 UNION ALL SELECT n FROM c4), c6 AS (SELECT n FROM c5 UNION ALL SELECT n FROM c5), c7 AS (SELECT n FROM c6 UNION ALL SELECT n FROM c6), c8 AS (SELECT n FROM c7 UNION ALL SELECT n FROM c7), c9 AS (SELECT n FROM c8 UNION ALL SELECT n FROM c8), c10 AS (SELECT n FROM c9 UNION ALL SELECT n FROM c9), c11 AS (SELECT n FROM c10 UNION ALL SELECT n FROM c10), c12 AS (SELECT n FROM c11 UNION ALL SELECT n FROM c11), c13 AS (SELECT n FROM c12 UNION ALL SELECT n FROM c12), c14 AS (SELECT n FROM c13 UNION ALL SELECT n FROM c13), c15 AS (SELECT n FROM c14 UNION ALL SELECT n FROM c14), c16 AS (SELECT n FROM c15 UNION ALL SELECT n FROM c15) SELECT count() FROM c16 SETTINGS allow_experimental_analyzer = 0
WITH c0 AS (SELECT 1 AS n), c1 AS (SELECT n FROM c0 UNION ALL SELECT n FROM c0), c2 AS (SELECT n FROM c1 UNION ALL SELECT n FROM c1), c3 AS (SELECT n FROM c2 UNION ALL SELECT n FROM c2), c4 AS (SELECT n FROM c3 UNION ALL SELECT n FROM c3), c5 AS (SELECT n FROM c4 UNION ALL SELECT n FROM c4), c6 AS (SELECT n FROM c5 UNION ALL SELECT n FROM c5), c7 AS (SELECT n FROM c6 UNION ALL SELECT n FROM c6), c8 AS (SELECT n FROM c7 UNION ALL SELECT n FROM c7), c9 AS (SELECT n FROM c8 UNION ALL SELECT n FROM c8), c10 AS (SELECT n FROM c9 UNION ALL SELECT n FROM c9), c11 AS (SELECT n FROM c10 UNION ALL SELECT n FROM c10), c12 AS (SELECT n FROM c11 UNION ALL SELECT n FROM c11), c13 AS (SELECT n FROM c12 UNION ALL SELECT n FROM c12), c14 AS (SELECT n FROM c13 UNION ALL SELECT n FROM c13), c15 AS (SELECT n FROM c14 UNION ALL SELECT n FROM c14), c16 AS (SELECT n FROM c15 UNION ALL SELECT n FROM c15) SELECT count() FROM c16 FORMAT TSV SETTINGS `enable_analyzer` = 0
