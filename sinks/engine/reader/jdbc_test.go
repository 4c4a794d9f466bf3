package reader_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/compress"
)

// jdbc sends a statement as the driver jdbc-v2 0.10 does (HttpAPIClientHelper): format,
// database, user and the statement's id in headers, and the answer in ClickHouse's own
// compression. It returns the columns' names and types, and the bytes of the rows.
func (f *front) jdbc(t *testing.T, parameters url.Values, sql string) (names, types []string, rows []byte) {
	t.Helper()
	query := url.Values{"compress": {"1"}, "query_id": {"7d1b"}}
	for name, values := range parameters {
		query[name] = values
	}
	answer, body := f.ask(t, asked{query: query, body: []byte(sql), headers: map[string]string{
		"Content-Type": "text/plain", "User-Agent": "Metabase/1.53.8 jdbc-v2/0.10.0 clickhouse-java-v2/0.10.0 (Linux; jvm:21) Apache-HttpClient/5.4",
		"X-ClickHouse-Format": "RowBinaryWithNamesAndTypes", "X-ClickHouse-Query-Id": "7d1b", "X-ClickHouse-Database": "larder", "Authorization": "Basic ZGVmYXVsdDo=",
	}})
	if answer.StatusCode != http.StatusOK {
		t.Errorf("JDBC: %s\n%s %s", sql, answer.Status, body)
		return nil, nil, nil
	}
	if format, id := answer.Header.Get("X-ClickHouse-Format"), answer.Header.Get("X-ClickHouse-Query-Id"); format != "RowBinaryWithNamesAndTypes" || id != "7d1b" {
		t.Errorf("JDBC: %s: format %s, id %s", sql, format, id)
	}
	unpacked, err := io.ReadAll(compress.NewReader(bytes.NewReader(body)))
	if err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("JDBC: %s: %v", sql, err)
		return nil, nil, nil
	}
	r := bytes.NewBuffer(unpacked)
	text := func() string {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			t.Fatalf("JDBC: %s: %v", sql, err)
		}
		return string(r.Next(int(n)))
	}
	columns, err := binary.ReadUvarint(r)
	if err != nil {
		t.Fatalf("JDBC: %s: %v", sql, err)
	}
	for range columns {
		names = append(names, text())
	}
	for range columns {
		types = append(types, text())
	}
	return names, types, r.Bytes()
}

// testJDBC sends what the driver's metadata asks (DatabaseMetaDataImpl), from which DBeaver
// and Metabase learn what there is, and what Metabase adds.
func testJDBC(t *testing.T, f *front) {
	const noText = "CAST(null as Nullable(String))"
	for _, c := range []struct{ what, sql, holds string }{
		{"open", "SELECT currentUser() AS user, timezone() AS timezone, version() AS version LIMIT 1", "\x10Europe/Bucharest"},
		{"getServerVersion", "SELECT version() as server_version", "26."},
		{"getSchemas", "SELECT name AS TABLE_SCHEM, '' AS TABLE_CATALOG FROM system.databases ORDER BY name", "\x06larder"},
		{"getCatalogs", "SELECT 'local' AS TABLE_CAT  WHERE 1 = 0", ""},
		{"getTableTypes", "SELECT arrayJoin(['TABLE','VIEW','SYSTEM TABLE','TEMPORARY TABLE']) AS TABLE_TYPE ORDER BY TABLE_TYPE", "\x04VIEW"},
		{"getTables", "SELECT '' AS TABLE_CAT, t.database AS TABLE_SCHEM, t.name AS TABLE_NAME, if(t.is_temporary = 1, concat('Temporary', t.engine), t.engine) AS TABLE_TYPE, t.comment AS REMARKS, " + noText + " AS TYPE_CAT, d.engine AS TYPE_SCHEM, " + noText + " AS TYPE_NAME, " + noText + " AS SELF_REFERENCING_COL_NAME, " + noText + " AS REF_GENERATION FROM system.tables t JOIN system.databases d ON system.tables.database = system.databases.name WHERE t.database LIKE 'larder' AND t.name LIKE '%' AND ( (t.engine IN ('View','MaterializedView')) OR (t.engine NOT IN ('View','MaterializedView') AND NOT t.engine LIKE 'System%' AND NOT t.engine LIKE 'Async%' AND t.is_temporary = 0)) AND (t.is_temporary = 0)", "\x0bsales_daily\x04View"},
		{"getColumns", "SELECT '' AS TABLE_CAT, database AS TABLE_SCHEM, table AS TABLE_NAME, name AS COLUMN_NAME, toInt32(1111) AS DATA_TYPE, type AS TYPE_NAME, toInt32(multiIf(character_octet_length IS NOT NULL, character_octet_length, system.columns.type == 'Bool', 1, system.columns.type == 'Date', 2, numeric_precision IS NOT NULL, numeric_precision, 0)) AS COLUMN_SIZE, toInt32(0) AS BUFFER_LENGTH, toInt32(IF (numeric_scale == 0, NULL, numeric_scale)) as DECIMAL_DIGITS,  toInt32(numeric_precision_radix) AS NUM_PREC_RADIX, toInt32(position(type, 'Nullable(') >= 1 ?1 : 0) as NULLABLE, system.columns.comment AS REMARKS, system.columns.default_expression AS COLUMN_DEF, toInt32(0) AS SQL_DATA_TYPE, toInt32(0) AS SQL_DATETIME_SUB, character_octet_length::Nullable(Int32) AS CHAR_OCTET_LENGTH, toInt32(system.columns.position) AS ORDINAL_POSITION, position(upper(type), 'NULLABLE') >= 1 ? 'YES' : 'NO' AS IS_NULLABLE,CAST(NULL as Nullable(String)) AS SCOPE_CATALOG, CAST(NULL as Nullable(Int16)) AS SOURCE_DATA_TYPE, 'NO' as IS_AUTOINCREMENT, 'NO' as IS_GENERATEDCOLUMN  FROM system.columns WHERE database LIKE 'larder' AND table LIKE 'sales_daily' AND name LIKE '%' ORDER BY TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION", "\x0bsales_daily"},
		{"getColumnPrivileges", "SELECT CAST(NULL as Nullable(String)) AS TABLE_CAT, CAST(NULL as Nullable(String)) AS IS_GRANTABLE LIMIT 0", ""},
		{"getTypeInfo", "SELECT name AS TYPE_NAME, CAST(0 as Int32) AS DATA_TYPE, CAST(attrs.c2 AS Nullable(Int32)) AS PRECISION, CAST(not(dt.case_insensitive) AS Boolean) AS CASE_SENSITIVE, 3::Int16 AS SEARCHABLE, CAST( not(attrs.c3) AS Boolean) AS UNSIGNED_ATTRIBUTE, if(empty(alias_to), name, alias_to) AS LOCAL_TYPE_NAME, CAST(attrs.c4 AS Nullable(Int16)) AS MINIMUM_SCALE, CAST(attrs.c5 AS Nullable(Int16)) AS MAXIMUM_SCALE FROM system.data_type_families dt  LEFT JOIN (SELECT * FROM VALUES ( ('Bool',1,true,0,0),('Date32',10,false,0,0),('DateTime64',29,false,0,9)) ) as attrs ON (dt.name = attrs.c1) WHERE alias_to == ''  ORDER BY name", "\x06Date32"},
		{"getClientInfoProperties", "SELECT c1 as NAME, c2 as MAX_LEN, c3 as DEFAULT_VALUE, c4 as DESCRIPTION FROM VALUES (('ApplicationName', 255, '', 'Client application name.'))", "\x0fApplicationName"},
		{"getFunctions", "SELECT CAST(NULL as Nullable(String)) AS FUNCTION_CAT, CAST(name as Nullable(String)) AS FUNCTION_NAME, concat(description, '(', origin, ')') AS REMARKS, name AS SPECIFIC_NAME FROM system.functions WHERE name LIKE 'toDate%'", "\x06toDate"},
		{"VALUES with a structure", "SELECT * FROM VALUES('n UInt8, t String', (1, 'one'), (2, 'two'))", "\x01\x03one\x02\x03two"},
		{"VALUES after FROM", "SELECT t.c2 FROM (VALUES (1, 'one'), (2, 'two')) AS t ORDER BY t.c1 DESC", "\x03two\x03one"},
		{"Metabase's first", "SELECT value='1' FROM system.settings WHERE name='cloud_mode'", ""},
		{"Metabase's version", "WITH s AS (SELECT version() AS ver, splitByChar('.', ver) AS verSplit) SELECT s.ver, toInt32(verSplit[1]), toInt32(verSplit[2]) FROM s", "26."},
	} {
		names, types, rows := f.jdbc(t, url.Values{"max_result_rows": {"9223372036854775807"}, "result_overflow_mode": {"break"}}, c.sql)
		if len(names) == 0 || len(types) != len(names) || !strings.Contains(string(rows), c.holds) {
			t.Errorf("JDBC: %s: %v %v\n%q", c.what, names, types, rows)
		}
	}

	// A report zone of Metabase is a setting of each statement. It is not the zone of columns
	// that name theirs.
	_, types, rows := f.jdbc(t, url.Values{"session_timezone": {"UTC"}, "select_sequential_consistency": {"1"}}, "SELECT timezone(), any(created_at) FROM larder.sales_orders")
	if len(types) != 2 || types[1] != "DateTime64(6, 'Europe/Bucharest')" || !strings.HasPrefix(string(rows), "\x03UTC") {
		t.Errorf("Metabase's report zone: %v %q", types, rows)
	}
}
