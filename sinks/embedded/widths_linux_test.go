package embedded

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/guard"
)

// nested puts one subquery around another, each with this expression of the column x.
func nested(times int, expression, innermost string) string {
	return strings.Repeat("SELECT "+expression+" AS x FROM (", times) + innermost + strings.Repeat(")", times)
}

// Types that double with each subquery are refused before the engine writes them out;
// those that people make are taken.
func TestTypesHaveAWidth(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	tooWide := "tuples or maps made of others"
	for _, sql := range []string{
		nested(24, "(x, x)", "SELECT 1 AS x"), nested(24, "(x, x)", "SELECT materialize(1) AS x"), nested(22, "tuple(x AS a, x AS b)", "SELECT 1 AS x"),
		nested(18, "map(x, x)", "SELECT 1 AS x"), nested(18, "arrayZip([x], [x])", "SELECT 1 AS x"), nested(18, "any((x, x))", "SELECT 1 AS x"),
		nested(18, "maxMap([x], [x])", "SELECT 1 AS x"), nested(18, "arrayMap(tuple, [x], [x])", "SELECT 1 AS x"), nested(3, "("+strings.Repeat("x,", 280)+"x)", "SELECT 1 AS x"), nested(20, "x || x", "SELECT tuple(1) AS x"), nested(18, "concat(x, x)", "SELECT tuple(1) AS x"),
		nested(18, "arrayMap(y -> (y, y), [x])", "SELECT 1 AS x"), nested(18, "uniqState(x, x)", "SELECT 1 AS x"),
		"WITH y -> (y, y) AS f " + nested(4, "f(f(f(f(f(x)))))", "SELECT 1 AS x"), "WITH (y -> (y, y)) AS f, y -> f(f(f(f(y)))) AS g " + nested(5, "g(x)", "SELECT 1 AS x"),
		"WITH (y -> (y, y)) AS f " + nested(18, "arrayMap(f, [x])", "SELECT 1 AS x"),
		strings.Repeat("SELECT tuple(*) AS a, tuple(*) AS b FROM (", 12) + "SELECT 1" + strings.Repeat(")", 12),
		"SELECT (x, x) FROM (SELECT tuple(*) AS x FROM (" + strings.Repeat("SELECT *, * FROM (", 14) + "SELECT 1 AS a" + strings.Repeat(")", 14) + "))",
		"SELECT x IN ((x, x) AS y), y FROM (" + nested(20, "(x, x)", "SELECT 1 AS x") + ")",
		"DESCRIBE (" + nested(24, "(x, x)", "SELECT 1 AS x") + ")", "EXPLAIN " + nested(24, "(x, x)", "SELECT 1 AS x"),
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), tooWide) {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		nested(8, "(x, x)", "SELECT 1 AS x"), "SELECT count(DISTINCT tuple(*)) FROM larder.v", "SELECT groupArray((a, file_name)), argMax(file_name, (a, file_name)) FROM larder.v GROUP BY (a, file_name)",
		"SELECT " + strings.Repeat("a IN (a, a + 1, a + 2), arraySum((x, y) -> x * y, [a], [a]), ", 20) + "1 FROM larder.v",
		"SELECT (a, file_name) IN (" + strings.Repeat("(1, 'x'), ", 2000) + "(2, 'y')) FROM larder.v", "SELECT map('a', a, 'b', a, 'c', a) FROM larder.v",
		"SELECT " + strings.Repeat("file_name || ' ' || file_name || toString(a), concat(file_name, ' of ', file_name), ", 20) + "1 FROM larder.v",
		"WITH (x, y) -> if(y = 0, 0, x / y) AS share SELECT " + strings.Repeat("share(a, 2), ", 100) + "1 FROM larder.v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
}

// Likewise names, which stand in those of all that is made of a column.
func TestNamesHaveALength(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	long := strings.Repeat("a", 100_000)
	for _, sql := range []string{
		"WITH `" + long + "` AS y SELECT " + strings.Repeat("y + 1, ", 300) + "y FROM (SELECT materialize(1) AS `" + long + "`)",
		"WITH " + long + " AS y SELECT " + strings.Repeat("y + 1, ", 300) + "y FROM (SELECT materialize(1) AS " + long + ")",
		"SELECT " + strings.Repeat("COLUMNS('') + 1, ", 400) + "1 FROM (SELECT position(file_name, '" + long + "') FROM larder.v)",
		"SELECT " + strings.Repeat("abs(", 800) + "*" + strings.Repeat(")", 800) + " FROM (SELECT 1" + strings.Repeat(" + 1", 30_000) + ")",
	} {
		w := b.ask(engine, http.MethodPost, sql, url.Values{"max_result_rows": {"0"}})
		if w.Code != http.StatusForbidden && w.Code != http.StatusBadRequest || w.Code == http.StatusForbidden && !strings.Contains(w.Body.String(), "names grow too long") {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"SELECT a FROM larder.v WHERE file_name NOT IN ('" + strings.Repeat("x', '", 30_000) + "')", "SELECT length('" + long + "')", "SELECT *, " + strings.Repeat("a + 1, ", 1000) + "a FROM larder.v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, url.Values{"max_result_rows": {"0"}}); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// refusedAs says whether the front refused a statement with these words, or the engine for
// its length.
func refusedAs(w *httptest.ResponseRecorder, words string) bool {
	return w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), words) || w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), "TOO_BIG_AST")
}

// A statement has a length, in which a list of values is one.
func TestStatementsHaveALength(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	for sql, want := range map[string]int{
		"SELECT " + strings.Repeat("a + 1, ", 6000) + "a FROM larder.v GROUP BY ALL": http.StatusBadRequest,
		"SELECT " + strings.Repeat("(SELECT 1), ", 3000) + "1":                       http.StatusBadRequest,
		"SELECT " + strings.Repeat("a + 1, ", 1500) + "a FROM larder.v":              http.StatusOK,
		"SELECT a FROM larder.v WHERE a IN (" + strings.Repeat("1, ", 30_000) + "2)": http.StatusOK,
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != want {
			t.Errorf("%.60s: %d %.200s", sql, w.Code, w.Body)
		}
	}
}

// And sets of GROUP BY, which the engine plans each with the keys of all.
func TestGroupingSetsHaveABound(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	grouped := func(sets, keys int) string {
		var all []string
		for i := range sets {
			var one []string
			for j := range keys {
				one = append(one, fmt.Sprintf("a %% %d", i*keys+j+2))
			}
			all = append(all, "("+strings.Join(one, ", ")+")")
		}
		return "SELECT count() FROM larder.v GROUP BY GROUPING SETS (" + strings.Join(all, ", ") + ")"
	}
	for _, sql := range []string{
		grouped(600, 1), grouped(4000, 1), grouped(300, 3), "SELECT * FROM (" + grouped(600, 1) + ")", "WITH x AS (" + grouped(600, 1) + ") SELECT * FROM x", "EXPLAIN " + grouped(600, 1),
		grouped(300, 1) + " UNION ALL " + grouped(300, 1), strings.NewReplacer("(a", "a", "), ", ", ", "))", ")").Replace(grouped(600, 1)),
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "GROUPING SETS are too many") {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{grouped(100, 3), grouped(1, 20), "SELECT a, file_name FROM larder.v GROUP BY GROUPING SETS ((a, file_name), (a), ())", "SELECT count() FROM larder.v GROUP BY " + strings.Repeat("a + 1, ", 1000) + "a"} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// And what WITH, WINDOW and aliases stand for, wherever they are used.
func TestNamesStandForABound(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	listOf := func(times int, form string) string {
		all := make([]string, times)
		for i := range all {
			all[i] = strings.ReplaceAll(form, "?", strconv.Itoa(i))
		}
		return strings.Join(all, ", ")
	}
	for _, sql := range []string{
		"WITH c AS (SELECT " + listOf(2000, "? AS c?") + ") SELECT * FROM c" + strings.Repeat(" UNION ALL SELECT * FROM c", 2000),
		"WITH c AS (SELECT " + listOf(3000, "? AS c?") + ") SELECT (SELECT c1 FROM c), " + listOf(200, "(SELECT c? FROM `c`)"), "WITH c AS (SELECT " + listOf(2000, "?") + ") SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 2000),
		"WITH (" + listOf(1000, "a + ?") + ") AS y SELECT " + listOf(2000, "y.1") + " FROM larder.v", "SELECT arraySum([" + listOf(1000, "a + ?") + "]) AS y, " + listOf(2000, "y + ?") + " FROM larder.v",
		"SELECT " + listOf(3000, "sum(1) OVER w") + " FROM larder.v WINDOW w AS (ORDER BY " + listOf(3000, "a + ?") + ")",
		"WITH (" + listOf(100, "a + ?") + ") AS y, c AS (SELECT " + listOf(100, "y.1 AS c?") + " FROM larder.v) SELECT * FROM c" + strings.Repeat(" UNION ALL SELECT * FROM c", 500),
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "stand for too much") {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"WITH c AS (SELECT a, " + listOf(50, "a + ? AS c?") + " FROM larder.v) SELECT c.a, " + listOf(50, "c.c?") + " FROM c LEFT JOIN c AS d ON c.a = d.a", "SELECT sum(a) AS a, a + 1 AS b, b * 2 AS d FROM larder.v",
		"SELECT " + listOf(50, "sum(a) OVER w") + " FROM larder.v WINDOW w AS (PARTITION BY file_name ORDER BY a ROWS BETWEEN 7 PRECEDING AND CURRENT ROW)",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK && !strings.Contains(w.Body.String(), "ILLEGAL_AGGREGATION") {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// The engine is asked which functions have a type that holds an argument's twice, or
// those of two arguments.
func TestTheEngineJoinsTypesWhereTheTableSays(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the engine 11,000 times")
	}
	engine := openWarehouse(t)
	c, err := engine.readers.lease(context.Background(), map[string]string{"max_execution_time": "5"}, "larder")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.readers.release(c)
	told := regexp.MustCompile(`FixedString\(7\)|Decimal\(9, 4\)`)
	found := map[string]bool{}
	for _, name := range guard.Functions() {
		for _, call := range []string{
			"(?S)", "(?S, ?S)", "(1, ?S)", "(?S, 1)", "(1, ?S, [?S])", "([?S], [?S])", "(map(?S, 1), map(?S, 1))", "(tuple(?S), tuple(?S))", "([?S], ?S)", "([(1, ?S)])",
			"([?D], [?D])", "(map(?D, ?D))", "State(?S, ?S)", "((k, v) -> k, map(?S, 1))",
		} {
			sql := "SELECT toTypeName(" + name + strings.NewReplacer("?S", "toFixedString('1', 7)", "?D", "toDecimal32(1, 4)").Replace(call) + ")"
			out, _, err := c.query(sql, "TSVRaw")
			if err != nil || len(told.FindAll(out, -1)) < 2 || strings.Count(call, "?D, ?D") > 0 && len(told.FindAll(out, -1)) < 3 {
				continue
			}
			found[name] = true
			if !strings.HasPrefix(call, "State") && !guard.Joins(name) && name != "concat" {
				t.Errorf("%s: %s", sql, out)
			}
		}
	}
	if len(found) < 8 {
		t.Errorf("found %v", found)
	}
}
