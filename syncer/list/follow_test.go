package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// script is a service that answers by cursor.
type script struct {
	pages    map[string]Answer
	asked    []string
	released []string
	slow     time.Duration
}

func (s *script) ask(ctx context.Context, cursor string) Answer {
	s.asked = append(s.asked, cursor)
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return Answer{Err: context.Cause(ctx)}
	}
	a := s.pages[cursor]
	if a.Err == nil {
		a.release = func() { s.released = append(s.released, cursor) }
	}
	return a
}

func rowsTo(next string, rows ...string) Answer {
	a := Answer{Page: Page{Next: next, More: next != ""}}
	for _, r := range rows {
		a.Rows = append(a.Rows, []byte(r))
	}
	return a
}

func anyRoom(context.Context) error { return nil }

func TestPagesAreTakenInOrderAndReleasedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{slow: time.Second, pages: map[string]Answer{"": rowsTo("b", "1"), "b": rowsTo("c", "2"), "c": rowsTo("", "3")}}
		var taken []string
		began := time.Now()
		err := FollowPages(t.Context(), "", s.ask, anyRoom, func(_ context.Context, a Answer) error {
			time.Sleep(time.Second)
			taken = append(taken, string(a.Rows[0]))
			return nil
		})
		if err != nil || !slices.Equal(taken, []string{"1", "2", "3"}) || !slices.Equal(s.released, []string{"", "b", "c"}) {
			t.Errorf("took %q, released %q: %v", taken, s.released, err)
		}
		if took := time.Since(began); took != 4*time.Second { // each is asked for while the one before it is taken
			t.Errorf("it took %s", took)
		}
	})
}

func TestWhatWasAskedAheadIsWaitedForAndReleased(t *testing.T) {
	full, bad := errors.New("no room"), errors.New("not taken")
	for name, c := range map[string]struct {
		room, take error
		asked      int
	}{"not taken": {nil, bad, 2}, "no room": {full, nil, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{slow: time.Second, pages: map[string]Answer{"": rowsTo("b", "1"), "b": rowsTo("", "2")}}
			err := FollowPages(t.Context(), "", s.ask, func(context.Context) error { return c.room }, func(context.Context, Answer) error {
				time.Sleep(2 * time.Second)
				return c.take
			})
			if !errors.Is(err, cmp.Or(c.room, c.take)) || len(s.asked) != c.asked || len(s.released) != c.asked {
				t.Errorf("%s: asked %q, released %q: %v", name, s.asked, s.released, err)
			}
		})
	}
}

func TestAPageThatIsNotTakenInAPanicIsReleased(t *testing.T) {
	s := &script{pages: map[string]Answer{"": rowsTo("", "1")}}
	func() {
		defer func() { _ = recover() }()
		_ = FollowPages(t.Context(), "", s.ask, anyRoom, func(context.Context, Answer) error { panic("of the mapping") })
	}()
	if len(s.released) != 1 {
		t.Errorf("released %q", s.released)
	}
}

func TestPagesThatLeadNowhereEndAWalk(t *testing.T) {
	endless := map[string]Answer{"": rowsTo("0", "same")}
	for n := range 1000 {
		endless[fmt.Sprint(n)] = rowsTo(fmt.Sprint(n+1), "same")
	}
	for name, c := range map[string]struct {
		pages map[string]Answer
		want  error
		tried bool
	}{
		"without a cursor":        {map[string]Answer{"": {Page: Page{More: true}}}, errNoCursor, true},
		"a cursor once more":      {map[string]Answer{"": rowsTo("b"), "b": rowsTo("c"), "c": rowsTo("b")}, errRepeatedCursor, true},
		"the same rows for ever":  {endless, errEndless, false},
		"an error of the service": {map[string]Answer{"": rowsTo("b"), "b": {Err: context.DeadlineExceeded}}, context.DeadlineExceeded, false},
	} {
		s := &script{pages: c.pages}
		err := FollowPages(t.Context(), "", s.ask, anyRoom, func(context.Context, Answer) error { return nil })
		if !errors.Is(err, c.want) || LeadsNowhere(err) != c.tried {
			t.Errorf("%s: %v", name, err)
		}
	}
}
