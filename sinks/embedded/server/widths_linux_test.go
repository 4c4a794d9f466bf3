package server

import (
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

// doubledText is a text that comes twice of each CTE that comes twice of the one before.
func doubledText(times int, text string) string {
	sql := "WITH c0 AS (SELECT materialize('" + text + "') AS x)"
	for i := range times {
		sql += fmt.Sprintf(", c%d AS (SELECT x FROM c%d UNION ALL SELECT x FROM c%d)", i+1, i, i)
	}
	return fmt.Sprintf("%s SELECT count() FROM c%d", sql, times)
}

// Likewise names, which stand in those of all that is made of a column.
func TestNamesHaveALength(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	long := strings.Repeat("a", 100_000)
	for _, sql := range []string{
		"WITH `" + long + "` AS y SELECT " + strings.Repeat("y + 1, ", 300) + "y FROM (SELECT materialize(1) AS `" + long + "`)",
		"WITH " + long + " AS y SELECT " + strings.Repeat("y + 1, ", 300) + "y FROM (SELECT materialize(1) AS " + long + ")",
		"SELECT " + strings.Repeat("COLUMNS('') + 1, ", 400) + "1 FROM (SELECT endsWith(file_name, '" + long + "') FROM larder.v)",
		doubledText(7, long[:60_000]),
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

// refusedAs is true when the server refused a statement with these words, or the engine for
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
	engine := openWarehouse(t)
	c := held(t, engine.readers, map[string]string{"max_execution_time": "5"})
	told := regexp.MustCompile(`FixedString\(7\)|Decimal\(9, 4\)`)
	found := map[string]bool{}
	for _, name := range guard.Functions() {
		for _, call := range []string{
			"(?S)", "(?S, ?S)", "(1, ?S)", "(?S, 1)", "(1, ?S, [?S])", "([?S], [?S])", "(map(?S, 1), map(?S, 1))", "(tuple(?S), tuple(?S))", "([?S], ?S)", "([(1, ?S)])",
			"([?D], [?D])", "(map(?D, ?D))", "State(?S, ?S)", "((k, v) -> k, map(?S, 1))",
		} {
			sql := "SELECT toTypeName(" + name + strings.NewReplacer("?S", "toFixedString('1', 7)", "?D", "toDecimal32(1, 4)").Replace(call) + ")"
			out, err := c.Ask(sql, "TSVRaw")
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

// And the columns that * stands for, one subquery around the other.
func TestColumnsOfSelectsHaveABound(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	columns := func(n int, before string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("%s%d AS c%d", before, i, i)
		}
		return "SELECT " + strings.Join(all, ", ") + " FROM larder.v"
	}
	around := func(times int, inner string) string {
		return strings.Repeat("SELECT * FROM (", times) + inner + strings.Repeat(")", times)
	}
	ctes, backwards := "WITH c0 AS ("+columns(500, "a + ")+")", "WITH c30 AS ("+columns(500, "a + ")+")"
	for i := range 30 {
		ctes += fmt.Sprintf(", c%d AS (SELECT * FROM c%d)", i+1, i)
		backwards = strings.Replace(backwards, "WITH", fmt.Sprintf("WITH c%d AS (SELECT * FROM c%d),", 29-i, 30-i), 1)
	}
	for _, sql := range []string{
		around(80, columns(500, "a + ")), "EXPLAIN json = 1, header = 1, actions = 1 " + around(80, columns(900, "a + ")), ctes + " SELECT * FROM c30", backwards + " SELECT * FROM c0",
		strings.Repeat("SELECT *, * FROM (", 14) + "SELECT 1 AS a" + strings.Repeat(")", 14), "WITH c AS (" + around(8, columns(200, "a + ")) + ") SELECT * FROM c" + strings.Repeat(" UNION ALL SELECT * FROM c", 9),
		"SELECT " + strings.Repeat("(SELECT 0), ", 600) + "1", strings.Repeat("SELECT 1 UNION ALL ", 600) + "SELECT 1",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "have too many columns") {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{strings.Repeat("SELECT a FROM larder.v UNION ALL ", 300) + "SELECT 1", around(8, columns(200, "a + ")), around(60, "SELECT * FROM larder.v"), ctes[:strings.Index(ctes, ", c9 ")] + " SELECT * FROM c8", "WITH c AS (SELECT * FROM larder.v) SELECT * FROM c AS x JOIN c AS y ON x.a = y.a"} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// And the names of a condition's parts, with what subqueries made of its columns: the engine
// writes each of them out.
func TestConditionsHaveALength(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	around := func(times int, text, inner string) string {
		return strings.Repeat("least(", times) + inner + strings.Repeat(", "+text+")", times)
	}
	each := func(times int, before, after, inner string) string {
		return strings.Repeat(before, times) + inner + strings.Repeat(after, times)
	}
	text := "'" + strings.Repeat("a", 10_000) + "'"
	texts := func(times int) string {
		return "WITH " + text + " AS t SELECT 1 FROM larder.v WHERE " + around(times, "t", "file_name") + " = ''"
	}
	base := "SELECT length(file_name) AS x FROM larder.v"
	doubled := nested(18, "x + x", base)
	made, name := base, "x"
	for range 13 {
		made, name = "SELECT `"+name+"` + `"+name+"` FROM ("+made+")", "plus("+name+", "+name+")"
	}
	ctes := "WITH c0 AS (" + base + ")"
	for i := range 18 {
		ctes += fmt.Sprintf(", c%d AS (SELECT x + x AS x FROM c%d)", i+1, i)
	}
	for _, sql := range []string{
		texts(60), texts(480), strings.Replace(texts(60), "WHERE", "GROUP BY file_name HAVING", 1), strings.Replace(texts(60), "WHERE", "QUALIFY", 1), "EXPLAIN " + texts(60), "DESCRIBE (" + texts(60) + ")",
		"SELECT count() FROM (" + doubled + ") WHERE x = 1", "EXPLAIN indexes = 1 SELECT count() FROM (" + doubled + ") WHERE x = 1", "SELECT count() FROM (" + doubled + ") AS p JOIN larder.v AS q ON p.x = 1 AND p.x = q.a",
		"SELECT count() FROM (" + nested(18, "if(x > 1, x, 2)", base) + ") WHERE x = 1", "WITH y -> y + y AS f SELECT count() FROM (" + nested(18, "f(x)", base) + ") WHERE x = 1", ctes + " SELECT count() FROM c18 WHERE x = 1",
		"SELECT count() FROM (" + each(18, "SELECT x + x AS x FROM view(", ")", base) + ") WHERE x = 1", "SELECT count() FROM (" + each(18, "SELECT y + y FROM (", ") AS t(y)", base) + ") AS t(y) WHERE y = 1",
		"SELECT count() FROM (" + each(18, "SELECT * REPLACE (x + x AS x) FROM (", ")", base) + ") WHERE x = 1", "SELECT count() FROM (" + each(18, "SELECT x + x AS x FROM (", ") UNION ALL SELECT 1", base) + ") WHERE x = 1",
		"SELECT count() FROM (" + made + ") WHERE `" + name + "` = 1", "SELECT count() FROM larder.v WHERE a IN (SELECT x FROM (" + doubled + ") WHERE x = 1)", "SELECT (SELECT count() FROM (" + doubled + ") WHERE x = 1)",
		"SELECT count() FROM larder.v WHERE arrayExists(file_name -> 1, ['a']) OR " + around(24, "arrayMin(file_name -> file_name, ["+text+"])", "file_name") + " = ''",
		"SELECT count() FROM larder.v WHERE " + around(8, "repeat('a', 1000000)", "file_name") + " = ''",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "conditions grow too long") {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		texts(10), "SELECT a FROM larder.v WHERE file_name IN ('" + strings.Repeat("x', '", 30_000) + "')", "SELECT a FROM larder.v WHERE has(['" + strings.Repeat("x', '", 30_000) + "'], file_name)",
		"SELECT a FROM larder.v WHERE " + strings.Repeat("a = 1 OR ", 1500) + "a = 2", "SELECT count() FROM (" + nested(8, "x + x", base) + ") WHERE x = 1", doubled, "SELECT a FROM larder.v WHERE file_name = repeat('a', 1000000)",
		"SELECT a FROM larder.v WHERE file_name IN arrayMap(d -> toString(today() - d), range(toUInt32(dateDiff('day', toDate('2020-01-01'), toDate('2026-01-01')))))",
		"WITH c AS (SELECT a, multiIf(" + strings.Repeat("a = 1, 'one', ", 50) + "'more') AS kind FROM larder.v), d AS (SELECT *, kind || '/' || kind AS kinds FROM c) SELECT kinds, count() FROM d WHERE kind != '' AND kinds LIKE '%m%' GROUP BY kinds HAVING kinds != 'x'",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// Each JOIN, and each correlated subquery, took megabytes for every thread before a limit
// was looked at.
func TestJoinsTakeLittleBeforeTheirRows(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	joined := strings.TrimSuffix(strings.Repeat("SELECT p.a FROM larder.v AS p JOIN larder.v AS q ON p.a = q.a UNION ALL ", 100), " UNION ALL ")
	correlated := "SELECT " + strings.TrimSuffix(strings.Repeat("(SELECT count() FROM larder.v AS q WHERE q.a = p.a), ", 40), ", ") + " FROM larder.v AS p"
	for _, sql := range []string{joined, correlated} {
		if w := b.ask(engine, http.MethodPost, sql, url.Values{"max_threads": {"8"}, "max_execution_time": {"50"}}); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
	w := b.ask(engine, http.MethodPost, "EXPLAIN actions = 1 SELECT p.a FROM larder.v AS p JOIN larder.v AS q ON p.a = q.a", nil)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "(HashJoin)") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What a client's library would make of a Native block's types has a size, too.
func TestTypesOfABlockHaveASize(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	native := url.Values{"client_protocol_version": {"54460"}, "default_format": {"Native"}}
	inner := nested(9, "(x, x)", "SELECT materialize(1) AS x")
	for sql, want := range map[string]int{
		"SELECT " + strings.Repeat("x, ", 60) + "x FROM (" + inner + ")":                                 http.StatusForbidden,
		nested(7, strings.Repeat("[", 12)+"x"+strings.Repeat("]", 12), "SELECT materialize(1) AS x"):     http.StatusNotImplemented,
		"SELECT " + strings.Repeat("x, ", 2) + "x FROM (" + inner + ")":                                  http.StatusOK,
		"SELECT [[[(1, 'a', map('k', [1.5]))]]], CAST('a', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)') AS letter": http.StatusOK,
		"SELECT a, file_name FROM larder.v":                                                              http.StatusOK,
	} {
		if w := b.ask(engine, http.MethodPost, sql, native); w.Code != want {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
}

// Patterns stand in the statement: what the engine makes of computed ones no limit counts.
func TestPatternsAreTexts(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	long := "concat(repeat('[a-c]x?', 15000), toString(number))"
	for _, sql := range []string{
		"SELECT match('a', " + long + ") FROM numbers(1000)", "SELECT 'a' LIKE " + long + " FROM numbers(1000)", "SELECT 'a' REGEXP " + long + " FROM numbers(1000)", "SELECT replaceRegexpAll('a', " + long + ", '') FROM numbers(1000)",
		"SELECT arrayMap(p -> match('a', p), [" + long + "]) FROM numbers(1000)", "SELECT arrayMap(match, ['a'], [" + long + "]) FROM numbers(1000)", "WITH " + long + " AS p SELECT countMatches('a', p) FROM numbers(1000)",
		"SELECT splitByRegexp(" + long + ", 'a') FROM numbers(1000)", "WITH (s, p) -> match(s, p) AS f SELECT f('a', " + long + ") FROM numbers(1000)", "SELECT match(file_name, repeat('[a-c]x?', 15000)) FROM larder.v",
		"SELECT " + strings.Repeat("match(file_name, '(a|b|[cd]x?){999}'), ", 200) + "1 FROM larder.v",
		"SELECT " + strings.Repeat("* EXCEPT('(abcdefghijk[a-c]x?|b){999}'), ", 600) + "1 FROM (SELECT 1 AS a)", "SELECT " + strings.Repeat("COLUMNS('(abcdefghijk[a-c]x?|b){999}'), ", 600) + "1 FROM (SELECT 1 AS a)",
		"SELECT " + strings.Repeat("v.* EXCEPT STRICT '(abcdefghijk[a-c]x?|b){999}', ", 600) + "1 FROM larder.v AS v", "SELECT " + strings.Repeat("v.COLUMNS('(abcdefghijk[a-c]x?|b){999}'), ", 600) + "1 FROM larder.v AS v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusForbidden {
			t.Errorf("%.100s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"SELECT a FROM larder.v WHERE file_name LIKE '%x%' AND lower(file_name) NOT ILIKE concat('%', {p:String}, '%') OR match(file_name, '^[a-z]{2,5}$')", "SELECT extract(file_name, '([a-z]+)'), splitByRegexp('[0-9]', file_name) FROM larder.v",
		"SELECT " + strings.Repeat("file_name LIKE '%{x}_y%', ", 500) + "1 FROM larder.v",
		"SELECT COLUMNS('^a$'), * EXCEPT('^a{1,3}$'), * EXCEPT (file_name), COLUMNS(a, file_name) FROM larder.v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, url.Values{"param_p": {"x"}}); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// Constants that the engine computes stand in the names of all calls around them.
func TestLongConstantsHaveABound(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	used := func(constant, call string) string {
		return "WITH " + constant + " AS x SELECT " + strings.Repeat(call+", ", 200) + "1 FROM larder.v"
	}
	for _, sql := range []string{
		used("repeat('a', 1000000)", "endsWith(file_name, x)"), used("leftPad('a', 1000 * 1000)", "endsWith(file_name, x)"), used("1000000 AS n, repeat('a', n)", "endsWith(file_name, x)"),
		used("toFixedString('a', 1000000)", "x = file_name"), used("CAST('a', 'FixedString(1000000)')", "x = file_name"), used("arrayMap(i -> repeat('a', i), [1000000])", "endsWith(file_name, toString(x))"),
		used("replaceAll('"+strings.Repeat("a", 1000)+"', 'a', '"+strings.Repeat("b", 1000)+"')", "endsWith(file_name, x)"), used("repeat(repeat('a', 1000), 1000)", "endsWith(file_name, x)"),
		used("repeat('a', (SELECT max(number) FROM numbers(1000000)))", "endsWith(file_name, x)"), used("(SELECT max(number) FROM numbers(1000000)) AS n, repeat('a', n)", "endsWith(file_name, x)"),
		"SELECT " + strings.Repeat("endsWith(file_name, repeat('a', 1000000)), ", 100) + "1 FROM larder.v", "SELECT " + strings.Repeat("abs(", 100) + "endsWith(file_name, repeat('a', 1000000))" + strings.Repeat(")", 100) + " FROM larder.v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "long constants are used too often") {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		used("repeat('a', 100)", "endsWith(file_name, x)"), used("range(24)", "has(x, a)"), "SELECT " + strings.Repeat("leftPad(file_name, 20000, '0'), replaceAll(file_name, 'a', 'b'), CAST(a, 'String'), ", 50) + "1 FROM larder.v",
		"SELECT arrayMap(d -> today() - d, range(toUInt32(dateDiff('day', toDate('2020-01-01'), toDate('2026-01-01'))))) AS days, length(days) FROM larder.v", used("CAST('2026-01-01', 'Date')", "toDate(a) = x"), used("a + 1 AS n, leftPad(toString(n), 20000, '0')", "lower(x)"),
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.100s: %d %.300s", sql, w.Code, w.Body)
		}
	}
}

// What is looked for is short: the engine compares it with all that it looks in, for minutes,
// and nothing stops it.
func TestWhatIsLookedForIsShort(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	long := "materialize(concat(repeat('a', 500000), 'b'))"
	for _, sql := range []string{
		"SELECT position(repeat('a', 1000000), " + long + ")", "SELECT position(" + long + " IN repeat('a', 1000000))", "SELECT locate(" + long + ", repeat('a', 1000000))",
		"SELECT replace(repeat('a', 1000000), " + long + ", '')", "SELECT replaceOne(repeat('a', 1000000), x, '') FROM (SELECT " + long + " AS x)",
		"WITH " + long + " AS x SELECT countSubstrings(repeat('a', 1000000), x)", "WITH (x, y) -> positionUTF8(x, y) AS f SELECT f(repeat('a', 1000000), " + long + ")",
		"SELECT arrayMap(x -> instr(repeat('a', 1000000), x), [" + long + "])", "SELECT arrayMap(position, [repeat('a', 1000000)], [" + long + "])",
		"WITH c(x) AS (SELECT " + long + ") SELECT position(repeat('a', 1000000), x) FROM c", "WITH c(x) AS (SELECT " + long + ") SELECT position(repeat('a', 1000000), x), '' AS x FROM c",
		"SELECT position(repeat('a', 1000000), x) FROM (SELECT file_name AS y, a AS x FROM larder.v UNION ALL SELECT '', " + long + ")",
		"SELECT hasSubsequence(repeat('a', 1000000), concat(toString(number), 'b')) FROM numbers(20000)", "SELECT position(repeat('a', 1000000), toString(number)) FROM numbers(20000)",
		"SELECT arrayIntersect(range(1000000), [number]) FROM numbers(20000)",
		"SELECT length(normalizeUTF8NFC(concat('a', repeat('\u0301\u0316', 250000))))", "SELECT removeDiacriticsUTF8(repeat('\u0301\u0316', 250000))",
		"SELECT hasAll(range(1000000), arrayReverse(range(1000000)))", "SELECT hasAny(range(1000000), range(1000000, 2000000))",
		"SELECT countMatches(repeat('a', 1000000), 'a(.*b)?')", "SELECT splitByRegexp('a([^b]*b|)', repeat('a', 1000000))", "SELECT extractAll(x, 'a{1,}b|a') FROM (SELECT repeat('a', 1000000) AS x)",
		"SELECT replaceRegexpAll(repeat('a', 1000000), concat('a(.*', 'b)?'), '')", "SELECT extractAllGroupsVertical(repeat(' ', 1000000), '(\\s+)$')", "SELECT replaceRegexpAll(repeat('a', 1000000), 'a(.{0,900}b)?', '')",
		"SELECT has(range(1000000), number) FROM numbers(100000)", "WITH (SELECT groupArray(number) FROM numbers(1000000)) AS l SELECT indexOf(l, number) FROM numbers(100000)",
		"SELECT l[number] FROM (SELECT mapFromArrays(range(1000000), range(1000000)) AS l, number FROM numbers(100000))",
		"SELECT hasSubstr(range(1000000), x) FROM (SELECT range(1000) AS x)", "SELECT hasAny(range(1000000), [" + strings.Repeat("1, ", 3000) + "2])",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "looks for is taken as a short text") && !refusedAs(w, "by its name here") && !refusedAs(w, "in front of more") && !refusedAs(w, "is taken as it stands") && !refusedAs(w, "is taken of a written list") {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"SELECT count() FROM larder.v WHERE position(file_name, 'x') > 0 AND positionUTF8(lower(file_name), lower('X')) = 0 AND position('x' IN file_name) > 0",
		"WITH 'x' AS x SELECT locate(x, file_name), instr(file_name, x) FROM larder.v", "SELECT position(file_name, file_name), replaceOne(file_name, concat(file_name, ' '), ''), locate(file_name, 'abc') FROM larder.v",
		"SELECT removeDiacriticsUTF8(lower(file_name)), normalizeUTF8NFC('ș'), arrayIntersect(splitByChar(',', file_name), ['a']) FROM larder.v",
		"SELECT replaceAll(f, '\\\\', '/'), replace(f, {p:String}, toString(n)) FROM (SELECT file_name AS f, a AS n FROM larder.v)",
		"SELECT replaceRegexpAll(file_name, '<[^>]*>', ''), replaceRegexpAll(lower(file_name), '\\s+$', ''), extractAll('a1 b2', '[a-z]+[0-9]+') FROM larder.v",
		"SELECT replaceRegexpAll(f, '[^0-9]+', ''), extractAll(f, '[a-z]\\d{2,4}x'), splitByRegexp('[,;]\\s*', f), countMatches(f, '^(a|b)') FROM (SELECT file_name AS f FROM larder.v)",
		"SELECT has(l, a), l[1], has(splitByChar(',', f), 'a'), indexOf(range(10), a), arrayMap(i -> l[i], range(length(l))) FROM (SELECT a, file_name AS f, groupArray(file_name) OVER () AS g, [a, 1] AS l FROM larder.v)",
		"SELECT m['a'], has(mapKeys(m), 'a'), (SELECT max(a) FROM larder.v) AS top FROM (SELECT map(file_name, a) AS m, a FROM larder.v) WHERE a = (SELECT max(a) FROM larder.v) OR a IN (SELECT a FROM larder.v)",
		"SELECT hasAny([a, 2], [1, 3]), hasAll(['a', 'b'], array('a', concat('b', ''))), hasAny(splitByChar(',', 'a,b'), {l:Array(String)}), hasAll([1, 2], [a]) FROM larder.v",
	} {
		if w := b.ask(engine, http.MethodPost, sql, url.Values{"param_p": {"x"}, "param_l": {"['a']"}}); w.Code != http.StatusOK {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
}

// What the engine writes in one block is bounded, since it looks for no stop meanwhile: no
// long texts that rows share, and not too many values.
func TestBlocksOfAnAnswerAreBounded(t *testing.T) {
	b, engine := newBait(t), openWarehouse(t)
	var columns strings.Builder
	for i := range 120 {
		fmt.Fprintf(&columns, "file_name AS f%d, ", i)
	}
	asked(t, engine, "CREATE VIEW larder.c AS SELECT CAST(file_name AS LowCardinality(String)) AS channel, a, "+columns.String()+"a AS b FROM larder.v", "Null")
	for _, sql := range []string{
		"SELECT concat(channel, repeat('ab', 500000)) FROM larder.c", "SELECT tuple(repeat(channel, 1000000)) FROM larder.c", "SELECT [leftPad(channel, 1000 * 1000)] FROM larder.c",
		"SELECT replaceAll(replaceAll(channel, 'x', '" + strings.Repeat("a", 60) + "'), 'a', '" + strings.Repeat("b", 60) + "') FROM larder.c",
		"SELECT bin(bin(bin(bin(channel)))) FROM larder.c", "WITH x -> bin(x) AS f SELECT f(f(f(f(channel)))) FROM larder.c", "WITH 1000000 AS n SELECT repeat(channel, n) FROM larder.c",
		"SELECT format('{0}{0}{0}" + strings.Repeat("{0}", 100) + "', channel) FROM larder.c", "SELECT concat(channel, '" + strings.Repeat("a", 20_000) + "') FROM larder.c",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "rows share them") {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"SELECT " + strings.Repeat("file_name, ", 2000) + "1 FROM larder.v", nested(4, "(x, x, x, x, x, x, x, x)", "SELECT file_name AS x FROM larder.v"),
		"SELECT " + strings.Repeat("c.*, ", 20) + "1 FROM larder.c", "SELECT tuple(*) AS t, (t, t, t, t, t, t, t, t, t, t), (t, t, t, t, t, t, t, t, t, t) FROM larder.c",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); !refusedAs(w, "values") {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
	for _, sql := range []string{
		"SELECT concat(channel, ' and more'), upper(channel), leftPad(channel, 20, ' ') FROM larder.c", "SELECT CAST(leftPad(channel, 5000, ' ') AS String) FROM larder.c", "SELECT * FROM larder.c", "SELECT c.*, c.*, c.* FROM larder.c",
		"SELECT repeat('ab', 100000), CAST(concat(channel, repeat('a', 10000)) AS String) FROM larder.c", "SELECT tuple(*), a IN (SELECT a FROM larder.v) FROM larder.c",
	} {
		if w := b.ask(engine, http.MethodPost, sql, nil); w.Code != http.StatusOK {
			t.Errorf("%.200s: %d %.200s", sql, w.Code, w.Body)
		}
	}
}

// The list of functions that make texts longer is held against the engine: each function is
// given a text that rows share, with arguments of the usual shapes.
func TestTheEngineLengthensTextsWhereTheListSays(t *testing.T) {
	engine := openWarehouse(t)
	asked(t, engine, "CREATE VIEW larder.c AS SELECT CAST(repeat(concat(file_name, 'ăB, <1>'), 10) AS LowCardinality(String)) AS channel FROM larder.v", "Null")
	c := held(t, engine.engine.Pool(), map[string]string{"max_execution_time": "5", "max_memory_usage": "100000000"})
	names := listed(t, engine, "SELECT name FROM system.functions WHERE NOT is_aggregate AND NOT match(lower(name), '^(sleep|throwif|ai)')")
	found := 0
	for _, name := range names {
		if !engine.guard.TakesFunction(name[0]) {
			continue
		}
		for _, shape := range []string{
			"channel", "channel, 900", "900, channel", "channel, 'xyz'", "'xyz', channel", "channel, 'a', 'xyz'", "channel, 900, 'x'", "channel, '', 'xyz'", "channel, '.', '\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0'",
			"'{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}', channel", "'%1$s%1$s%1$s', channel", "channel, 1, 900", "channel, 90, 900", "'Markdown', channel", "channel, 'Europe/Bucharest'",
		} {
			sql := "SELECT max(length(toString(x))), any(toTypeName(x)) FROM (SELECT " + name[0] + "(" + shape + ") AS x FROM larder.c)"
			out, err := c.Ask(sql, "TSV")
			if err != nil {
				continue // not its arguments
			}
			length, kind, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
			if n, err := strconv.Atoi(length); err != nil || n < 220 || !strings.Contains(kind, "LowCardinality") {
				continue
			}
			found++
			if !guard.Lengthens(name[0]) {
				t.Errorf("%s(%s): %s letters of %s", name[0], shape, length, kind)
			}
		}
	}
	if found < 15 {
		t.Errorf("the engine told of %d", found)
	}
}
