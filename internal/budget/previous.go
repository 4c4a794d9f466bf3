package budget

import "time"

// previous is what a window does not know when its key begins: what a process
// before this one, killed and started again, has spent of it (DESIGN B2). The
// zero value is a window without such a past.
//
// The first request goes alone. Its X-RateLimit-Remaining tells what was spent
// before, by any algorithm, and all of that has come back a minute later. While
// some has not, every lane is paced, and a reserve is left for the first requests
// of the processes that may come after this one: one each [window.step].
type previous struct {
	matters bool    // the window has such a past
	unknown bool    // nothing has been said about it yet
	until   instant // when all of it has come back
	// spent: it used the window lately, or was seen to have.
	spent bool
	// confirmed counts our requests that the service has surely counted.
	confirmed int
}

// reserved is the part of a window that requests in a burst leave.
const reserved = 6

// begin makes the window one with a past it does not know.
func (w *window) begin(now instant) {
	w.previous = previous{matters: true, unknown: true, until: now + w.cycle}
}

// assumeSpent begins as if all of the window had been spent just now.
func (w *window) assumeSpent(began instant) {
	if w.previous.unknown {
		w.previous.spent = true
		w.lastPaced = began
	}
}

// reserve is how many places are used at the pace of the lower lanes only.
func (w *window) reserve() int {
	if !w.previous.matters {
		return 0
	}
	return w.share / reserved
}

// step is the time between two requests that use the reserve up within a minute
// at most, however many processes come one after the other.
func (w *window) step() time.Duration { return w.cycle / time.Duration(max(1, w.reserve())) }

// previousSpent is true when some of what was spent before has not come back.
func (w *window) previousSpent(now instant) bool { return w.previous.spent && now < w.previous.until }

// oneByOne is true when the window's requests go one by one, and until when at
// most: what was spent before is not known.
func (w *window) oneByOne(now instant) bool { return w.previous.unknown && now < w.previous.until }

// pacesAll is true when all lanes are paced.
func (w *window) pacesAll(now instant) bool {
	return w.previousSpent(now) || w.free() <= w.reserve()
}

// pause is the time between two requests while some of what the process before has spent has not come back.
func (w *window) pause() time.Duration {
	spare := w.free() - w.reserve()
	if w.previous.unknown || spare <= 0 {
		return w.step()
	}
	return min(w.step(), w.cycle/time.Duration(spare))
}

// chargePrevious takes what an answer says, others of it unexplained by our own
// requests, for the doing of the process before: it comes back within a minute.
// When the request was sent, the service had surely counted confirmed of ours; what
// remains beyond those, the request itself and what was spent before shows how much
// of that has come back already.
func (w *window) chargePrevious(now instant, others, confirmed, remaining int) {
	w.yield(now+w.cycle, others)
	if back := len(w.others) - max(0, w.limit-remaining-confirmed-1); back > 0 {
		w.others = w.others[back:]
		w.gone += uint64(back)
	}
	if w.previous.unknown {
		w.previous.unknown = false
		w.previous.until = now + w.cycle
	}
	w.previous.spent = len(w.others) > 0
}

// noAnswer ends the wait for an answer about the window: the service gives none.
func (w *window) noAnswer() { w.previous.unknown = false }
