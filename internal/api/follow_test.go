package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// scripted is a page of a script, which hears of its release.
type scripted struct {
	Page
	err  error
	done func()
}

func (p scripted) Release() {
	if p.done != nil {
		p.done()
	}
}

// script is a service that answers by cursor.
type script struct {
	pages    map[string]scripted
	asked    []string
	released []string
}

func (s *script) ask(cursor string) (scripted, error) {
	s.asked = append(s.asked, cursor)
	p := s.pages[cursor]
	if p.err == nil {
		p.done = func() { s.released = append(s.released, cursor) }
	}
	return p, p.err
}

func rowsTo(next string, rows ...string) scripted {
	p := scripted{Page: Page{NextCursor: next, HasMore: next != ""}}
	for _, r := range rows {
		p.Rows = append(p.Rows, []byte(r))
	}
	return p
}

func TestPagesAreHandedOutInOrderAndReleasedOnce(t *testing.T) {
	s := &script{pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("c", "2"), "c": rowsTo("", "3")}}
	var rows []string
	for p, err := range Follow("", s.ask) {
		if err != nil {
			t.Fatal(err)
		}
		if len(s.released) != len(rows) || len(s.asked) != len(rows)+1 {
			t.Errorf("while the loop has page %d, %q are asked for, and %q released", len(rows), s.asked, s.released)
		}
		rows = append(rows, string(p.Rows[0]))
	}
	if !slices.Equal(rows, []string{"1", "2", "3"}) || !slices.Equal(s.released, []string{"", "b", "c"}) {
		t.Errorf("rows %q, released %q", rows, s.released)
	}
}

func TestNoPageIsAskedForWhenTheLoopHasEnded(t *testing.T) {
	s := &script{pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("", "2")}}
	for _, err := range Follow("", s.ask) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if len(s.asked) != 1 || len(s.released) != 1 {
		t.Errorf("asked %q, released %q", s.asked, s.released)
	}
}

func TestAPageIsReleasedInAPanic(t *testing.T) {
	s := &script{pages: map[string]scripted{"": rowsTo("", "1")}}
	func() {
		defer func() { _ = recover() }()
		for _, err := range Follow("", s.ask) {
			panic(err)
		}
	}()
	if len(s.released) != 1 {
		t.Errorf("released %q", s.released)
	}
}

func TestPagesThatLeadNowhereEndAWalk(t *testing.T) {
	for name, c := range map[string]struct {
		from  string
		pages map[string]scripted
		want  error
		tried bool
		most  int // pages asked for
	}{
		"without a cursor":        {"", map[string]scripted{"": {Page: Page{HasMore: true}}}, ErrNoCursor, true, 1},
		"the cursor of the page":  {"", map[string]scripted{"": rowsTo("b"), "b": rowsTo("b")}, ErrRepeatedCursor, true, 2},
		"the one it began with":   {"a", map[string]scripted{"a": rowsTo("a")}, ErrRepeatedCursor, true, 1},
		"a cursor once more":      {"", map[string]scripted{"": rowsTo("b"), "b": rowsTo("c"), "c": rowsTo("b")}, ErrRepeatedCursor, true, 3},
		"a circle of three":       {"", map[string]scripted{"": rowsTo("a"), "a": rowsTo("b"), "b": rowsTo("c"), "c": rowsTo("a")}, ErrRepeatedCursor, true, 4},
		"an error of the service": {"", map[string]scripted{"": rowsTo("b"), "b": {err: context.DeadlineExceeded}}, context.DeadlineExceeded, false, 2},
	} {
		s := &script{pages: c.pages}
		var last error
		handed := 0
		for _, err := range Follow(c.from, s.ask) {
			if last = err; err == nil {
				handed++
			}
		}
		if !errors.Is(last, c.want) || LeadsNowhere(last) != c.tried || handed != len(s.asked)-1 || len(s.asked) > c.most {
			t.Errorf("%s: %v behind %d pages of %d asked for", name, last, handed, len(s.asked))
		}
	}
}

// A service that filters what it has read sends pages without rows, under new cursors. Neither
// those nor pages that are alike make a list endless: only a cursor that comes back does, and a
// length that no list has.
func TestPagesWithoutRowsEndNoWalk(t *testing.T) {
	for name, rows := range map[string][]string{"empty": nil, "alike": {"same"}} {
		pages := map[string]scripted{}
		for n := range 1000 {
			pages[fmt.Sprint(n)] = rowsTo(fmt.Sprint(n+1), rows...)
		}
		pages["1000"] = rowsTo("", "last")
		s := &script{pages: pages}
		n := 0
		for _, err := range Follow("0", s.ask) {
			if n++; err != nil {
				t.Fatalf("%s: page %d: %v", name, n, err)
			}
		}
		if n != 1001 {
			t.Errorf("%s: %d pages", name, n)
		}
	}
}

func TestAListWithoutEndEndsAWalk(t *testing.T) {
	asked := 0
	ask := func(string) (Page, error) {
		asked++
		return Page{NextCursor: fmt.Sprint(asked), HasMore: true}, nil
	}
	var last error
	for _, err := range Follow("", ask) {
		last = err
	}
	if !errors.Is(last, errEndless) || asked != maxPages {
		t.Errorf("%d pages were asked for: %v", asked, last)
	}
}
