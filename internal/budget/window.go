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
	// courtesy is how long what others were seen to use is remembered whole: more than the
	// minute at the end of which a fixed count shows them.
	courtesy = 120 * time.Second
	// ahead is how much sooner than in its turn the next request can be sent after one of a
	// lower lane. The limit has that much to spare: a fresh request rarely waits, and still
	// more than 98 % are used.
	ahead = 400 * time.Millisecond
)

// window is one limit with the log of the requests that count in it.
type window struct {
	presumed int       // requests a minute before /me has answered, the same in every process ([DefaultLimits])
	limit    int       // requests a minute, as the service reports them
	share    int       // Larder's part of it
	inFlight int       // requests without an answer
	until    []instant // when each answered request stops counting, in order; kept for one more cycle

	// A process before this one may have used the limit. What it spent has stopped counting a
	// cycle after began, the first instant at which a request may be sent.
	began     instant
	follows   bool // it has: see [Key.FollowProcess]
	inherited int  // requests of the process before in the log: they stop counting at began+cycle

	others      int     // requests a minute that others were seen to use
	seen        int     // the most that was seen of them since the last time others was lowered
	othersUntil instant // when it is lowered next

	unsure      bool // until an answer shows what is left
	proven      int  // while unsure: how many more requests are surely allowed; else one at a time
	refusedAt   instant
	pausedUntil instant
}

func newWindow(limit int, share float64) *window {
	w := &window{presumed: limit, began: -cycle, refusedAt: -cycle}
	w.setLimit(limit, share)
	return w
}

// setLimit changes the limit; the log stays.
func (w *window) setLimit(limit int, share float64) {
	w.limit = limit
	w.share = max(1, int(float64(limit)*share+1e-9))
}

// begin is for a window that a process before this one may have used.
func (w *window) begin(at instant) { w.began, w.inherited, w.unsure, w.proven = at, 0, true, 0 }

// merge takes over from another window of the same limit when it began, others and refusals.
func (w *window) merge(from *window) {
	if from.began > w.began {
		w.began, w.inherited = from.began, 0 // what was inherited counts as Larder's own from now on
	}
	w.others, w.othersUntil = max(w.others, from.others), max(w.othersUntil, from.othersUntil)
	w.pausedUntil = max(w.pausedUntil, from.pausedUntil)
	if from.refusedAt > w.refusedAt {
		w.refusedAt, w.unsure, w.proven = from.refusedAt, from.unsure, 0
	}
}

// ours is how many of Larder's requests count at an instant, at most.
func (w *window) ours(at instant) int { return w.inFlight + len(w.counting(at)) }

// counting are the answered requests that count after an instant.
func (w *window) counting(at instant) []instant {
	first, _ := slices.BinarySearch(w.until, at+1)
	return w.until[first:]
}

// theirs is how many requests a minute others use: the most that was seen of late.
func (w *window) theirs(now instant) int {
	for now >= w.othersUntil && w.others > 0 {
		w.others, w.seen = max(w.seen, w.others/2), 0
		w.othersUntil += courtesy
	}
	return w.others
}

// noteOthers takes how many requests others were seen to use.
func (w *window) noteOthers(now instant, n int) {
	if n = min(n, w.limit); n <= 0 {
		return
	}
	if w.theirs(now) == 0 {
		w.othersUntil = now + courtesy
	}
	w.others, w.seen = max(w.others, n), max(w.seen, n)
}

// most is how many requests a minute are Larder's. Others are left twice what they use, since they
// may be about to use more, but at most half of what they do not use. The part of
// the limit that is not Larder's share is theirs already.
func (w *window) most(now instant) int {
	n := w.theirs(now)
	return min(w.share, max(1, 2*(w.limit-n)-w.share, (w.limit-n+1)/2))
}

// step is the time between the requests that a lane leaves, of a number of requests a minute. What the
// urgent lanes leave is for the next process, which computes with the presumed limit until its first
// request is answered. So theirs is no longer than the step of the presumed limit, unless the limit allows fewer.
func (w *window) step(lane Lane, requests int) time.Duration {
	spread := lane.spread()
	if lane.urgent() && w.limit < w.presumed {
		spread = max(Backfill.spread(), spread*float64(w.limit)/float64(w.presumed))
	}
	return stepOf(spread, requests)
}

// stepOf is the time between so many requests a minute, times a spread.
func stepOf(spread float64, requests int) time.Duration {
	return min(cycle, time.Duration(spread*float64(cycle)/float64(max(1, requests))))
}

// opens is when a request of a lane may be sent, now or later: when after it there is still
// one request in each step, for whatever is more urgent, until all requests in the
// log have stopped counting.
func (w *window) opens(now instant, lane Lane) instant {
	if at := max(w.began, w.pausedUntil); at > now {
		return at
	}
	if w.unsure && w.proven <= 0 && w.inFlight > 0 {
		if w.refusedAt > w.began {
			return never
		}
		if back := w.began + cycle; back > now {
			return back
		}
	}
	most, log := w.most(now), w.counting(now)
	if w.unsure && w.proven <= 0 && w.follows && w.refusedAt <= w.began && now < w.began+cycle && len(log) > 0 {
		// Answers without figures show nothing of what the process before has spent.
		if next := log[len(log)-1] - cycle + w.firstWait(); next > now {
			return next
		}
	}
	free, step, sooner := most-w.inFlight-len(log), w.step(lane, most), ahead
	if lane.urgent() {
		sooner = 0
	}
	at, even := never, time.Duration(0)
	held := step
	if lane.urgent() { // half of a low limit may be under way: else slow answers would leave most of it unused
		held = max(step, stepOf(2, most))
	}
	if instant(most-w.inFlight)*held >= cycle { // what is under way counts for a cycle, at least
		at = now
		for i := max(0, -free); i < len(log) && instant(free+i)*step < cycle+sooner; i++ {
			at = max(at, log[i]-max(0, instant(free+i)*step-sooner))
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
		if inherits || !lane.urgent() && even > step && even <= w.firstWait() {
			at = min(at, max(now, log[len(log)-1]-cycle+wait))
		}
	}
	return at
}

// firstWait is how long after a process the next one can surely send a request.
func (w *window) firstWait() time.Duration { return w.step(Fresh, w.share) }

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
	used, back := min(w.limit, w.limit-remaining), w.began+cycle
	if now >= back {
		// What was under way or stopped counting meanwhile may have been counted.
		w.noteOthers(now, used-w.ours(sent))
		return
	}
	// The service has surely counted the request itself and those answered before. The
	// rest is the process before's.
	first, _ := slices.BinarySearch(w.until, back)
	w.until = slices.Delete(w.until, first, first+w.inherited)
	log := w.counting(now)
	sure, _ := slices.BinarySearch(log, sent+cycle)
	w.inherited = max(0, used-sure-1)
	w.until = slices.Insert(w.until, first, slices.Repeat([]instant{back}, w.inherited)...)
}

// prove takes X-RateLimit-Remaining of another limit: of this one at least as much was left
// for the requests that were under way beside that one, or sent since. Half of it is for the
// process that may come after this one.
func (w *window) prove(sent instant, remaining int) {
	if sent > w.refusedAt {
		w.proven = max(w.proven, remaining/2-w.ours(sent+cycle))
	}
}

// refuse stops the window after a 429. By the log it was allowed, so others use more than was
// seen.
func (w *window) refuse(now, sent, until instant) {
	w.pausedUntil = max(w.pausedUntil, until)
	if sent < w.refusedAt {
		return // it went beside one that was refused
	}
	w.unsure, w.proven, w.refusedAt = true, 0, now
	w.noteOthers(now, w.theirs(now)+max(1, w.limit/4))
}

// accepted takes an answer that is no 429.
func (w *window) accepted(sent instant) {
	if sent > w.refusedAt {
		w.unsure = false
	}
}
