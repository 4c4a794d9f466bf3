package list

import (
	"context"
	"errors"
	"time"
)

// errRepeatedCursor fails a walk that would go in circles (DESIGN R3).
var errRepeatedCursor = errors.New("the service sent a cursor that it had sent before: the walk goes on from its last page at the next turn; if it stays so, show this to the service")

// errEndless fails a walk that would never end.
var errEndless = errors.New("the service sends the same rows again and again under new cursors: the walk goes on at the next turn; if it stays so, show this to the service")

// errNoCursor fails a walk that cannot go on (DESIGN R3).
var errNoCursor = errors.New("the service says has_more without a next_cursor: the page is asked for again at the next turn; if it stays so, show this to the service")

// LeadsNowhere is true of the error of a page that leads nowhere, which may be another one
// when it is asked for again.
func LeadsNowhere(err error) bool {
	return errors.Is(err, errRepeatedCursor) || errors.Is(err, errNoCursor)
}

// Answer is a page as it arrived, or why it has not.
type Answer struct {
	Page
	Err error

	versions uint64 // the first of the versions reserved for its rows
	reserved int
	took     time.Duration
}

// FollowPages follows a list from a cursor to its end. The page behind one is asked for, when
// there is room for it, while that is taken. A page that leads nowhere is not taken. Nothing
// that was asked for is under way any more when it returns.
func FollowPages(ctx context.Context, cursor string, ask func(ctx context.Context, cursor string) Answer, room func(context.Context) error, take func(context.Context, Answer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var next <-chan Answer
	defer func() {
		cancel()
		if next != nil { // it was asked for in vain
			a := <-next
			a.Done()
		}
	}()
	var lead lead
	page := func(a Answer) error { // next is what was asked for behind it
		defer a.Done()
		if a.Err != nil {
			return a.Err
		}
		if a.More {
			if err := lead.check(cursor, a); err != nil {
				return err
			}
			if err := room(ctx); err != nil {
				return err
			}
			ahead := make(chan Answer, 1)
			cursor, next = a.Next, ahead
			go func() { ahead <- ask(ctx, a.Next) }()
		}
		return take(ctx, a)
	}
	a := ask(ctx, cursor)
	for {
		if err := page(a); err != nil || next == nil {
			return err
		}
		a, next = <-next, nil
	}
}

// lead knows where the pages of a walk have led so far.
type lead struct {
	cycle cycle
	again repetition
}

// check fails a page that leads nowhere.
func (l *lead) check(cursor string, a Answer) error {
	switch {
	case a.Next == "":
		return errNoCursor
	case l.cycle.repeats(cursor, a.Next):
		return errRepeatedCursor
	case l.again.endless(a.Rows):
		return errEndless
	}
	return nil
}
