package guard

import (
	"slices"
	"strings"
)

// node is one line of the engine's syntax tree.
type node struct {
	kind   string // "Function", "TableIdentifier", "Set", …
	name   string // of a function, table or column
	parent string // the kind of the node it belongs to
	text   string // all that stands behind the kind
	depth  int
}

// syntaxTree asks the engine how it reads a statement, without running it. Not all
// that a statement holds stands there: APPLY(f) and the WHERE of SHOW do not.
// Quoted names with line ends would forge lines: the caller has refused them. The
// format at the end of sql comes last.
func syntaxTree(ask Ask, sql string) ([]node, error) {
	out, err := ask("EXPLAIN AST "+sql, "TSVRaw")
	if err != nil {
		return nil, err
	}
	var nodes []node
	var path []string // the kinds on the way down to the line
	for line := range strings.Lines(string(out)) {
		text := strings.TrimLeft(line, " ")
		depth := len(line) - len(text)
		kind, rest, _ := strings.Cut(strings.TrimRight(text, "\r\n"), " ")
		n := node{kind: kind, name: nodeName(rest), text: rest, depth: depth}
		path = append(path[:min(depth, len(path))], kind)
		if depth > 0 && len(path) > 1 {
			n.parent = path[len(path)-2]
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// nodeName cuts what the tree says of a node behind its name. An alias may look
// like such a remark.
func nodeName(text string) string {
	for _, remark := range []string{" (alias ", " (children ", "(children "} {
		text, _, _ = strings.Cut(text, remark)
	}
	return text
}

// statementNodes are the nodes that stand for a statement, and what may hang on
// each beside its format: no file, no settings, no statement of another kind.
var statementNodes = map[string][]string{
	"SelectWithUnionQuery":  {"ExpressionList"},
	"Explain":               {"SelectWithUnionQuery", "Set"},
	"DescribeQuery":         {"TableExpression"},
	"ExistsTableQuery":      {"Identifier"},
	"ExistsViewQuery":       {"Identifier"},
	"ExistsDictionaryQuery": {"Identifier"},
	"ExistsDatabaseQuery":   {"Identifier"},
	"ShowCreateTableQuery":  {"Identifier"}, "ShowCreateViewQuery": {"Identifier"},
	"ShowCreateDictionaryQuery": {"Identifier"}, "ShowCreateDatabaseQuery": {"Identifier"},
	"ShowTables": {"Identifier"}, "ShowColumns": nil, "ShowIndexes": nil, "ShowFunctions": nil, "ShowSetting": nil,
	"ShowEngineQuery": nil, "ShowPrivilegesQuery": nil, "ShowGrantsQuery": nil,
}

// selectNodes are those that a SELECT is made of.
var selectNodes = func() map[string]bool {
	all := map[string]bool{}
	for _, kind := range strings.Fields(`
		SelectWithUnionQuery SelectIntersectExceptQuery SelectQuery Subquery WithElement ExpressionList
		Function Identifier TableIdentifier Literal Asterisk QualifiedAsterisk
		ColumnsRegexpMatcher QualifiedColumnsRegexpMatcher ColumnsListMatcher QualifiedColumnsListMatcher
		ColumnsTransformerList ColumnsApplyTransformer ColumnsExceptTransformer
		ColumnsReplaceTransformer ColumnsReplaceTransformer::Replacement
		TablesInSelectQuery TablesInSelectQueryElement TableExpression TableJoin ArrayJoin SampleRatio
		OrderByElement InterpolateElement WindowDefinition WindowListElement`) {
		all[kind] = true
	}
	return all
}()

// formats is true when a node is the format at the end of a statement.
func (n node) formats(sql string) bool {
	_, states := statementNodes[n.parent]
	return states && n.kind == "Identifier" && strings.HasSuffix(sql, "\nFORMAT "+n.name)
}

// fits is true when a node is one that a reader's statement may have there.
func (n node) fits() bool {
	below, holds := statementNodes[n.parent]
	switch {
	case n.parent == "":
		_, states := statementNodes[n.kind]
		return states
	case holds:
		return slices.Contains(below, n.kind)
	}
	return selectNodes[n.kind]
}
