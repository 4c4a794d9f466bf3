package reader_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// odbc sends a statement as clickhouse-odbc 1.5 does (driver/statement.cpp, Connection::getUri):
// to /query; a Host without a port; credentials, even
// empty ones.
func (f *front) odbc(t *testing.T, parameters url.Values, sql string) [][]string {
	t.Helper()
	query := url.Values{
		"default_format": {"ODBCDriver2"}, "database": {"default"}, "session_id": {"5f0c9a52-7a3e-4a43-9b9c-0f2d0d1a7b11"},
		"enable_http_compression": {"1"}, "cast_keep_nullable": {"1"}, "prefer_column_name_to_alias": {"1"},
	}
	for name, values := range parameters {
		query[name] = values
	}
	host, _, _ := strings.Cut(f.address, ":")
	answer, packed := f.ask(t, asked{path: "/query", query: query, chunked: true, body: []byte(sql), headers: map[string]string{
		"Host": host, "User-Agent": "Power BI clickhouse-odbc/1.5.4 (Windows) UNICODE", "Accept-Encoding": "zstd", "Authorization": "Basic ZGVmYXVsdDo=",
	}})
	body := []byte(unpacked(t, answer, packed))
	if answer.StatusCode != http.StatusOK || answer.Header.Get("X-ClickHouse-Format") != "ODBCDriver2" || answer.Header.Get("X-ClickHouse-Timezone") != "Europe/Bucharest" {
		t.Errorf("ODBC: %s\n%s %v\n%s", sql, answer.Status, answer.Header, body)
		return nil
	}
	rows, err := readODBC(body)
	if err != nil {
		t.Errorf("ODBC: %s\n%v", sql, err)
	}
	return rows
}

// readODBC reads the format ODBCDriver2: the names and types of columns, then rows. Every
// number is four bytes, and a NULL has the length -1.
func readODBC(body []byte) (rows [][]string, err error) {
	number := func() int32 {
		if len(body) < 4 {
			err = errors.New("the answer is cut short")
			return 0
		}
		n := int32(binary.LittleEndian.Uint32(body))
		body = body[4:]
		return n
	}
	text := func() string {
		n := number()
		if n < 0 {
			return "NULL"
		}
		if int(n) > len(body) {
			err = errors.New("the answer is cut short")
			return ""
		}
		defer func() { body = body[n:] }()
		return string(body[:n])
	}
	columns := 0
	for range number() {
		columns = int(number()) - 1
		head := text()
		row := []string{}
		for range columns {
			row = append(row, text())
		}
		if head != "name" && head != "type" || err != nil {
			return nil, errors.Join(err, fmt.Errorf("a header row is called %q", head))
		}
		rows = append(rows, row)
	}
	for len(body) > 0 && err == nil {
		row := []string{}
		for range columns {
			row = append(row, text())
		}
		rows = append(rows, row)
	}
	return rows, err
}

// testODBC sends what Power BI, Excel and Tableau have the driver ask: the check of a
// connection, the catalogue functions (driver/api/odbc.cpp) and a query with bound values.
func testODBC(t *testing.T, f *front) {
	if got, want := f.odbc(t, nil, "SELECT 1"), [][]string{{"1"}, {"UInt8"}, {"1"}}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if got := f.odbc(t, nil, "select version()"); len(got) != 3 || !strings.HasPrefix(got[2][0], "2") {
		t.Error(got)
	}

	const noSchema = " CAST(NULL, 'Nullable(String)') AS TABLE_SCHEM,"
	const noRemarks = " CAST(NULL, 'Nullable(String)') AS REMARKS"
	const tables = "SELECT CAST(database, 'Nullable(String)') AS TABLE_CAT," + noSchema + " CAST(name, 'Nullable(String)') AS TABLE_NAME, CAST('TABLE', 'Nullable(String)') AS TABLE_TYPE," + noRemarks +
		" FROM system.tables WHERE (1 == 1)"
	const order = " ORDER BY TABLE_TYPE, TABLE_CAT, TABLE_SCHEM, TABLE_NAME"
	databases := f.odbc(t, nil, "SELECT CAST(name, 'Nullable(String)') AS TABLE_CAT,"+noSchema+" CAST(NULL, 'Nullable(String)') AS TABLE_NAME, CAST(NULL, 'Nullable(String)') AS TABLE_TYPE,"+noRemarks+" FROM system.databases"+order)
	if !slices.ContainsFunc(databases, func(row []string) bool { return row[0] == "larder" }) {
		t.Error("SQLTables lists no database larder:", databases)
	}
	f.odbc(t, nil, "SELECT CAST(NULL, 'Nullable(String)') AS TABLE_CAT,"+noSchema+" CAST(NULL, 'Nullable(String)') AS TABLE_NAME, CAST('TABLE', 'Nullable(String)') AS TABLE_TYPE,"+noRemarks+order)
	listed := f.odbc(t, nil, tables+" AND isNotNull(TABLE_CAT) AND coalesce(TABLE_CAT, '') LIKE 'larder' AND isNotNull(TABLE_NAME) AND coalesce(TABLE_NAME, '') LIKE 'sales\\_%' AND isNotNull(TABLE_TYPE) AND (1 == 0 OR coalesce(TABLE_TYPE, '') LIKE 'TABLE' OR coalesce(TABLE_TYPE, '') LIKE 'VIEW')"+order)
	if !slices.ContainsFunc(listed, func(row []string) bool { return row[2] == "sales_daily" }) {
		t.Error("SQLTables lists no sales_daily:", listed)
	}
	columns := f.odbc(t, nil, "SELECT cast(database, 'Nullable(String)') AS TABLE_CAT, cast('', 'Nullable(String)') AS TABLE_SCHEM, cast(table, 'String') AS TABLE_NAME, cast(name, 'String') AS COLUMN_NAME, cast(0, 'Int16') AS DATA_TYPE, cast(type, 'String') AS TYPE_NAME, cast(NULL, 'Nullable(Int32)') AS COLUMN_SIZE, cast(0, 'Nullable(Int32)') AS BUFFER_LENGTH, cast(NULL, 'Nullable(Int16)') AS DECIMAL_DIGITS, cast(NULL, 'Nullable(Int16)') AS NUM_PREC_RADIX, cast(0, 'Int16') AS NULLABLE, cast(NULL, 'Nullable(String)') AS REMARKS, cast(NULL, 'Nullable(String)') AS COLUMN_DEF, cast(0, 'Int16') AS SQL_DATA_TYPE, cast(NULL, 'Nullable(Int16)') AS SQL_DATETIME_SUB, cast(0, 'Nullable(Int32)') AS CHAR_OCTET_LENGTH, cast(position, 'Int32') AS ORDINAL_POSITION, cast(NULL, 'Nullable(String)') AS IS_NULLABLE FROM system.columns WHERE (1 == 1) AND isNotNull(TABLE_CAT) AND coalesce(TABLE_CAT, '') LIKE 'larder' AND TABLE_NAME LIKE 'sales\\_orders' ORDER BY TABLE_CAT, TABLE_SCHEM, TABLE_NAME, ORDINAL_POSITION")
	if !slices.ContainsFunc(columns, func(row []string) bool {
		return row[3] == "created_at" && row[5] == "DateTime64(6, 'Europe/Bucharest')"
	}) {
		t.Error("SQLColumns lists no created_at:", columns)
	}
	types := f.odbc(t, nil, "SELECT * FROM ("+odbcType("Date", "91", "10", "'\\''")+" UNION ALL "+odbcType("String", "-9", "16777215", "'\\''")+") ORDER BY DATA_TYPE")
	if len(types) != 4 || types[2][0] != "String" || types[3][1] != "91" {
		t.Error("SQLGetTypeInfo:", types)
	}

	// Power BI's DirectQuery: columns under other names, grouped outside, and values bound.
	got := f.odbc(t, url.Values{"param_odbc_positional_1": {"2000-01-01"}, "param_odbc_positional_2": {`it\'s`}},
		"select `type`, `C1` from ( select `type`, count(*) as `C1`, sum(`totals_net_sales`) as `C2` from `larder`.`sales_orders` where toDate(`created_at`) > {odbc_positional_1:Nullable(Date)} and `type` <> {odbc_positional_2:LowCardinality(Nullable(String))} group by `type` ) as `ITBL` where not `C1` is null limit 1000001 offset 0")
	if len(got) < 3 || got[0][1] != "C1" {
		t.Error("Power BI's query:", got)
	}
}

// odbcType is one type of SQLGetTypeInfo.
func odbcType(name, dataType, size, quote string) string {
	return "SELECT cast('" + name + "', 'String') AS TYPE_NAME, cast(" + dataType + ", 'Int16') AS DATA_TYPE, cast(" + size + ", 'Nullable(Int32)') AS COLUMN_SIZE, cast(" + quote + ", 'Nullable(String)') AS LITERAL_PREFIX, cast(" + quote + ", 'Nullable(String)') AS LITERAL_SUFFIX, cast(NULL, 'Nullable(String)') AS CREATE_PARAMS, cast(1, 'Int16') AS NULLABLE, cast(1, 'Int16') AS CASE_SENSITIVE, cast(3, 'Int16') AS SEARCHABLE, cast(NULL, 'Nullable(Int16)') AS UNSIGNED_ATTRIBUTE, cast(0, 'Int16') AS FIXED_PREC_SCALE, cast(NULL, 'Nullable(Int16)') AS AUTO_UNIQUE_VALUE, cast(NULL, 'Nullable(String)') AS LOCAL_TYPE_NAME, cast(NULL, 'Nullable(Int16)') AS MINIMUM_SCALE, cast(NULL, 'Nullable(Int16)') AS MAXIMUM_SCALE, cast(" + dataType + ", 'Int16') AS SQL_DATA_TYPE, cast(NULL, 'Nullable(Int16)') AS SQL_DATETIME_SUB, cast(NULL, 'Nullable(Int32)') AS NUM_PREC_RADIX, cast(NULL, 'Nullable(Int16)') AS INTERVAL_PRECISION"
}
