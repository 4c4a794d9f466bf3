package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/faults"
)

// target is what faults know the request by.
func (rq *request) target() faults.Target {
	return faults.Target{Business: rq.key.Business, Route: rq.route.name, Key: rq.key.AppID}
}

// roll draws which faults of a stage strike now.
func (rq *request) roll(stage faults.Stage) []faults.Fault {
	if rq.trusted {
		return nil
	}
	return rq.met(rq.s.Roll(stage, rq.target()))
}

// met notes the faults that struck.
func (rq *request) met(hits []faults.Fault) []faults.Fault {
	for _, f := range hits {
		rq.struck = append(rq.struck, f.Kind)
	}
	return hits
}

// spoil applies the faults on rows to one.
func (rq *request) spoil(row []byte) []byte {
	row, hits := rq.s.Spoil(row, rq.target(), rq.now)
	rq.met(hits)
	return row
}

// earlyFaults strike before the key is looked at.
func (rq *request) earlyFaults() (status int, done bool) {
	for _, f := range rq.roll(faults.Early) {
		switch f.Kind {
		case faults.Latency:
			if !rq.wait(f.Delay) {
				return 0, true
			}
			rq.now = rq.s.now()
		case faults.Hang:
			<-rq.r.Context().Done()
			panic(http.ErrAbortHandler)
		case faults.Reset:
			panic(http.ErrAbortHandler)
		case faults.Unavailable:
			if f.RetryAfter > 0 {
				rq.retryAfter(time.Duration(f.RetryAfter) * time.Second)
			}
			return rq.refuse(fail(codeUnavailable)), true
		case faults.HTML:
			return rq.html(f.Status), true
		}
	}
	return 0, false
}

func (rq *request) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-rq.r.Context().Done():
		return false
	}
}

func (rq *request) html(status int) int {
	status = cmp.Or(status, http.StatusOK)
	rq.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	rq.w.WriteHeader(status)
	_, _ = rq.w.Write([]byte("<!doctype html><html><head><title>Revenim imediat</title></head><body><h1>Revenim imediat</h1></body></html>\n")) // the client has gone
	return status
}

// pageFaults are the faults that strike the answer being made.
type pageFaults struct {
	cursorRefused, cursorRepeats, cursorMissing bool
	truncate, garbage, cutJSON                  bool
}

// answerFaults strike once the key is known and the request counted.
func (rq *request) answerFaults() (status int, done bool) {
	for _, f := range rq.roll(faults.Answer) {
		switch f.Kind {
		case faults.ServerError:
			return rq.refuse(fail(codeServerError)), true
		case faults.RateLimited:
			rq.retryAfter(time.Duration(f.RetryAfter) * time.Second)
			rq.w.Header().Set("X-RateLimit-Remaining", "0")
			return rq.refuse(fail(codeRateLimited)), true
		case faults.Truncate:
			rq.page.truncate = true
		case faults.Garbage:
			rq.page.garbage = true
		case faults.CutJSON:
			rq.page.cutJSON = true
		}
	}
	for _, f := range rq.roll(faults.Page) {
		switch f.Kind {
		case faults.CursorRefused:
			rq.page.cursorRefused = true
		case faults.CursorRepeats:
			rq.page.cursorRepeats = true
		case faults.CursorMissing:
			rq.page.cursorMissing = true
		}
	}
	return 0, false
}

// deliver sends the answer, spoilt if it has to be.
func (rq *request) deliver() int {
	switch {
	case rq.page.garbage:
		rq.out = append(rq.out[:0], "\x1f\x00}{ not json \xff\xfe"...)
	case rq.page.cutJSON:
		rq.out = rq.out[:len(rq.out)/2]
	case rq.page.truncate:
		rq.truncate()
	}
	status := cmp.Or(rq.status, http.StatusOK)
	if status == http.StatusNotModified { // it has no body
		rq.w.WriteHeader(status)
		return status
	}
	writeJSON(rq.w, rq.r, status, rq.out)
	return status
}

// truncate sends half of what Content-Length promises and cuts the connection.
func (rq *request) truncate() {
	h := rq.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", fmt.Sprint(len(rq.out)))
	rq.w.WriteHeader(cmp.Or(rq.status, http.StatusOK))
	if _, err := rq.w.Write(rq.out[:len(rq.out)/2]); err == nil {
		_ = http.NewResponseController(rq.w).Flush() // a writer that cannot flush is cut short all the same
	}
	panic(http.ErrAbortHandler)
}
