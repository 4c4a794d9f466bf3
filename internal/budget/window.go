package budget

import (
	"math"
	"slices"
	"time"
)

// instant is the time since the ledger began, by the monotonic clock.
type instant = time.Duration

// never is an instant that does not come by itself: an answer, a new limit or a
// permit given back must come first.
const never instant = math.MaxInt64

const (
	minute = time.Minute
	// cycle is how long after its answer a request counts: the service's minute, and a
	// margin for clocks that differ and counts that round.
	cycle = minute + 250*time.Millisecond
	// silence is how much later than our giving up the service may still count a
	// request that it has not answered.
	silence = 15 * time.Second
	// courtesy is how long others are left what they were seen to use. After it they are left
	// half of that, and so on.
	courtesy = 150 * time.Second
)

// window is one limit with the log of the requests that count in it.
type window struct {
	limit    int       // requests a minute, as the service reports it
	share    int       // Larder's part of it
	inFlight int       // requests without an answer
	until    []instant // when each answered request stops counting, in order; kept for one more cycle

	// A process before this one may have used the limit. What it spent has stopped counting a
	// cycle after began, the first instant at which a request may be sent.
	began     instant
	inherited int // the first requests of the log are those of the process before

	others      int // requests a minute that are left to others
	othersUntil instant

	unsure      bool // until an answer shows what is left
	refusedAt   instant
	pausedUntil instant
}

func newWindow(limit int, share float64) *window {
	w := &window{began: -cycle, refusedAt: -cycle}
	w.setLimit(limit, share)
	return w
}

// setLimit changes the limit; the log stays.
func (w *window) setLimit(limit int, share float64) {
	w.limit = limit
	w.share = max(1, int(float64(limit)*share+1e-9))
}

// begin is for a window that a process before this one may have used.
func (w *window) begin(at instant) { w.began, w.inherited, w.unsure = at, 0, true }

// ours is how many of Larder's requests count at an instant, at most.
func (w *window) ours(at instant) int { return w.inFlight + len(w.counting(at)) }

// counting are the answered requests that count after an instant.
func (w *window) counting(at instant) []instant {
	first, _ := slices.BinarySearch(w.until, at+1)
	return w.until[first:]
}

// theirs is how many requests are left to others.
func (w *window) theirs(now instant) int {
	if now >= w.othersUntil {
		return w.others >> (1 + (now-w.othersUntil)/courtesy)
	}
	return w.others
}

// alone reports whether requests are sent one at a time, to see what is left.
func (w *window) alone(now instant) bool {
	return w.unsure || w.others > 0 && now >= w.othersUntil
}

// stepOf is the time between two requests when so many are sent evenly in the service's
// minute, times the spread of a lane.
func stepOf(lane Lane, requests int) time.Duration {
	return min(cycle, time.Duration(lane.spread()*float64(cycle)/float64(max(1, requests))))
}

// opens is when a request of a lane may be sent, now or later: when after it there is still
// one request in each step, for whatever is more urgent, until all requests in the
// log have stopped counting.
func (w *window) opens(now instant, lane Lane) instant {
	if at := max(w.began, w.pausedUntil); at > now {
		return at
	}
	if w.alone(now) && w.inFlight > 0 {
		return never
	}
	most, log := min(w.share, w.limit-w.theirs(now)), w.counting(now)
	free, step := most-w.inFlight-len(log), stepOf(lane, most)
	at, even := never, time.Duration(0)
	if instant(most-w.inFlight)*step >= cycle { // what is under way counts for a cycle, at least
		at = now
		for i := max(0, -free); i < len(log) && instant(free+i)*step < cycle; i++ {
			at = max(at, log[i]-instant(free+i)*step)
			even = max(even, (log[i]-now)/instant(max(1, free+i)))
		}
	}
	if now < w.othersUntil && w.others > 0 {
		at = min(at, w.othersUntil)
	}
	if w.inFlight == 0 && free > 0 && at > now {
		// Alone, a lower lane may bridge a gap evenly, and any lane goes on at the pace
		// of which the process before has left enough.
		wait, inherits := w.firstWait(), w.inherited > 0 && now < w.began+cycle
		if !lane.urgent() {
			wait = min(wait, even)
		}
		if inherits || !lane.urgent() && even <= w.firstWait() {
			at = min(at, max(now, log[len(log)-1]-cycle+wait))
		}
	}
	return at
}

// firstWait is how long after a process the next one can surely send a request.
func (w *window) firstWait() time.Duration { return stepOf(Fresh, w.share) }

// answered moves a request from under way to the log. The service may have counted it as late
// as at now+late.
func (w *window) answered(now, late instant) {
	w.inFlight--
	w.add(now + late + cycle)
	w.until = w.until[len(w.until)-len(w.counting(now-cycle)):]
}

// add puts a request into the log; a new one nearly always belongs to the end.
func (w *window) add(until instant) {
	i := len(w.until)
	for i > 0 && w.until[i-1] > until {
		i--
	}
	w.until = slices.Insert(w.until, i, until)
}

// observe takes X-RateLimit-Remaining of an answer to a request sent at sent.
func (w *window) observe(now, sent instant, remaining int) {
	used := min(w.limit, w.limit-remaining)
	if back := w.began + cycle; now < back {
		// The service has surely counted the request itself and those answered before. The
		// others that it counts are those of the process before.
		own := w.until[w.inherited:]
		sure, _ := slices.BinarySearch(own, sent+cycle)
		inherited := max(0, used-sure-1)
		w.until = slices.Concat(slices.Repeat([]instant{back}, inherited), own)
		w.inherited = inherited
		return
	}
	// What was under way or stopped counting meanwhile may have been counted. Others are left
	// twice what is seen of them: what they used, and what they are about to use.
	if others := min(2*(used-w.ours(sent)), w.limit); others >= w.theirs(now) {
		w.others, w.othersUntil = others, now+courtesy
	}
}

// refuse stops the window after a 429. The log showed room, so others use more than was
// seen: another third is left to them.
func (w *window) refuse(now, sent, until instant) {
	w.pausedUntil = max(w.pausedUntil, until)
	if sent < w.refusedAt {
		return // it went beside one that was refused
	}
	w.unsure, w.refusedAt = true, now
	w.others = min(w.limit, w.theirs(now)+max(1, w.limit/3))
	w.othersUntil = now + courtesy
}

// accepted takes an answer that is no 429.
func (w *window) accepted(now, sent instant) {
	if sent > w.refusedAt {
		w.unsure = false
	}
	if now >= w.othersUntil {
		w.others, w.othersUntil = w.theirs(now), now+courtesy
	}
}
