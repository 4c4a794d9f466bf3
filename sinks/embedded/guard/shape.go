package guard

import (
	"math"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// While the engine writes a block of an answer, it does not notice that it is to stop. A block
// may be many times as long as it is in memory, since rows of LowCardinality share their
// texts, and columns share what they hold. The answer to concat(channel, repeat('ab', 500000)) was written for a quarter of
// an hour after its client had left. So where texts may grow, or values are many, the
// engine is asked for the types of the answer first.

// mostValues is how many values a row of an answer may have, parts of tuples included.
const mostValues = 2000

// lengthening are functions that may make a text at least twice as long, in lower case. A
// test asks the engine whether these are all.
var lengthening = listed(`
	repeat space leftPad rightPad leftPadUTF8 rightPadUTF8 lpad rpad toFixedString format printf
	randomString randomStringUTF8 randomPrintableASCII randomFixedString
	replace replaceAll replaceOne replaceRegexpAll replaceRegexpOne REGEXP_REPLACE translate translateUTF8
	hex bin char base32Encode base58Encode base64Encode base64URLEncode encodeURLComponent encodeURLFormComponent encodeXMLComponent
	toJSONString formatRow formatRowNoNewline arrayStringConcat array_to_string
	normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC normalizeUTF8NFKD normalizeUTF8NFKCCasefold punycodeEncode idnaEncode tryIdnaEncode`)

// Lengthens is true when a function may make a text much longer.
func Lengthens(name string) bool { return lengthening[strings.ToLower(name)] }

// longText is how many letters a literal may have before a call that puts it in many times
// makes a long text; longTexts is how many all of a statement may have before its texts
// count as long.
const (
	longText  = 100
	longTexts = 10_000
)

// mayAnswer looks at the types of an answer, where its shape may hide its length.
func mayAnswer(ask Ask, s *sqltext.Statement, nodes []node) error {
	lambdas := lambdasOf(nodes)
	grows := mayGrow(nodes, lambdas, s)
	if !s.Selects() || !grows && !manyValues(nodes, lambdas, s.Bare) {
		return nil
	}
	out, err := ask("DESCRIBE TABLE (\n"+s.Bare+"\n)", "TSVRaw")
	if err != nil {
		return err
	}
	values := 0
	for line := range strings.Lines(string(out)) {
		name, rest, _ := strings.Cut(line, "\t")
		kind, _, _ := strings.Cut(rest, "\t")
		values += 1 + strings.Count(kind, ",")
		if grows && strings.Contains(kind, "LowCardinality") {
			return exception.Readonly("Cannot execute query in readonly mode: the texts of column %.100s may be long here, and rows share them: write CAST(… AS String) around it", name)
		}
	}
	if values > mostValues {
		return exception.Readonly("Cannot execute query in readonly mode: a row of the answer has %d values, parts of tuples included, and %d are taken here: ask for fewer columns", values, mostValues)
	}
	return nil
}

// mostGrowth is how many times as long all calls together may make a text.
const mostGrowth = 10 // bits

// mayGrow is true when a statement may make texts much longer than those of its tables.
func mayGrow(nodes []node, lambdas map[string][]int, s *sqltext.Statement) bool {
	growth, letters := 0., 0
	for i, n := range nodes {
		switch {
		case n.kind == "Literal" && strings.HasPrefix(n.text, "'"): // no list of IN
			letters += len(n.text)
		case n.kind == "Function" && Lengthens(n.name):
			growth += growthOf(nodes, i)
		}
	}
	return growth > mostGrowth || letters > longTexts || growth > 0 && (len(lambdas) > 0 || s.Has("RECURSIVE"))
}

// counted are functions whose result is as long as a number says, with its place.
var counted = map[string]int{
	"repeat": 1, "space": 0, "leftpad": 1, "rightpad": 1, "leftpadutf8": 1, "rightpadutf8": 1, "lpad": 1, "rpad": 1, "tofixedstring": 1,
	"randomstring": 0, "randomstringutf8": 0, "randomprintableascii": 0, "randomfixedstring": 0,
}

// growthOf is, in bits, how many times as long one call may make a text: as long as what it
// puts in, or eight times where it writes each letter in another way.
func growthOf(nodes []node, i int) float64 {
	lower := strings.ToLower(nodes[i].name)
	number, counts := counted[lower]
	most, longest := 3., 0
	for place, arg := range arguments(nodes, i) {
		n := nodes[arg]
		text, _, _ := strings.Cut(n.text, " (alias ")
		switch {
		case counts && place == number && n.kind != "Literal", n.kind == "Literal" && (!small(text) || len(text) > longText):
			return math.Inf(1)
		case counts && place == number:
			most = math.Log2(smallNumber)
		case n.kind == "Literal" && strings.HasPrefix(text, "'"):
			longest = max(longest, len(text)-len("''"))
			most = math.Log2(float64(max(longest, 1)))
		}
	}
	if strings.HasSuffix(lower, "one") { // the first of them alone
		return 0
	}
	return most
}

// manyValues is true when the rows of an answer may have more values than are taken.
func manyValues(nodes []node, lambdas map[string][]int, sql string) bool {
	w := widths{nodes: nodes, lambdas: lambdas, known: map[string]float64{}, lists: lists(nodes), columns: columns(nodes), texts: map[int]bool{}}
	return math.Log2(max(newPlans(nodes, sql).of(0).width, 1))+w.below(0, len(nodes)) > math.Log2(mostValues)
}
