package sandbox

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
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
	hits := rq.s.Roll(stage, rq.target())
	rq.note(hits)
	return hits
}

func (rq *request) note(hits []faults.Fault) {
	for _, f := range hits {
		rq.struck = append(rq.struck, f.Kind)
	}
}

// met is true when a kind of fault struck the request.
func (rq *request) met(kind string) bool { return slices.Contains(rq.struck, kind) }

// spoil applies the faults on rows to one.
func (rq *request) spoil(row []byte) []byte {
	row, hits := rq.s.Spoil(row, rq.target(), rq.now)
	rq.note(hits)
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
			return rq.refuse(refusal.Of(refusal.Unavailable)), true
		case faults.HTML:
			return rq.html(f.Status), true
		}
	}
	return 0, false
}

func (rq *request) wait(d time.Duration) bool { return lifecycle.Pause(rq.r.Context(), d) }

func (rq *request) html(status int) int {
	status = cmp.Or(status, http.StatusOK)
	rq.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	rq.w.WriteHeader(status)
	_, _ = rq.w.Write([]byte("<!doctype html><html><head><title>Revenim imediat</title></head><body><h1>Revenim imediat</h1></body></html>\n")) // the client has gone
	return status
}

// answerFaults strike once the key is known and the request counted.
func (rq *request) answerFaults() (status int, done bool) {
	for _, f := range rq.roll(faults.Answer) {
		switch f.Kind {
		case faults.ServerError:
			return rq.refuse(refusal.Of(refusal.ServerError)), true
		case faults.RateLimited:
			rq.retryAfter(time.Duration(f.RetryAfter) * time.Second)
			rq.w.Header().Set("X-RateLimit-Remaining", "0")
			return rq.refuse(refusal.Of(refusal.RateLimited)), true
		}
	}
	rq.roll(faults.Page) // what has struck is asked for when the answer is made
	return 0, false
}

// deliver sends the answer, spoilt if it has to be.
func (rq *request) deliver() int {
	switch {
	case rq.met(faults.Garbage):
		rq.out = append(rq.out[:0], "\x1f\x00}{ not json \xff\xfe"...)
	case rq.met(faults.CutJSON):
		rq.out = rq.out[:len(rq.out)/2]
	case rq.met(faults.Truncate):
		rq.truncate()
	}
	status := cmp.Or(rq.status, http.StatusOK)
	if len(rq.struck) == 0 && !rq.trusted {
		rq.s.inspect(rq.route, status, rq.w.Header(), rq.out)
	}
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
