package guard

import "github.com/larder-sync/larder/sinks/embedded/exception"

// The engine plans each set of GROUP BY GROUPING SETS with the keys of all of them, at 160
// bytes for each, and looks at no limit meanwhile: 4,000 sets of a key each take 2.3 GB.

// mostGrouped is how many sets a statement may have, times their keys: these take 40 MB.
const mostGrouped = 1 << 18

// mayGroup looks at the sets of a statement: lists that stand in a list, which nothing
// else does.
func mayGroup(nodes []node) error {
	sets, keys, within := 0, 0, -1
	for _, n := range nodes {
		switch {
		case n.kind == "ExpressionList" && n.parent == "ExpressionList":
			sets, within = sets+1, n.depth
		case n.depth <= within:
			within = -1
		case within >= 0 && n.depth == within+1:
			keys++
		}
	}
	if sets*keys <= mostGrouped {
		return nil
	}
	return exception.Readonly("Cannot execute query in readonly mode: GROUPING SETS are too many here: %d with %d keys", sets, keys)
}
