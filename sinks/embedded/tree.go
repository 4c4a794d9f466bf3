package embedded

import (
	"errors"
	"regexp"
	"strings"
)

// node is one line of the engine's syntax tree.
type node struct {
	kind   string // "Function", "TableIdentifier", "Set", …
	name   string // of a function, table or column
	parent string // the kind of the node it belongs to
}

// syntaxTree asks the engine how it reads a statement, without running it. Not all
// that a statement holds stands there: APPLY(f) and the WHERE of SHOW do not.
// Quoted names with line ends would forge lines: the caller has refused them. bare
// is without FORMAT: one that were left would be an error, not another form of this.
func (c *conn) syntaxTree(bare string) ([]node, error) {
	out, _, err := c.query("EXPLAIN AST "+bare+"\nFORMAT TSVRaw", "TSVRaw")
	if err != nil {
		return nil, err
	}
	var nodes []node
	var path []string // the kinds on the way down to the line
	for line := range strings.Lines(string(out)) {
		text := strings.TrimLeft(line, " ")
		depth := len(line) - len(text)
		kind, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		n := node{kind: kind, name: nodeName(rest)}
		path = append(path[:min(depth, len(path))], kind)
		if depth > 0 && len(path) > 1 {
			n.parent = path[len(path)-2]
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// nodeName cuts what the tree says of a node behind its name.
func nodeName(text string) string {
	for _, remark := range []string{" (alias ", " (children ", "(children "} {
		if at := strings.LastIndex(text, remark); at >= 0 {
			text = text[:at]
		}
	}
	return text
}

// syntaxError is what the engine says of a statement that it cannot read. It is
// asked about the statement as a text: behind EXPLAIN, the end of one that does not
// parse by itself could become a part of the EXPLAIN.
func (c *conn) syntaxError(sql string) error {
	_, _, err := c.query("SELECT formatQuery("+quoteString(sql)+")", "Null")
	var exception *Exception
	if !errors.As(err, &exception) {
		return refuse(codeSyntax, "SYNTAX_ERROR", "Syntax error: the statement cannot be read")
	}
	return &Exception{Code: exception.Code, Message: ownScope.ReplaceAllString(exception.Message, "")}
}

// ownScope is where the engine quotes the question instead of the statement.
var ownScope = regexp.MustCompile(`(?s):? In scope SELECT formatQuery\(.*\)\.`)
