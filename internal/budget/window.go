package budget

import (
	"slices"
	"time"
)

// instant is the time since the ledger began, by the monotonic clock.
type instant = time.Duration

// minute is the length of the service's window.
const minute = time.Minute

// window is the count of one limit.
type window struct {
	limit int // as the service says it
	share int // of it, what may be ours
	cycle time.Duration

	inFlight int
	// own are the instants at which our places come back, oldest first; others
	// are those of places that others were seen to take.
	own, others []instant
	// gone is how many of both have come back so far.
	gone uint64

	pausedUntil instant
	// alone: after a 429, one request at a time until one sent since then is
	// answered with anything else.
	alone     bool
	refusedAt instant
	refusals  int
	// lastPaced is when a paced lane last took a place, or was to.
	lastPaced instant
	last      sight
	previous  previous
}

func newWindow(limit int, share float64, margin time.Duration) *window {
	w := &window{cycle: minute + margin, lastPaced: -minute}
	w.setLimit(limit, share)
	return w
}

// setLimit changes the limit; places taken stay taken.
func (w *window) setLimit(limit int, share float64) {
	w.limit = limit
	w.share = max(1, int(float64(limit)*share+1e-9))
}

// ours is how many places are taken by our own requests.
func (w *window) ours() int { return w.inFlight + len(w.own) }

// free is how many places may be taken now.
func (w *window) free() int {
	return min(w.share-w.ours(), w.limit-w.ours()-len(w.others))
}

// expire gives back the places whose time has come.
func (w *window) expire(now instant) {
	before := len(w.own) + len(w.others)
	w.own = expired(w.own, now)
	w.others = expired(w.others, now)
	w.gone += uint64(before - len(w.own) - len(w.others))
}

func expired(places []instant, now instant) []instant {
	n := 0
	for n < len(places) && places[n] <= now {
		n++
	}
	return places[n:]
}

// take counts a request that is about to be sent.
func (w *window) take(now instant, paced bool) {
	if paced || w.pacesAll(now) {
		w.tick(now)
	}
	w.inFlight++
}

// back undoes a take whose request was not sent.
func (w *window) back() { w.inFlight-- }

// answered counts a request from its answer on. The service may have counted it
// as late as at now+late.
func (w *window) answered(now, late instant) {
	w.inFlight--
	w.own = insert(w.own, now+late+w.cycle, 1)
}

// insert adds n places and keeps them in order; new ones nearly always belong to the
// end.
func insert(places []instant, at instant, n int) []instant {
	i := len(places)
	for i > 0 && places[i-1] > at {
		i--
	}
	return slices.Insert(places, i, slices.Repeat([]instant{at}, n)...)
}

// observe learns from X-RateLimit-Remaining of an answer that has been counted
// as answered: what our own requests do not explain is someone else's. The
// request was sent at sent, when gone places had come back.
func (w *window) observe(now, sent instant, gone uint64, confirmed, remaining int) {
	others := max(w.missing(gone, remaining), w.dropped(now, sent, remaining), w.pressed(now, remaining))
	if w.previous.matters && now < w.previous.until {
		w.chargePrevious(now, others, confirmed, remaining)
		return
	}
	w.yield(now+2*w.cycle, others)
}

// missing compares with our whole count: no algorithm counts more than 60
// seconds, so less room than that leaves is someone else's doing. Places that
// came back while the request was under way may have been taken when the
// service counted it.
func (w *window) missing(gone uint64, remaining int) int {
	back := int(w.gone - gone)
	return w.limit - w.ours() - len(w.others) - back - remaining
}

// dropped compares with an answer before: between the two the service counted at
// most those of ours that were under way in that time. This sees others under a
// fixed minute or a bucket, whose count lies below our whole one. Only a request
// sent after that answer was surely counted after it; until one is, and for no
// longer than our places are remembered, the answer before stays the measure.
func (w *window) dropped(now, sent instant, remaining int) int {
	last := w.last
	if last.known && last.sent+w.cycle > now && sent < last.at {
		return 0
	}
	w.last = sight{known: true, remaining: remaining, sent: sent, at: now}
	if !last.known || last.sent+w.cycle <= now {
		return 0
	}
	first, _ := slices.BinarySearch(w.own, last.sent+w.cycle)
	between := w.inFlight + len(w.own) - first - 1 // the answer before is one of them
	return last.remaining - remaining - between
}

// sight is an X-RateLimit-Remaining, with when it was asked for and answered.
type sight struct {
	known     bool
	remaining int
	sent, at  instant
}

// caution is how long after a 429 the last twentieth of a limit is left to others.
const caution = 10 * time.Minute

// pressed gives way when little remains after a 429. A bucket shows others by
// nothing else: until it is empty it never looks fuller than our own count
// explains.
func (w *window) pressed(now instant, remaining int) int {
	if w.refusals == 0 || now > w.refusedAt+caution || remaining > w.limit/20 {
		return 0
	}
	return 1
}

// yield counts n places as taken by others, until then: two cycles where they
// are about to use again what they used.
func (w *window) yield(until instant, n int) {
	if n = min(n, w.limit-len(w.others)); n > 0 {
		w.others = insert(w.others, until, n)
	}
}

// refuse stops the window after a 429 (DESIGN B3). Our own count said there was
// room, so others use it more than we saw: a quarter is left to them.
func (w *window) refuse(now, until instant) {
	w.pausedUntil = max(w.pausedUntil, until)
	w.alone, w.refusedAt = true, now
	w.refusals++
	w.last = sight{}
	w.yield(now+2*w.cycle, max(1, w.limit/4))
}

// accepted ends the caution after a 429, if the request was sent since.
func (w *window) accepted(sent instant) {
	if sent > w.refusedAt {
		w.alone = false
	}
}
