package guard

import (
	"regexp/syntax"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// Some functions look for a pattern again behind each place where it stood. One that may look
// far ahead each time in vain, as 'a(.*b)?' in a text of a alone, kept a single call on a
// megabyte for more than a quarter of an hour, and nothing stopped it. So theirs repeat
// without end in their end only, but for those that are looked for in a table's columns.

// repeating are those functions, in lower case, with the place of the text.
var repeating = func() map[string]int {
	all := map[string]int{"splitbyregexp": 1}
	for name := range listed(`
		countMatches countMatchesCaseInsensitive extractAll extractAllGroups extractAllGroupsHorizontal extractAllGroupsVertical
		replaceRegexpAll REGEXP_REPLACE`) {
		all[name] = 0
	}
	return all
}()

// mayRepeatedly looks at the patterns of one call.
func (w *seen) mayRepeatedly(i int) error {
	lower := strings.ToLower(w.nodes[i].name)
	at, is := repeating[lower]
	args := arguments(w.nodes, i)
	if !is || w.nodes[i].kind != "Function" || len(args) < 2 || !w.looksFar(args[patterned[lower]]) || w.stored(args[at], 0) {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: the pattern of %s has *, + or {} in front of more here: that is taken for columns of a table, in a statement of one SELECT", w.nodes[i].name)
}

// looksFar is true when what a pattern repeats has something behind it.
func (w *seen) looksFar(i int) bool {
	n := w.nodes[i]
	text, _, _ := strings.Cut(n.text, " (alias ")
	if n.kind != "Literal" || len(text) < 2 || text[0] != '\'' || text[len(text)-1] != '\'' {
		return strings.ContainsAny(n.text, "*+{") || n.kind != "Literal"
	}
	pattern, err := syntax.Parse(strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(text[1:len(text)-1]), syntax.Perl)
	return err != nil || far(pattern, true)
}

// farRepeat is how often a pattern repeats a part at most, for that not to be far.
const farRepeat = 100

// far is true when a pattern repeats something that is not last in it.
func far(p *syntax.Regexp, last bool) bool {
	switch p.Op {
	case syntax.OpStar, syntax.OpPlus:
		if !last {
			return true
		}
	case syntax.OpRepeat:
		if !last && (p.Max < 0 || p.Max > farRepeat || repeats(p.Sub[0])) {
			return true
		}
	}
	for i, sub := range p.Sub {
		if far(sub, last && (p.Op != syntax.OpConcat || i == len(p.Sub)-1)) {
			return true
		}
	}
	return false
}

func repeats(p *syntax.Regexp) bool {
	switch p.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return true
	}
	for _, sub := range p.Sub {
		if repeats(sub) {
			return true
		}
	}
	return false
}

// keepsLength are functions that make no text longer than what they are given together, in lower case.
var keepsLength = listed("concat lower upper lowerUTF8 upperUTF8 lcase ucase trim trimBoth trimLeft trimRight toString coalesce ifNull assumeNotNull substring substringUTF8 left right")

// stored is true when a text is that of a column, or short.
func (w *seen) stored(i, depth int) bool {
	if w.column(i) || w.tiny(i) {
		return true
	}
	n := w.nodes[i]
	args := arguments(w.nodes, i)
	if n.kind != "Function" || !keepsLength[strings.ToLower(n.name)] || len(args) == 0 || depth > 10 {
		return false
	}
	for _, arg := range args {
		if !w.stored(arg, depth+1) {
			return false
		}
	}
	return true
}

// tiny is true when a written value is short enough for anything.
func (w *seen) tiny(i int) bool {
	size, is := w.size(i, 0)
	return is && size <= 200
}
