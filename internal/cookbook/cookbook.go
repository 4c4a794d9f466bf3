// Package cookbook reads the queries that the documents show, so that tests can
// run them: docs/cookbook.md with what comes out, and those of the data dictionary.
//
// Contents: finding queries in Markdown, and the tests that run them on a mirrored restaurant.
package cookbook

import (
	"fmt"
	"strings"
)

// Query is a block of SQL in a document, under its heading.
type Query struct {
	Heading string
	Line    int // of its first line in the document
	SQL     string
	Answer  string // the block of text that follows it; empty when none does
	// from and to are where the answer stands in the document.
	from, to int
}

const (
	sqlFence    = "```sql\n"
	answerFence = "```text\n"
	fence       = "```\n"
)

// Queries reads every block of SQL of a document, with the block of text that follows it.
func Queries(document string) ([]Query, error) {
	var found []Query
	heading, last := "", -1 // last is the query whose answer may follow
	number, at := 0, 0
	for at < len(document) {
		line := lineAt(document, at)
		number++
		switch {
		case strings.HasPrefix(line, "#"):
			heading, last = strings.TrimSpace(strings.TrimLeft(line, "#")), -1
		case strings.HasPrefix(line, "```"):
			body := at + len(line)
			end := strings.Index(document[body:], fence)
			if end < 0 {
				return nil, fmt.Errorf("line %d: the block %q has no end", number, strings.TrimSpace(line))
			}
			text := document[body : body+end]
			switch {
			case line == sqlFence:
				found, last = append(found, Query{Heading: heading, Line: number + 1, SQL: text}), len(found)
			case line == answerFence && last >= 0:
				q := &found[last]
				q.Answer, q.from, q.to, last = text, body, body+end, -1
			default:
				last = -1
			}
			number += strings.Count(text, "\n") + 1
			at = body + end + len(fence)
			continue
		}
		at += len(line)
	}
	return found, nil
}

func lineAt(document string, at int) string {
	if end := strings.IndexByte(document[at:], '\n'); end >= 0 {
		return document[at : at+end+1]
	}
	return document[at:]
}
