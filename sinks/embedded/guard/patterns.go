package guard

import (
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// The engine keeps what it makes of a regular expression, up to a thousand of them for each
// call. Each may take megabytes that no limit counts. match('', concat(repeat('[a-c]x?',
// 15000), toString(number))) took 2.5 GB within 40 s, in which nothing stopped it. So a
// pattern is a text that stands in the statement, and what those can come to is estimated.

// patterned are the functions that take a pattern, in lower case, with its place among the
// arguments.
var patterned = func() map[string]int {
	all := map[string]int{"splitbyregexp": 0}
	for name := range listed(`
		match like ilike notLike notILike extract extractAll extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical extractGroups
		replaceRegexpAll replaceRegexpOne REGEXP_REPLACE regexpExtract regexpInstr regexpPosition REGEXP_EXTRACT regexp_instr REGEXP_MATCHES
		REGEXP_SUBSTR countMatches countMatchesCaseInsensitive mapContainsKeyLike mapContainsValueLike mapExtractKeyLike mapExtractValueLike`) {
		all[name] = 1
	}
	return all
}()

// mostPatterns is how many letters a statement's patterns may come to, with those that a
// number in braces repeats: each takes some 32 bytes.
const mostPatterns = 2 << 20

// mayMatch looks at the patterns of a statement.
func mayMatch(nodes []node, sql string) error {
	letters := ofColumns(sql)
	for i, n := range nodes {
		at, takes := patterned[strings.ToLower(n.name)]
		if !takes || n.kind != "Function" {
			continue
		}
		args := arguments(nodes, i)
		if len(args) <= at {
			continue // the engine refuses it
		}
		size, repeats, plain := writtenText(nodes, args[at])
		if !plain {
			return exception.Readonly("Cannot execute query in readonly mode: the pattern of %s is taken as a plain text here, not computed", n.name)
		}
		if repeats && !strings.HasSuffix(strings.ToLower(n.name), "like") {
			size *= mostRepeated
		}
		letters += size
	}
	if letters > mostPatterns {
		return exception.Readonly("Cannot execute query in readonly mode: its patterns come to too much here: use fewer, or smaller numbers of repetitions")
	}
	return nil
}

// mostRepeated is how often a number in braces repeats what is in front of it, at most.
const mostRepeated = 1000

// ofColumns is how many letters the patterns of COLUMNS('…') and * EXCEPT('…') come to, which
// the tree does not tell: 600 of them took 220 MB.
func ofColumns(sql string) (letters int) {
	words, _ := sqltext.Tokens(sql)
	at := sqltext.Statement{Tokens: words}
	for i, t := range words {
		if !t.Is("COLUMNS") && !t.Is("EXCEPT") {
			continue
		}
		for i++; at.At(i).Is("STRICT") || at.At(i).Symbol("("); i++ {
		}
		text := at.At(i).Text
		if !strings.HasPrefix(text, "'") {
			continue
		}
		size := len(text) + 16
		if strings.Contains(text, "{") {
			size *= mostRepeated
		}
		letters += size
	}
	return letters
}

// joinsTexts are the calls that a pattern may consist of: what clients make of parameters.
var joinsTexts = listed("concat _CAST CAST lower upper toString")

// writtenText says how long a text is that stands in the statement, perhaps in parts, and
// whether it may repeat something.
func writtenText(nodes []node, i int) (size int, repeats, plain bool) {
	n := nodes[i]
	switch {
	case n.kind == "Literal":
		return len(n.text) + 16, strings.Contains(n.text, "{"), true
	case n.kind != "Function" || !joinsTexts[strings.ToLower(n.name)]:
		return 0, false, false
	}
	for _, arg := range arguments(nodes, i) {
		part, more, is := writtenText(nodes, arg)
		if !is {
			return 0, false, false
		}
		size, repeats = size+part, repeats || more
	}
	return size, repeats, true
}
