package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// scripted is a page of a script, which hears of its release.
type scripted struct {
	Page
	err  error
	slow time.Duration
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
	slow     time.Duration
}

func (s *script) ask(ctx context.Context, cursor string) (scripted, error) {
	s.asked = append(s.asked, cursor)
	select {
	case <-time.After(s.slow + s.pages[cursor].slow):
	case <-ctx.Done():
		return scripted{}, context.Cause(ctx)
	}
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

func anyPlace(context.Context) error { return nil }

func TestPagesAreHandedOutInOrderAndReleasedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		place func(context.Context) error
		took  time.Duration
	}{
		"ahead":               {anyPlace, 4 * time.Second}, // each is asked for while the loop has the one before it
		"one after the other": {nil, 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{slow: time.Second, pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("c", "2"), "c": rowsTo("", "3")}}
			var rows []string
			began := time.Now()
			for p, err := range Follow(t.Context(), "", s.ask, c.place) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if len(s.released) != len(rows) {
					t.Errorf("%s: page %d is released while the loop has it", name, len(rows))
				}
				rows = append(rows, string(p.Rows[0]))
			}
			if !slices.Equal(rows, []string{"1", "2", "3"}) || !slices.Equal(s.released, []string{"", "b", "c"}) {
				t.Errorf("%s: rows %q, released %q", name, rows, s.released)
			}
			if took := time.Since(began); took != c.took {
				t.Errorf("%s: it took %s", name, took)
			}
		})
	}
}

func TestWhatWasAskedAheadIsWaitedForAndReleased(t *testing.T) {
	full := errors.New("no place")
	for name, c := range map[string]struct {
		place error
		asked int
	}{"the loop ends": {nil, 2}, "no place": {full, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{slow: time.Second, pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("", "2")}}
			var last error
			for _, err := range Follow(t.Context(), "", s.ask, func(context.Context) error { return c.place }) {
				last = err
				time.Sleep(2 * time.Second)
				break
			}
			if !errors.Is(last, c.place) || len(s.asked) != c.asked || len(s.released) != c.asked {
				t.Errorf("%s: asked %q, released %q: %v", name, s.asked, s.released, last)
			}
		})
	}
}

// A page that is under way when the loop ends is cancelled, not waited for to its end.
func TestAPageInVainIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{pages: map[string]scripted{"": rowsTo("b", "1"), "b": {slow: time.Hour}}}
		began := time.Now()
		for _, err := range Follow(t.Context(), "", s.ask, anyPlace) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if took := time.Since(began); took > time.Minute || len(s.released) != 1 {
			t.Errorf("it took %s, released %q", took, s.released)
		}
	})
}

func TestAPageIsReleasedInAPanic(t *testing.T) {
	s := &script{pages: map[string]scripted{"": rowsTo("", "1")}}
	func() {
		defer func() { _ = recover() }()
		for _, err := range Follow(t.Context(), "", s.ask, anyPlace) {
			panic(err)
		}
	}()
	if len(s.released) != 1 {
		t.Errorf("released %q", s.released)
	}
}

// A page that is asked for ahead is asked for in a goroutine of its own, where nobody else can
// recover from a panic.
func TestAPanicAheadIsOneOfTheLoop(t *testing.T) {
	for name, pages := range map[string]int{"while the loop goes on": 2, "after the loop has ended": 1} {
		s := &script{pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("", "2")}}
		ask := func(ctx context.Context, cursor string) (scripted, error) {
			if cursor == "b" {
				panic("a fault in ask")
			}
			return s.ask(ctx, cursor)
		}
		handed := 0
		func() {
			defer func() {
				p, ok := recover().(*Panic)
				if !ok || p.Value != "a fault in ask" || !strings.Contains(string(p.Stack), "TestAPanicAheadIsOneOfTheLoop") {
					t.Errorf("%s: recovered %v", name, p)
				}
			}()
			for _, err := range Follow(t.Context(), "", ask, anyPlace) {
				if handed++; err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if handed == pages {
					break
				}
			}
		}()
		if handed != 1 || len(s.released) != 1 {
			t.Errorf("%s: %d pages were handed out, released %q", name, handed, s.released)
		}
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
		for way, place := range map[string]func(context.Context) error{"ahead": anyPlace, "one after the other": nil} {
			s := &script{pages: c.pages}
			var last error
			handed := 0
			for _, err := range Follow(t.Context(), c.from, s.ask, place) {
				if last = err; err == nil {
					handed++
				}
			}
			if !errors.Is(last, c.want) || LeadsNowhere(last) != c.tried || handed != len(s.asked)-1 || len(s.asked) > c.most {
				t.Errorf("%s, %s: %v behind %d pages of %d asked for", name, way, last, handed, len(s.asked))
			}
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
		for _, err := range Follow(t.Context(), "0", s.ask, nil) {
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
	ask := func(context.Context, string) (Page, error) {
		asked++
		return Page{NextCursor: fmt.Sprint(asked), HasMore: true}, nil
	}
	var last error
	for _, err := range Follow(t.Context(), "", ask, nil) {
		last = err
	}
	if !errors.Is(last, errEndless) || asked != maxPages {
		t.Errorf("%d pages were asked for: %v", asked, last)
	}
}

// A page that nothing can be done beside is asked for in the loop's goroutine, whose stack has grown already.
func TestOnlyWhatIsAskedForAheadHasAGoroutine(t *testing.T) {
	for name, c := range map[string]struct {
		place func(context.Context) error
		want  int
	}{"ahead": {anyPlace, 2}, "one after the other": {nil, 0}} {
		s := &script{pages: map[string]scripted{"": rowsTo("b", "1"), "b": rowsTo("c", "2"), "c": rowsTo("", "3")}}
		beside := 0
		ask := func(ctx context.Context, cursor string) (scripted, error) {
			if !bytes.Contains(debug.Stack(), []byte("TestOnlyWhatIsAskedForAheadHasAGoroutine(")) {
				beside++
			}
			return s.ask(ctx, cursor)
		}
		for _, err := range Follow(t.Context(), "", ask, c.place) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if beside != c.want {
			t.Errorf("%s: %d pages had a goroutine of their own", name, beside)
		}
	}
}

func TestAGoroutineThatEndsIsNoEndOfAList(t *testing.T) {
	var last error
	for _, err := range Follow(t.Context(), "", func(_ context.Context, cursor string) (Page, error) {
		if cursor == "b" {
			runtime.Goexit()
		}
		return rowsTo("b").Page, nil
	}, anyPlace) {
		last = err
	}
	if last == nil {
		t.Error("a page that never came was the last")
	}
}
