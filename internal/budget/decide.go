package budget

import "time"

// never is an instant that does not come by itself: an answer, a new limit or a
// place given back must come first.
const never = instant(1<<63 - 1)

// decide returns ok when a request that counts in all of windows may be sent now, and
// else when to look again. It changes nothing. The windows must have been expired at now.
func decide(now instant, paced bool, windows []*window) (ok bool, again instant) {
	for _, w := range windows {
		at := w.opens(now)
		if at <= now && (paced || w.pacesAll(now)) {
			at = pace(w, now)
		}
		again = max(again, at)
	}
	return again <= now, again
}

// opens is when the window has room, now or later.
func (w *window) opens(now instant) instant {
	switch {
	case w.pausedUntil > now:
		return w.pausedUntil
	case w.alone && w.inFlight > 0:
		return never
	case w.oneByOne(now) && w.inFlight > 0:
		return w.previous.until
	case w.free() > 0:
		return now
	}
	return w.nextPlace()
}

// nextPlace is when the next place comes back.
func (w *window) nextPlace() instant {
	next := never
	if len(w.own) > 0 {
		next = w.own[0]
	}
	if len(w.others) > 0 {
		next = min(next, w.others[0])
	}
	return next
}

// pace is when a paced lane may take the next place of a window that has room.
//
// Of the places free now and those that come back it takes the steepest even
// rate that never runs out: for each place to come, what is there before it must
// last until it comes. A hole after someone's burst is thus bridged, and the
// whole limit is used all the same.
func pace(w *window, now instant) instant {
	due := w.lastPaced + w.interval(now)
	if due <= now {
		return now
	}
	return min(due, w.nextPlace())
}

// interval is the time between two paced requests at the present rate.
func (w *window) interval(now instant) time.Duration {
	if w.previousSpent(now) {
		return w.pause()
	}
	return time.Duration(float64(time.Second) / w.rate(now))
}

// credit is how much of an interval a request that comes late is dated back, so
// that the next one makes up for it: a request whose window has room may still
// wait for a place in another. Measured over hours with answers taking 0.1 to 0.6
// seconds: without it 98.3 % of a limit are used, with it 98.6 %. Much more, and
// holes are no longer closed: fresh requests then wait for seconds.
const credit = 0.5

// tick moves the rhythm on by a request that goes now.
func (w *window) tick(now instant) {
	if w.previousSpent(now) {
		w.lastPaced = now
		return
	}
	interval := w.interval(now)
	back := time.Duration(float64(interval) * credit)
	w.lastPaced = min(now, max(w.lastPaced+interval, now-back))
}

// rate is that rate, in places a second; there must be a free one. Once what
// remains to be looked at can lower it by a hundredth at most, it stands.
func (w *window) rate(now instant) float64 {
	free, cycle := w.free(), w.cycle.Seconds()
	rate := float64(free+len(w.own)+w.inFlight) / cycle
	for j, at := range w.own {
		there := float64(free + j)
		if there/cycle >= 0.99*rate {
			break
		}
		rate = min(rate, there/(at-now).Seconds())
	}
	return rate
}
