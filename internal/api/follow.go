package api

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"runtime/debug"
)

// Errors of a list that would not end, or cannot be followed (docs/rules.md R3).
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

// Panic is what a page that was asked for panicked with: who waited for it panics with this.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that asked
}

// String is what Go prints of a panic that nobody recovers from.
func (p *Panic) String() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Follow hands out the pages of a list, from a cursor to its end or to the first error. A
// page that leads nowhere is an error, and is not handed out. Each page is released when the
// loop is done with it.
//
// With a place, the page behind one is asked for while the loop has that one; place waits until
// it may be. Without, it is asked for when the loop is done. Nothing that was asked for is
// under way any more when the loop has ended. A panic of ask is one of the loop's goroutine.
func Follow[P Paged](ctx context.Context, cursor string, ask func(ctx context.Context, cursor string) (P, error), place func(context.Context) error) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		var ahead context.Context // of the pages that are asked for ahead; nil before the first: most lists have one page
		cancel := func() {}
		var asked <-chan pageAnswer[P] // what is asked for; nil for nothing
		begin := func(cursor string) {
			if ahead == nil {
				ahead, cancel = context.WithCancel(ctx)
			}
			asked = askAhead(ahead, cursor, ask)
		}
		take := func(cursor string) (a pageAnswer[P]) {
			if asked == nil { // there is nothing to do meanwhile: the stack of a goroutine would grow for it alone
				a.page, a.err = ask(ctx, cursor)
				return a
			}
			a = <-asked
			asked = nil
			if a.panicked != nil {
				panic(a.panicked)
			}
			return a
		}
		defer func() {
			cancel()
			if asked != nil { // nobody takes that page
				take("").page.Release()
			}
		}()
		hand := func(page P, err error) (goOn bool) {
			defer page.Release()
			if err != nil {
				var none P
				return yield(none, err) && false
			}
			return yield(page, nil)
		}
		seen := map[uint64]struct{}{} // hashes of cursors: a million of them take 40 MB
		for pages := 1; ; pages++ {
			seen[maphash.String(seed, cursor)] = struct{}{}
			a := take(cursor)
			next, more := "", false
			if a.err == nil {
				next, more = a.page.leads()
			}
			_, repeated := seen[maphash.String(seed, next)]
			switch {
			case !more:
			case next == "":
				a.err = ErrNoCursor
			case pages >= maxPages:
				a.err = errEndless
			case repeated:
				a.err = ErrRepeatedCursor
			case place != nil:
				if a.err = place(ctx); a.err == nil {
					begin(next)
				}
			}
			if !hand(a.page, a.err) || !more {
				return
			}
			cursor = next
		}
	}
}

// pageAnswer is what a page that was asked for came to.
type pageAnswer[P Paged] struct {
	page     P
	err      error
	panicked *Panic
}

// askAhead asks for a page in a goroutine of its own.
func askAhead[P Paged](ctx context.Context, cursor string, ask func(ctx context.Context, cursor string) (P, error)) <-chan pageAnswer[P] {
	to := make(chan pageAnswer[P], 1)
	go func() {
		a := pageAnswer[P]{err: errors.New("the goroutine that asked for a page ended without an answer")}
		defer func() {
			if r := recover(); r != nil {
				a.panicked = &Panic{r, debug.Stack()}
			}
			to <- a
		}()
		a.page, a.err = ask(ctx, cursor)
	}()
	return to
}

var seed = maphash.MakeSeed()
