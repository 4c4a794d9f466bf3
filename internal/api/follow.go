package api

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"runtime/debug"
)

// Errors of a list that would not end, or cannot be followed (DESIGN R3).
var (
	ErrRepeatedCursor = errors.New("the service sent a cursor that it had sent before" + tellTheService)
	ErrNoCursor       = errors.New("the service says has_more without a next_cursor" + tellTheService)
	errEndless        = errors.New("the service has sent a million pages of one list without an end" + tellTheService)
)

// Not every walk is made again by itself.
const tellTheService = ": if it does so again, show this to the service"

// LeadsNowhere is true of the error of a page that leads nowhere, which may be another one
// when it is asked for again.
func LeadsNowhere(err error) bool {
	return errors.Is(err, ErrRepeatedCursor) || errors.Is(err, ErrNoCursor)
}

// maxPages of one walk, 200 million rows at full length: at the limit of requests almost
// six days without an end, a restart or a refused cursor. No list of a restaurant has so many.
const maxPages = 1_000_000

// Paged is a [Page], or a struct that embeds one and notes more beside it.
type Paged interface {
	Release()
	leads() (next string, more bool)
}

func (p Page) leads() (next string, more bool) { return p.NextCursor, p.HasMore }

// fetched is a page as it arrived, or why it has not.
type fetched[P Paged] struct {
	page     P
	err      error
	panicked *Panic
}

// Panic is what another goroutine panicked with: who waited for it panics with this.
type Panic struct {
	Value any
	Stack []byte // of that goroutine
}

// String is what Go prints of a panic that nobody recovers from.
func (p *Panic) String() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// wait is what was asked for ahead. It panics if that did.
func wait[P Paged](ahead <-chan fetched[P]) fetched[P] {
	f := <-ahead
	if f.panicked != nil {
		panic(f.panicked)
	}
	return f
}

// Follow hands out the pages of a list, from a cursor to its end or to the first error. A
// page that leads nowhere is an error, and is not handed out. Each page is released when the
// loop is done with it.
//
// With room, the page behind one is asked for while the loop has that one; room waits until
// it may be. Without, it is asked for when the loop is done. Nothing that was asked for is
// under way any more when the loop has ended. A panic of ask is one of the loop's goroutine.
func Follow[P Paged](ctx context.Context, cursor string, ask func(ctx context.Context, cursor string) (P, error), room func(context.Context) error) iter.Seq2[P, error] {
	fetch := func(ctx context.Context, cursor string) fetched[P] {
		page, err := ask(ctx, cursor)
		return fetched[P]{page: page, err: err}
	}
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var ahead <-chan fetched[P]
		defer func() {
			cancel()
			if ahead != nil { // it was asked for in vain
				wait(ahead).page.Release()
			}
		}()
		path := from(cursor)
		take := func(f fetched[P]) (more bool) {
			defer f.page.Release()
			err := f.err
			if err == nil {
				more, err = path.on(f.page)
			}
			if err == nil && more && room != nil {
				if err = room(ctx); err == nil {
					ahead = begin(func() fetched[P] { return fetch(ctx, path.cursor) })
				}
			}
			if err != nil {
				var none P
				return yield(none, err) && false
			}
			return yield(f.page, nil) && more
		}
		for f := fetch(ctx, cursor); take(f); {
			if ahead == nil {
				f = fetch(ctx, path.cursor)
			} else {
				last := ahead
				ahead = nil
				f = wait(last)
			}
		}
	}
}

// begin fetches in a goroutine of its own. A panic there, which nobody else could recover from,
// is kept for who waits.
func begin[P Paged](fetch func() fetched[P]) <-chan fetched[P] {
	done := make(chan fetched[P], 1)
	go func() {
		var f fetched[P]
		defer func() {
			if r := recover(); r != nil {
				f.panicked = &Panic{Value: r, Stack: debug.Stack()}
			}
			done <- f
		}()
		f = fetch()
	}()
	return done
}

// path is where the pages of a list have led so far.
type path struct {
	cursor string
	seen   map[uint64]struct{} // hashes of cursors: a million of them take 40 MB
	pages  int
}

func from(cursor string) *path {
	return &path{cursor: cursor, seen: map[uint64]struct{}{maphash.String(seed, cursor): {}}}
}

var seed = maphash.MakeSeed()

// on moves to the cursor behind a page, unless the list ends with it.
func (p *path) on(page Paged) (more bool, err error) {
	next, more := page.leads()
	p.pages++
	switch {
	case !more:
		return false, nil
	case next == "":
		return false, ErrNoCursor
	case p.pages >= maxPages:
		return false, errEndless
	}
	hash := maphash.String(seed, next)
	if _, again := p.seen[hash]; again {
		return false, ErrRepeatedCursor
	}
	p.seen[hash], p.cursor = struct{}{}, next
	return true, nil
}
