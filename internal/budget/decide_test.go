package budget

import (
	"testing"
	"time"
)

// sec makes instants of seconds.
func sec(seconds ...float64) []instant {
	out := make([]instant, len(seconds))
	for i, s := range seconds {
		out[i] = instant(s * float64(time.Second))
	}
	return out
}

// filled is a window of limit places, with a cycle of a minute sharp, whose own
// places come back at the given seconds.
func filled(limit int, back ...float64) *window {
	w := newWindow(limit, 1, 0)
	w.own = sec(back...)
	return w
}

// heir is a window that began at 90 s and ends its care at 150 s.
func heir(limit int) *window {
	w := newWindow(limit, 1, 0)
	w.begin(90 * time.Second)
	return w
}

// spentBefore is one of which so many places were found to be spent before, one of
// its own having been used to ask.
func spentBefore(limit, spent int, lastPaced instant) *window {
	w := heir(limit)
	w.own = sec(155)
	w.chargePrevious(95*time.Second, spent, 0, limit-spent-1)
	w.lastPaced = lastPaced
	return w
}

func with(w *window, change func(*window)) *window {
	change(w)
	return w
}

func TestDecide(t *testing.T) {
	const now = 100 * time.Second
	room, full := filled(2), filled(2, 110, 120)
	cases := []struct {
		name    string
		windows []*window
		paced   bool
		again   instant // 0: now
	}{
		{"empty", []*window{room}, false, 0},
		{"one place left", []*window{filled(2, 110)}, false, 0},
		{"full", []*window{full}, false, 110 * time.Second},
		{"all of them must have room", []*window{room, full}, false, 110 * time.Second},
		{"the longest wait counts", []*window{full, filled(1, 130), room}, false, 130 * time.Second},
		{"under way counts", []*window{with(filled(2, 110), func(w *window) { w.inFlight = 1 })}, false, 110 * time.Second},
		{"all under way", []*window{with(filled(2), func(w *window) { w.inFlight = 2 })}, false, never},
		{"others count", []*window{with(filled(2, 110), func(w *window) { w.others = sec(105) })}, false, 105 * time.Second},
		{"a share is full", []*window{with(filled(4, 110, 120), func(w *window) { w.setLimit(4, 0.5) })}, false, 110 * time.Second},
		{"others use what is not our share", []*window{with(filled(4, 110), func(w *window) { w.setLimit(4, 0.5); w.others = sec(105, 106) })}, false, 0},
		{"a lowered limit", []*window{with(filled(4, 110, 120, 130), func(w *window) { w.setLimit(2, 1) })}, false, 110 * time.Second},
		{"paused", []*window{with(filled(2), func(w *window) { w.pausedUntil = 140 * time.Second })}, false, 140 * time.Second},
		{"pause over", []*window{with(filled(2), func(w *window) { w.pausedUntil = now })}, false, 0},
		{"alone after a 429", []*window{with(filled(9), func(w *window) { w.alone = true })}, false, 0},
		{"not alone", []*window{with(filled(9), func(w *window) { w.alone, w.inFlight = true, 1 })}, false, never},
		{"paced, long ago", []*window{filled(2)}, true, 0},
		{"paced, just now", []*window{with(filled(2), func(w *window) { w.lastPaced = now })}, true, now + 30*time.Second},
		{"unknown past: the first alone", []*window{heir(120)}, false, 0},
		{"unknown past: no second beside it", []*window{with(heir(120), func(w *window) { w.inFlight = 1 })}, false, 150 * time.Second},
		{"unknown past, a minute later", []*window{with(heir(120), func(w *window) { w.inFlight = 1; w.previous.until = now })}, false, 0},
		{"a process before: the first waits", []*window{with(heir(120), func(w *window) { w.assumeSpent(now) })}, false, now + 3*time.Second},
		{"a process before: the first heavy one longer", []*window{with(heir(30), func(w *window) { w.assumeSpent(now) })}, false, now + 12*time.Second},
		{"it left much: all are paced", []*window{spentBefore(120, 40, now)}, false, now + time.Minute/59},
		{"it left the reserve", []*window{spentBefore(120, 100, now)}, false, now + 3*time.Second},
		{"it left much, some time ago", []*window{spentBefore(120, 40, now-2*time.Second)}, false, 0},
		{"all it spent came back", []*window{with(spentBefore(120, 40, now), func(w *window) { w.previous.until = now; w.others = nil })}, false, 0},
		{"a burst leaves the reserve", []*window{with(heir(12), func(w *window) {
			w.previous.until = 0
			w.own = sec(160, 160, 160, 160, 160, 160, 160, 160, 160, 160)
			w.lastPaced = now
		})}, false, now + 30*time.Second},
		{"not paced, just now", []*window{with(filled(2), func(w *window) { w.lastPaced = now })}, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ok, again := decide(now, c.paced, c.windows)
			if ok != (c.again == 0) || !ok && again != c.again {
				t.Errorf("ok %v, look again at %s, want %s", ok, again, c.again)
			}
		})
	}
}

func TestPace(t *testing.T) {
	const now = 100 * time.Second
	cases := []struct {
		name string
		w    *window
		rate float64 // places a second
	}{
		{"empty: the limit over a minute", filled(120), 2},
		{"half used at once, back at the end", filled(4, 160, 160), 2.0 / 60},
		{"half used at once, back soon", filled(4, 101, 101), 4.0 / 60},
		{"one free, the next in ten seconds", filled(10, 110, 111, 111, 111, 111, 111, 111, 111, 111), 0.1},
		{"one free, the next at once, then none for long", filled(3, 101, 150), 2.0 / 50},
		{"the tightest stretch counts", filled(5, 110, 115, 160), 4.0 / 60},
		{"under way may come back late", with(filled(3, 110), func(w *window) { w.inFlight = 1 }), 0.05},
		{"others' places are not ours to spread", with(filled(6), func(w *window) { w.others = sec(110, 110, 110) }), 3.0 / 60},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.w.rate(now); got < 0.985*c.rate || got > 1.015*c.rate {
				t.Errorf("rate %.4f/s, want %.4f/s", got, c.rate)
			}
			c.w.lastPaced = now
			due := pace(c.w, now)
			want := min(now+time.Duration(float64(time.Second)/c.rate), c.w.nextPlace())
			if d := due - want; d < -want/50 || d > want/50 {
				t.Errorf("due at %s, want %s", due, want)
			}
		})
	}
}

func TestALateRequestIsMadeUpFor(t *testing.T) {
	const now = 100 * time.Second
	cases := []struct {
		name       string
		last, want instant // when the one before was due, when this one was
	}{
		{"in time", 99 * time.Second, now},
		{"a little late", 98500 * time.Millisecond, 99500 * time.Millisecond},
		{"very late", 40 * time.Second, 99500 * time.Millisecond},
	}
	for _, c := range cases {
		w := with(filled(60), func(w *window) { w.lastPaced = c.last }) // one a second
		w.take(now, true)
		if w.lastPaced != c.want {
			t.Errorf("%s: was due at %s, want %s", c.name, w.lastPaced, c.want)
		}
	}
}

func TestOthersAreSeen(t *testing.T) {
	const now = 200 * time.Second
	cases := []struct {
		name      string
		w         *window
		remaining int
		gone      uint64
		others    int
	}{
		{"all explained", filled(10, 210, 220, 230), 7, 0, 0},
		{"more room than we think", filled(10, 210, 220, 230), 9, 0, 0},
		{"less room than we think", filled(10, 210, 220, 230), 5, 0, 2},
		{"still under way", with(filled(10, 210), func(w *window) { w.inFlight = 2 }), 7, 0, 0},
		{"came back meanwhile", with(filled(10, 210), func(w *window) { w.gone = 6 }), 7, 4, 0},
		{"known already", with(filled(10, 210), func(w *window) { w.others = sec(300, 300) }), 7, 0, 0},
		{"fell by one, which is ours", fallen(97, 0), 96, 0, 0},
		{"fell by three, one is ours", fallen(97, 0), 94, 0, 2},
		{"fell by three, two more are under way", fallen(97, 2), 94, 0, 0},
		{"overlaps the answer before", with(fallen(97, 0), func(w *window) { w.last.at = 199500 * time.Millisecond }), 94, 0, 0},
		{"long after the answer before", with(fallen(97, 0), func(w *window) { w.last.sent = 130 * time.Second }), 88, 0, 0},
		{"rose", fallen(90, 0), 98, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			known := len(c.w.others)
			c.w.observe(now, now-time.Second, c.gone, 0, c.remaining)
			if got := len(c.w.others) - known; got != c.others {
				t.Errorf("%d others seen, want %d", got, c.others)
			}
		})
	}
}

// fallen is a window of a service whose minute began lately: of our twelve it
// counts few. The answer before said seen; it was sent at 190 s and came at 195.
func fallen(seen, underWay int) *window {
	w := filled(100, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 255, 260)
	w.last, w.inFlight = sight{true, seen, 190 * time.Second, 195 * time.Second}, underWay
	return w
}

func TestOthersNeverTakeMoreThanThereIs(t *testing.T) {
	w := filled(10)
	for range 5 {
		w.refuse(time.Second, 2*time.Second)
		w.observe(time.Second, time.Second, 0, 0, 0)
	}
	if len(w.others) != 10 || w.free() != 0 {
		t.Errorf("%d of 10 places given to others, %d free", len(w.others), w.free())
	}
}
