package guard

import (
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/exception"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// The engine gives each expression a name, in which stand those of its columns and texts:
// a column with a name of 100 KB, asked for 8,000 times, makes names of gigabytes, which no
// limit counts in time. What a statement can make of names is estimated, too.

// longestNames is what a statement's names may come to, in bytes: it takes the engine some
// three seconds, and a few times as much memory.
const longestNames = 64 << 20

// mayBeNamed looks at how long the names of a statement may become. Each of its nodes may be
// named with its longest word or text. A * stands for columns with names as long as that,
// which are named again in each call around it.
func mayBeNamed(nodes []node, sql string) error {
	longest := 0
	words, _ := sqltext.Tokens(sql)
	for _, t := range words {
		longest = max(longest, len(t.Text))
	}
	if float64(longest)*expanded(nodes, words) <= longestNames && aroundColumns(nodes)*len(sql) <= longestNames {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: its names grow too long here: use shorter names and texts, and name columns instead of *")
}

// aroundColumns counts what stands for several columns, and the calls around each.
func aroundColumns(nodes []node) (count int) {
	var path []bool // on the way down: a node that is not counted yet
	for _, n := range nodes {
		path = append(path[:min(n.depth, len(path))], true)
		if !n.manyColumns() {
			continue
		}
		for i, fresh := range path {
			if fresh {
				count, path[i] = count+1, false
			}
		}
	}
	return count
}

// manyColumns is true when a node stands for the columns of something.
func (n node) manyColumns() bool {
	return strings.Contains(n.kind, "Asterisk") || strings.Contains(n.kind, "Matcher")
}
