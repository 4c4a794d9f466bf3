package api

import (
	"errors"
	"hash/maphash"
	"iter"
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

// Follow hands out the pages of a list, from a cursor to its end or to the first error. A
// page that leads nowhere is an error, and is not handed out. Each page is released when the
// loop is done with it, and the next one is asked for then.
func Follow[P Paged](cursor string, ask func(cursor string) (P, error)) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		hand := func(page P, err error) (goOn bool) {
			defer page.Release()
			if err != nil {
				var none P
				page = none
			}
			return yield(page, err) && err == nil
		}
		seen := map[uint64]struct{}{} // hashes of cursors: a million of them take 40 MB
		for pages := 1; ; pages++ {
			seen[maphash.String(seed, cursor)] = struct{}{}
			page, err := ask(cursor)
			next, more := "", false
			if err == nil {
				next, more = page.leads()
			}
			_, repeated := seen[maphash.String(seed, next)]
			switch {
			case !more:
			case next == "":
				err = ErrNoCursor
			case pages >= maxPages:
				err = errEndless
			case repeated:
				err = ErrRepeatedCursor
			}
			if !hand(page, err) || !more {
				return
			}
			cursor = next
		}
	}
}

var seed = maphash.MakeSeed()
