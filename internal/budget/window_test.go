package budget

import (
	"testing"
	"time"
)

const second = time.Second

// filled is a window of limit requests a minute; of those sent, each stops counting at one of
// these seconds.
func filled(limit int, until ...float64) *window {
	w := newWindow(limit, 1)
	for _, s := range until {
		w.add(instant(s * float64(second)))
	}
	return w
}

// evenly is a window of which n requests stop counting one by one, from the first second on.
func evenly(limit, n int, first, apart float64) *window {
	w := newWindow(limit, 1)
	for i := range n {
		w.add(instant((first + float64(i)*apart) * float64(second)))
	}
	return w
}

// leaves is the step of a lane where the limit is what it was taken to be.
func leaves(lane Lane, limit int) time.Duration { return newWindow(limit, 1).step(lane, limit) }

func with(w *window, change func(*window)) *window {
	change(w)
	return w
}

func TestWhenARequestMayBeSent(t *testing.T) {
	const now = 100 * second
	// heir follows a process: it asked at 92 s, and the answer showed how much was spent.
	heir := func(remaining int) *window {
		w := newWindow(120, 1)
		w.begin(90 * second)
		w.inFlight++
		w.answered(93*second, 0)
		w.observe(93*second, 92*second, remaining)
		w.accepted(92 * second)
		return w
	}
	cases := []struct {
		name     string
		w        *window
		fresh    instant // when one of the lane Fresh may be sent; 0: now
		backfill instant // and one of the lane Backfill
	}{
		{"empty", filled(2), 0, 0},
		{"one left", filled(2, 110), 0, 0},
		{"one left, the next is far", filled(2, 155), 0, 155*second - leaves(Backfill, 2) + ahead},
		{"used up", filled(2, 110, 120), 110 * second, 110 * second},
		{"a lowered limit", with(filled(4, 110, 120, 130), func(w *window) { w.setLimit(2, 1) }), 120 * second, 120 * second},
		{"under way counts", with(filled(2, 110), func(w *window) { w.inFlight = 1 }), 110 * second, never},
		{"all under way", with(filled(2), func(w *window) { w.inFlight = 2 }), never, never},
		{"a share is used up", with(filled(4, 110, 120), func(w *window) { w.setLimit(4, 0.5) }), 110 * second, 110 * second},
		{"others count", with(filled(2, 110), func(w *window) { w.others, w.othersUntil = 1, 105*second }), 105 * second, 105 * second},
		{"others count longer", with(filled(2, 110), func(w *window) { w.others, w.othersUntil = 1, 125*second }), 110 * second, 110 * second},
		{"others' use was seen some time ago", with(filled(5, 110), func(w *window) { w.others, w.othersUntil = 3, 99*second }), 0, 0},
		{"half of it counts", with(filled(5, 110, 111, 112), func(w *window) { w.others, w.othersUntil = 2, 99*second }), 110 * second, 110 * second},
		{"others use all: one is left", with(filled(2), func(w *window) { w.others, w.othersUntil = 2, 125*second }), 0, 0},
		{"and no second one", with(filled(2, 155), func(w *window) { w.others, w.othersUntil = 2, 175*second }), 155 * second, 155 * second},
		{"others use what is not our share", with(filled(4, 110), func(w *window) { w.setLimit(4, 0.5); w.others, w.othersUntil = 2, 125*second }), 0, 0},
		{"paused", with(filled(2), func(w *window) { w.pausedUntil = 140 * second }), 140 * second, 140 * second},
		{"pause over", with(filled(2), func(w *window) { w.pausedUntil = now }), 0, 0},
		{"alone after a 429", with(filled(9), func(w *window) { w.unsure = true }), 0, 0},
		{"not beside another", with(filled(9), func(w *window) { w.unsure, w.refusedAt, w.inFlight = true, 99*second, 1 }), never, never},
		{"answers about another limit show that more is left", with(filled(9), func(w *window) { w.begin(90 * second); w.inFlight, w.proven = 1, 1 }), 0, never},

		{"evenly spread", evenly(120, 119, 100.1, 0.5), 0, 0},
		{"the next one is not there soon enough", evenly(120, 119, 100.3, 0.5), 0, 100300*time.Millisecond - leaves(Backfill, 120) + ahead},
		{"a gap of a second", evenly(120, 119, 101, 0.49), 0, 0},
		{"half of it in one burst", evenly(120, 60, 155, 0), 0, 0},
		{"half of it in one burst, and one just sent", with(evenly(120, 60, 155, 0), func(w *window) { w.add(99900*time.Millisecond + cycle) }), 0, 99900*time.Millisecond + 55*second/59},
		{"nearly all of it in one burst", evenly(120, 110, 155, 0), 155*second - 10*leaves(Fresh, 120), 155*second - 10*leaves(Backfill, 120) + ahead},
		{"a burst under a lowered limit", with(evenly(120, 45, 155, 0), func(w *window) { w.setLimit(60, 1) }), 155*second - 15*leaves(Fresh, 120), 155*second - 15*leaves(Backfill, 60) + ahead},
		{"a burst under a raised limit", with(evenly(120, 590, 155, 0), func(w *window) { w.setLimit(600, 1) }), 155*second - 10*leaves(Fresh, 600), 155*second - 10*leaves(Backfill, 600) + ahead},
		{"a burst under a very low limit", with(evenly(120, 10, 155, 0), func(w *window) { w.setLimit(20, 1) }), 155*second - 10*leaves(Backfill, 20), 155*second - 10*leaves(Backfill, 20) + ahead},
		{"a burst behind others that stop counting soon", with(evenly(120, 100, 155, 0), func(w *window) { w.add(101 * second) }), 0, 0},
		{"much under way", with(filled(120), func(w *window) { w.inFlight = 100 }), 0, never},
		{"too much under way", with(filled(120), func(w *window) { w.inFlight = 101 }), never, never},

		{"a process before: not yet", with(filled(120), func(w *window) { w.begin(103 * second) }), 103 * second, 103 * second},
		{"a process before: the first", with(filled(120), func(w *window) { w.begin(90 * second) }), 0, 0},
		{"a process before: no second beside it", with(filled(120), func(w *window) { w.begin(90 * second); w.inFlight = 1 }), 90*second + cycle, 90*second + cycle},
		{"a process before: a minute ago, and nothing was answered", with(filled(120), func(w *window) { w.begin(30 * second); w.inFlight = 1 }), 0, 0},
		{"it spent nothing", heir(119), 0, 0},
		{"it spent half", heir(59), 0, 0},
		{"it spent half, and one was just sent", with(heir(59), func(w *window) { w.add(99*second + cycle) }), 0, 0},
		{"it spent nearly all: one at each step", heir(3), 0, 0},
		{"and not sooner", with(heir(3), func(w *window) { w.add(98*second + cycle) }), 98*second + leaves(Fresh, 120), 98*second + leaves(Fresh, 120)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for lane, want := range map[Lane]instant{Fresh: c.fresh, Backfill: c.backfill} {
				if got := c.w.opens(now, lane); got != max(want, now) {
					t.Errorf("%s: at %s, want %s", lane, got, max(want, now))
				}
			}
		})
	}
}

func TestOthersAreSeen(t *testing.T) {
	const now = 200 * second
	cases := []struct {
		name      string
		w         *window
		remaining int
		others    int
		later     int
	}{
		{"all explained", filled(10, 210, 220, 230), 7, 0, 0},
		{"more is left than we think", filled(10, 210, 220, 230), 9, 0, 0},
		{"less is left than we think", filled(10, 210, 220, 230), 5, 2, 2},
		{"still under way", with(filled(10, 210), func(w *window) { w.inFlight = 2 }), 7, 0, 0},
		{"stopped counting meanwhile", filled(10, 199.5, 199.6, 210), 7, 0, 0},
		{"had stopped counting before", filled(10, 198.5, 198.6, 210), 7, 2, 2},
		{"known already", with(filled(10, 210), func(w *window) { w.others, w.othersUntil = 5, 250*second }), 7, 5, 2},
		{"more was known long ago", with(filled(10, 210), func(w *window) { w.others, w.othersUntil = 6, 199*second }), 7, 3, 2},
		{"nonsense", filled(10), -90, 10, 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.w.observe(now, now-second, c.remaining)
			if got := c.w.theirs(now); got != c.others {
				t.Errorf("others use %d, want %d", got, c.others)
			}
			if got := c.w.theirs(now + courtesy); got != c.later {
				t.Errorf("others use %d later, want %d", got, c.later)
			}
			if got := c.w.theirs(now + 2*courtesy); got != c.later/2 {
				t.Errorf("others use %d after that, want half of %d", got, c.later)
			}
			if got := c.w.theirs(now + time.Hour); got != 0 {
				t.Errorf("others use %d an hour later", got)
			}
		})
	}
}

func TestOthersNeverTakeMoreThanThereIs(t *testing.T) {
	w := filled(10)
	for range 5 {
		w.refuse(second, second, 2*second)
		w.observe(second, second, 0)
	}
	if w.theirs(second) != 10 || w.opens(2*second, Probe) != 2*second {
		t.Errorf("others use %d of 10; the next request at %s", w.theirs(second), w.opens(2*second, Probe))
	}
}

func TestOthersAreLeftMoreThanTheyUse(t *testing.T) {
	cases := []struct {
		limit  int
		share  float64
		others int
		most   int // of Larder
	}{
		{120, 1, 0, 120},
		{120, 1, 10, 100},
		{120, 1, 40, 40},
		{120, 1, 60, 30},
		{120, 1, 90, 15},
		{120, 1, 119, 1},
		{120, 1, 120, 1},
		{120, 0.5, 60, 60}, // half of the limit is theirs already
		{120, 0.5, 70, 40},
		{120, 0.5, 90, 15},
		{120, 0.25, 90, 30},
		{3, 1, 1, 1},
		{2, 1, 1, 1},
		{1, 1, 0, 1},
		{1, 1, 1, 1},
	}
	for _, c := range cases {
		w := newWindow(c.limit, c.share)
		w.noteOthers(second, c.others)
		if got := w.most(second); got != c.most {
			t.Errorf("of %d (share %v), of which others use %d, %d are Larder's, want %d", c.limit, c.share, c.others, got, c.most)
		}
	}
}

func TestOnlyAnAnswerToALaterRequestProvesWhatIsLeftAfterA429(t *testing.T) {
	w := filled(9)
	w.begin(0)
	w.refuse(2*second, second, 3*second)
	w.prove(second, 8)
	if w.proven > 0 {
		t.Errorf("%d are proven by an answer to a request from before", w.proven)
	}
	w.prove(4*second, 8)
	if w.proven != 4 {
		t.Errorf("%d are proven, want 4", w.proven)
	}
}

// TestInherit has answers show, one by one, what a process before has spent.
func TestInherit(t *testing.T) {
	cases := []struct {
		name            string
		remaining, left []int // by answer, one each second, one request under way
	}{
		{"nothing was spent", []int{119}, []int{0}},
		{"much was", []int{49}, []int{70}},
		{"all but one was", []int{0}, []int{119}},
		{"some stops counting", []int{49, 58}, []int{70, 60}},
		{"a fixed minute ends", []int{49, 119}, []int{70, 0}},
		{"more arrives late", []int{49, 44}, []int{70, 74}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWindow(120, 1)
			w.begin(0)
			now := instant(0)
			for i, remaining := range c.remaining {
				now += second
				w.inFlight++
				w.answered(now, 0)
				w.observe(now, now-second/2, remaining)
				if got := w.ours(now) - i - 1; got != c.left[i] {
					t.Errorf("answer %d: %d are the process before's, want %d", i, got, c.left[i])
				}
			}
			if got := w.ours(cycle); got != len(c.remaining) || w.theirs(now) != 0 {
				t.Errorf("a minute later %d count, want %d", got, len(c.remaining))
			}
		})
	}
	t.Run("a request that was not answered first", func(t *testing.T) {
		w := newWindow(120, 1)
		w.begin(0)
		w.inFlight = 2
		w.answered(2*second, 0) // the service may not have counted the one under way
		w.observe(2*second, second, 50)
		if got := w.ours(2 * second); got != 2+69 {
			t.Errorf("%d count, want the two and 69", got)
		}
	})
}
