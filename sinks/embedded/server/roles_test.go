package server_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/embeddedtest"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

func TestMain(m *testing.M) {
	server.CloseShared = embeddedtest.Close
	os.Exit(embeddedtest.Main(m, map[string]embeddedtest.Role{"nested": roleNested, "shapes": roleShapes}))
}

// roleNested asks as a reader for what functions make of deeply nested text, and
// prints how many answered in some way: one that looks at no stack ends the process.
func roleNested(ctx context.Context, args []string) error {
	engine, err := server.Open(ctx, server.Options{Engine: embedded.Options{Path: args[0]}})
	if err != nil {
		return err
	}
	addr, err := engine.ListenTCP(ctx, "127.0.0.1:0", "", "")
	if err != nil {
		return err
	}
	const object = "concat(repeat('{\"a\":', 300000), '1', repeat('}', 300000))"
	const array = "concat(repeat('[', 300000), '1', repeat(']', 300000))"
	answered := 0
	for _, call := range []string{
		"JSONMergePatch(%s, '{}')", "jsonMergePatch(%s, '{}')", "prettyPrintJSON(%s)", "JSONExtractRaw(%s, 'a')", "JSONExtractKeysAndValuesRaw(%s)", "JSONExtract(%s, 'JSON')",
		"JSONExtract(%s, 'Array(Array(UInt8))')", "JSON_VALUE(%s, '$.a')", "JSON_QUERY(%s, '$.a')", "JSON_EXISTS(%s, '$.a')", "isValidJSON(%s)", "JSONLength(%s)", "JSONType(%s)", "JSONArrayLength(%s)",
		"simpleJSONExtractRaw(%s, 'a')", "visitParamExtractRaw(%s, 'a')", "toString(CAST(%s AS JSON))", "toString(JSONAllPaths(CAST(%s AS JSON)))", "toTypeName(CAST(%s AS Dynamic))", "extractTextFromHTML(%s)",
		"readWKT(%s)", "readWKTPolygon(%s)", "formatQuery(%s)", "normalizeQuery(%s)", "highlightQuery(%s)", "obfuscateQuery(%s)", "CAST(%s AS Array(UInt8))", "CAST('1', %s)", "match('a', %s)", "JSON_VALUE('{}', %s)",
		"extractKeyValuePairs(%s)", "parseDateTime(%s, '%%Y')", "toString(CAST(%s AS Map(String, String)))", "likePattern(%s)", "defaultValueOfTypeName(%s)", "toTypeName(reinterpret(1, %s))",
	} {
		for _, text := range []string{object, array, "repeat('(', 300000)", "repeat('Array(', 300000)", "repeat('<a>', 300000)"} {
			response, err := http.Post("http://"+addr.String()+"/", "text/plain", strings.NewReader("SELECT length(toString("+fmt.Sprintf(call, text)+"))"))
			if err != nil {
				return fmt.Errorf("%s: %w", call, err)
			}
			response.Body.Close()
			answered++
		}
	}
	fmt.Println(answered)
	return engine.Close()
}

// roleShapes asks as a reader for values of odd types in the formats that have types of
// their own, and prints how many answered in some way: some would end the process.
func roleShapes(ctx context.Context, args []string) error {
	engine, err := server.Open(ctx, server.Options{Engine: embedded.Options{Path: args[0]}})
	if err != nil {
		return err
	}
	addr, err := engine.ListenTCP(ctx, "127.0.0.1:0", "", "")
	if err != nil {
		return err
	}
	answered := 0
	for _, format := range strings.Fields("Parquet Arrow ArrowStream Avro Native BSONEachRow MsgPack Npy Buffers GeoJSON RowBinaryWithNamesAndTypes JSONColumnsWithMetadata") {
		for _, value := range []string{
			"readWKT('POINT(1 1)')", "CAST(NULL AS Geometry)", "[readWKT('POINT(1 1)')]", "map(1, readWKT('POINT(1 1)'))", "readWKTPoint('POINT(1 1)')", "CAST([(1, 1)] AS Ring)",
			"CAST('x' AS Variant(UInt8, String))", "CAST(1 AS Dynamic)", "CAST('{\"a\": 1}' AS JSON(b UInt8))", "CAST([1, 2, 3, 4, 5, 6, 7, 8] AS QBit(Float32, 8))",
			"NULL", "[]", "tuple()", "map()", "sumState(1)", "INTERVAL 1 DAY", "CAST(1 AS Time64(3))", "materialize(NULL)", "toInt256(-1)", "toDecimal256(1, 76)",
		} {
			for _, rows := range []int{0, 1, 3} {
				sql := fmt.Sprintf("SELECT %s AS a FROM numbers(%d) FORMAT %s", value, rows, format)
				response, err := http.Post("http://"+addr.String()+"/", "text/plain", strings.NewReader(sql))
				if err != nil {
					return fmt.Errorf("%s: %w", sql, err)
				}
				response.Body.Close()
				answered++
			}
		}
	}
	fmt.Println(answered)
	return engine.Close()
}
