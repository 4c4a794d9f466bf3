package budget

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAKeyThatComesBackHasNotForgottenWhatItSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{})
		a, b := l.Key("a", 1), l.Key("b", 0.5)
		limits := Limits{PerMinute: 100, BusinessPerMinute: 300, HeavyPerMinute: 20}
		a.SetLimits(limits, "one")
		b.SetLimits(limits, "one")
		under := acquire(t, a, Fresh, false)
		l.Forget("a")
		time.Sleep(3 * time.Minute)
		under.Done(silentOK)
		time.Sleep(30 * time.Second)
		if l.Key("a", 1) != a || a.Usage().Key.Used != 1 {
			t.Fatalf("after half a minute: %+v", a.Usage())
		}
		time.Sleep(10 * time.Minute)
		if l.Key("a", 1) != a {
			t.Fatal("a key that came back was dropped")
		}
		l.Forget("a")
		if l.Key("a", 1) == a {
			t.Fatal("a key of which nothing counts is remembered")
		}
	})
}

func TestTheShareOfARestaurantIsThatOfTheKeysItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Options{})
		a, b := l.Key("a", 1), l.Key("b", 0.5)
		for _, k := range []*Key{a, b} {
			k.SetLimits(Limits{PerMinute: 10, BusinessPerMinute: 10, HeavyPerMinute: 10}, "one")
		}
		share := func() int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return b.business.limit.share
		}
		if got := share(); got != 10 {
			t.Errorf("with both keys %d of the restaurant's 10", got)
		}
		l.Key("b", 0.8)
		if got := b.all.share; got != 8 {
			t.Errorf("share 0.8 of the key's 10 is %d", got)
		}
		acquire(t, a, Fresh, false).Done(silentOK)
		l.Forget("a")
		if got := share(); got != 8 {
			t.Errorf("without the key that had all: %d", got)
		}
		if l.Key("a", 1) != a || share() != 10 {
			t.Errorf("with both keys again: %d", share())
		}
	})
}
