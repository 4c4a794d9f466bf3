package guard

import (
	"regexp"
	"strings"
	"sync"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// Two things that a text can name are more than words to the engine. A type with the
// state of an aggregate function makes it take bytes for that state, and it looks at
// none: forged ones write beyond their memory, or loop for ever. A time zone is some
// 4.6 MB that stay for the life of the process and count to nobody's limit; of
// "Fixed/UTC+01:02:03" there are 170,000, and "file:/path" opens a file. Both can be
// put together by functions, where no reader of words sees them, so that they are
// taken as texts alone.

// typed are the functions that take a type as a text, with its place among the
// arguments; -1 is the last.
var typed = map[string]int{
	"cast": 1, "_cast": 1, "accuratecast": 1, "accuratecastornull": 1, "accuratecastordefault": 1, "tupleelement": 1,
	"jsonextract": -1, "jsonextractcaseinsensitive": -1, "jsonextractkeysandvalues": -1, "jsonextractkeysandvaluescaseinsensitive": -1,
}

// zoned are the functions that take a time zone, with its place among the arguments,
// from 1 on. A test asks the engine whether these are all.
var zoned = func() map[string]int {
	all := map[string]int{
		"now": 1, "now64": 1, "current_timestamp": 1, "localtimestamp": 1,
		"datediff": 4, "date_diff": 4, "timestampdiff": 4, "timestamp_diff": 4, "age": 4, "makedatetime": 7, "makedatetime64": 9,
	}
	for _, name := range strings.Fields(`
		date_bin date_format date_trunc datename datetrunc formatdatetime from_unixtime fromunixtimestamp parsedatetime parsedatetimeornull
		parsedatetimeorzero parsedatetime64 parsedatetime64ornull parsedatetime64orzero str_to_date time_bucket todatetime64 todatetime64ornull
		todatetime64orzero todatetime64ordefault tostartofinterval toweek toyearweek tostartofweek tolastdayofweek week yearweek dayofweek todayofweek`) {
		all[name] = 3
	}
	for _, name := range strings.Fields(`
		date day dayofmonth dayofyear from_utc_timestamp fromunixtimestamp64micro fromunixtimestamp64milli fromunixtimestamp64nano fromunixtimestamp64second
		fromutctimestamp hour last_day microsecond millisecond minute month monthname nanosecond parsedatetime32besteffort parsedatetime32besteffortornull
		parsedatetime32besteffortorzero parsedatetime64besteffort parsedatetime64besteffortornull parsedatetime64besteffortorzero parsedatetime64besteffortus
		parsedatetime64besteffortusornull parsedatetime64besteffortusorzero parsedatetimebesteffort parsedatetimebesteffortornull
		parsedatetimebesteffortorzero parsedatetimebesteffortus parsedatetimebesteffortusornull parsedatetimebesteffortusorzero quarter second timeslot
		timestamp timezoneof timezoneoffset to_days to_unixtime to_utc_timestamp todate todateornull todateorzero todateordefault todate32 todate32ornull
		todate32orzero todate32ordefault todatetime todatetimeornull todatetimeorzero todatetimeordefault todatetime32 todayofmonth todayofyear
		todayssinceyearzero tohour toisoweek toisoyear tolastdayofmonth tomicrosecond tomillisecond tominute tomonday tomonth tomonthnumsinceepoch
		tonanosecond toquarter torelativedaynum torelativehournum torelativeminutenum torelativemonthnum torelativequarternum torelativesecondnum
		torelativeweeknum torelativeyearnum tosecond tostartofday tostartoffifteenminutes tostartoffiveminute tostartoffiveminutes tostartofhour
		tostartofisoyear tostartofmicrosecond tostartofmillisecond tostartofminute tostartofmonth tostartofnanosecond tostartofquarter tostartofsecond
		tostartoftenminutes tostartofyear todaysinmonth tostring totime totimewithfixeddate totimezone tounixtimestamp toutctimestamp toyear
		toyearnumsinceepoch toyyyymm toyyyymmdd toyyyymmddhhmmss utc_timestamp year yyyymmddhhmmsstodatetime yyyymmddhhmmsstodatetime64`) {
		all[name] = 2
	}
	for _, unit := range strings.Fields("years quarters months weeks days hours minutes seconds milliseconds microseconds nanoseconds interval") {
		all["add"+unit], all["subtract"+unit] = 3, 3
	}
	return all
}()

// originated are those of zoned that may have an origin in front of the time zone, which
// is no text.
var originated = map[string]bool{"tostartofinterval": true, "date_bin": true, "time_bucket": true}

// zonesOf are the arguments of a function that may be time zones: with some, a value for
// what cannot be read follows it.
func zonesOf(name string, args []int) []int {
	at, takes := zoned[name]
	switch {
	case !takes:
		return nil
	case originated[name] && len(args) > at:
		at++
	}
	return args[min(at-1, len(args)):]
}

// mayDepend looks at the arguments of one function that name a type or a time zone.
func (g *Guard) mayDepend(nodes []node, i int) error {
	name := strings.ToLower(nodes[i].name)
	at, makes := typed[name]
	_, shows := zoned[name]
	if !makes && !shows {
		return nil
	}
	args := arguments(nodes, i)
	for _, arg := range args {
		// What the engine takes for several would move the others.
		switch nodes[arg].kind {
		case "Literal", "Identifier", "Function", "Subquery":
		default:
			return exception.Readonly("Cannot execute query in readonly mode: function %s is taken with one value for each argument here", nodes[i].name)
		}
	}
	if makes && len(args) > max(at, 0) {
		if at < 0 {
			at = len(args) - 1
		}
		return g.mayBeType(nodes[i], nodes[args[at]])
	}
	for _, arg := range zonesOf(name, args) {
		if err := g.mayBeZone(nodes[i], nodes[arg]); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) mayBeType(f, n node) error {
	text, ok := plainText(n)
	if !ok {
		return exception.Readonly("Cannot execute query in readonly mode: the type that %s makes is taken as a plain text here, neither put together nor with escapes", f.name)
	}
	if strings.EqualFold(f.name, "tupleElement") {
		if namesType(text) {
			return exception.Readonly("Cannot execute query in readonly mode: parts of a value are not named by their type here: use another name")
		}
		return nil // a place or a name
	}
	if other := otherType(text); other != "" {
		if !g.types[strings.ToLower(other)] {
			return unknown(dataType, other)
		}
		return exception.Readonly("Cannot execute query in readonly mode: %s makes no value of type %s here", f.name, other)
	}
	for _, zone := range zonesIn(text) {
		if err := g.zones.admit(zone); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) mayBeZone(f, n node) error {
	if n.kind == "Literal" && !strings.HasPrefix(n.text, "'") {
		return nil // a number
	}
	text, ok := plainText(n)
	if !ok {
		return exception.Readonly("Cannot execute query in readonly mode: the time zone of %s is taken as a plain text here, not computed", f.name)
	}
	return g.zones.admit(text)
}

// plainText is the text of a literal in which nothing stands for anything else. The
// tree shows quotes within it with a backslash, and an alias behind it.
func plainText(n node) (string, bool) {
	m := plainLiteral.FindStringSubmatch(n.text)
	if n.kind != "Literal" {
		return "", false
	}
	if m == nil {
		return n.text, plainNumber.MatchString(n.text) // an element's number
	}
	return strings.ReplaceAll(m[1], `\'`, "'"), true
}

var (
	plainLiteral = regexp.MustCompile(`^'((?:[\pL\pN _(),.=+:/-]|\\')*)'(?: \(alias .*)?$`)
	plainNumber  = regexp.MustCompile(`^U?Int64_-?\d+(?: \(alias .*)?$`)
)

// plainTypes are those that readers may name, in lower case. Not among them: states of
// aggregate functions, types whose parts are named by types (JSON, Dynamic, Variant),
// geometry, and words for a type that are several. Nor is LowCardinality: rows that share
// one text are many times as long in a block that is written as in memory.
var plainTypes = listed(`
		Int8 Int16 Int32 Int64 Int128 Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Float32 Float64 Bool Boolean
		Decimal Decimal32 Decimal64 Decimal128 Decimal256 Dec Numeric String FixedString UUID Date Date32 DateTime DateTime32 DateTime64
		Enum Enum8 Enum16 Array Tuple Map Nullable Nothing IPv4 IPv6
		Int Integer BigInt SmallInt TinyInt Float Double Real Text Varchar Char Timestamp Signed Unsigned`)

var (
	typeTexts = regexp.MustCompile(`'(?:[^'\\]|\\.)*'`)
	typeWords = regexp.MustCompile(`[^\s(),=+-]+`)
)

// otherType is a word of a type's text that is none of plainTypes. Names of a tuple's
// elements stand in front of a type, and what looks like one is taken for one.
func otherType(text string) string {
	text = typeTexts.ReplaceAllString(text, " 0 ")
	for _, at := range typeWords.FindAllStringIndex(text, -1) {
		word, behind := text[at[0]:at[1]], strings.TrimLeft(text[at[1]:], " ")
		named := behind != "" && !strings.ContainsAny(behind[:1], "(),=+-")
		if !named && !plainTypes[strings.ToLower(word)] && strings.Trim(word, "0123456789.") != "" {
			return word
		}
	}
	return ""
}

// enumerations are the types whose texts are names of values.
var enumerations = map[string]bool{"enum": true, "enum8": true, "enum16": true}

// zonesIn are the texts within a type, but for the names of an enumeration's values.
func zonesIn(typ string) []string {
	var zones, open []string
	word, quote := "", -1
	for i, r := range typ {
		switch {
		case quote >= 0 && r == '\'':
			if len(open) == 0 || !enumerations[strings.ToLower(open[len(open)-1])] {
				zones = append(zones, typ[quote:i])
			}
			quote = -1
		case quote >= 0:
		case r == '\'':
			quote = i + 1
		case r == '(':
			open, word = append(open, word), ""
		case r == ')':
			open = open[:max(len(open)-1, 0)]
		case r == ' ', r == ',': // the name of an element ends here, too
			word = ""
		default:
			word += string(r)
		}
	}
	return zones
}

// namesType is true when a name is that of a part of a value, as a type with a time zone
// or a state: it can be told of a Dynamic or JSON value. The engine reads such a name as
// a text of its own, with comments and every kind of quotes.
func namesType(name string) bool { return typeInName.MatchString(name) }

var typeInName = regexp.MustCompile("(?is)aggregatefunction|(datetime|timestamp).*\\(.*['‘’\"`$]")

// arguments are the places in nodes of a function's arguments.
func arguments(nodes []node, i int) []int {
	var all []int
	for j := i + 1; j < len(nodes) && nodes[j].depth > nodes[i].depth; j++ {
		if nodes[j].depth == nodes[i].depth+2 && nodes[j].parent == "ExpressionList" {
			all = append(all, j)
		}
	}
	return all
}

// zones are the time zones that readers may use: those of the engine, as many as the
// memory bears.
type zones struct {
	mu       sync.Mutex
	known    map[string]bool
	admitted map[string]bool
	most     int
}

// zoneCost is what the engine keeps for each zone that was ever named.
const zoneCost = 5 << 20

// newZones lets readers use a 64th of the memory for zones, and four at least. What
// the daemon uses itself is there anyway.
func newZones(known []string, own string, memory int64) *zones {
	z := &zones{known: map[string]bool{}, admitted: map[string]bool{"": true, "UTC": true, "GMT": true, own: true}, most: int(min(max(memory/64/zoneCost, 4), 64))}
	for _, name := range known {
		z.known[name] = true
	}
	z.most += len(z.admitted)
	return z
}

func (z *zones) admit(name string) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	switch {
	case z.admitted[name]:
		return nil
	case !z.known[name]:
		return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "There is no time zone %q here: system.time_zones has their names", name)
	case len(z.admitted) >= z.most:
		return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "No further time zone is taken: %d are in use, and each takes memory for good. Use toTimeZone(…, 'UTC') and shift the hours", z.most)
	}
	z.admitted[name] = true
	return nil
}
