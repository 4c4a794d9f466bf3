package inbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// attack guesses from many connections at once and returns how many guesses were
// looked at.
func attack(p *Passwords, remote string, d time.Duration) int {
	var mu sync.Mutex
	var group sync.WaitGroup
	looked, stop := 0, time.Now().Add(d)
	for i := range 50 {
		group.Go(func() {
			for n := 0; time.Now().Before(stop); n++ {
				right, err := p.Right(context.Background(), remote, "me", fmt.Sprint("guess ", i, n))
				if right {
					panic("a guess was right")
				}
				if err == nil {
					mu.Lock()
					looked++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return looked
}

func TestGuessesAreSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords("me", "hunter2")
		if looked := attack(p, "192.0.2.1:1000", time.Minute); looked < freeGuesses || looked > freeGuesses+64 {
			t.Errorf("%d guesses were looked at in a minute", looked)
		}
		if right, err := p.Right(t.Context(), "192.0.2.2:1000", "me", "hunter2"); !right || err != nil {
			t.Errorf("another address: %v, %v", right, err)
		}
		begun := time.Now()
		if right, err := p.Right(t.Context(), "192.0.2.1:1000", "me", "hunter2"); !right || err != nil || time.Since(begun) > 2*guessEvery {
			t.Errorf("the right one after an attack from its address: %v, %v after %s", right, err, time.Since(begun))
		}
	})
}

// Each process of this machine can send from all of 127.0.0.0/8.
func TestLoopbackIsOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, begun := NewPasswords("me", "hunter2"), time.Now()
		for i := range 100 {
			if right, err := p.Right(t.Context(), fmt.Sprintf("127.0.%d.1:1000", i), "me", fmt.Sprint("guess ", i)); right || err != nil {
				t.Fatal(right, err)
			}
		}
		if took, least := time.Since(begun), (100-freeGuesses-1)*guessEvery; took < least {
			t.Errorf("100 guesses took %s, want %s", took, least)
		}
	})
}

// An address with no guess left gets no answer about a password, not even about the right one.
func TestAnAddressWithoutGuessesIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords("me", "hunter2")
		const from = "192.0.2.1:1"
		for i := range freeGuesses {
			if right, err := p.Right(t.Context(), from, "me", fmt.Sprint(i)); right || err != nil {
				t.Fatal(right, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), guessEvery/2)
		defer cancel()
		if right, err := p.Right(ctx, from, "me", "hunter2"); right || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("within half a second: %v, %v", right, err)
		}
		if right, err := p.Right(t.Context(), from, "me", "hunter2"); !right || err != nil {
			t.Errorf("a second later: %v, %v", right, err)
		}
	})
}

// While somebody guesses without a pause, the right password has its turns from the same address.
func TestTheRightPasswordIsAdmittedDuringAnAttack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords("me", "hunter2")
		const from, tries, on = "192.0.2.1:1", 60, 30 * time.Millisecond // an answer takes so long
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		defer group.Wait()
		defer cancel()
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if right, _ := p.Right(ctx, from, "me", fmt.Sprint("guess ", n)); right {
					panic("a guess was right")
				}
				time.Sleep(on)
			}
		})
		admitted := 0
		for range tries {
			time.Sleep(1370 * time.Millisecond)
			right, err := p.Right(t.Context(), from, "me", "hunter2")
			var tooMany *TooManyError
			if !right && !errors.As(err, &tooMany) {
				t.Fatal(right, err)
			}
			if right {
				admitted++
			}
		}
		if admitted < tries/3 {
			t.Errorf("admitted %d times of %d", admitted, tries)
		}
	})
}

func TestWhoKnowsThePasswordIsNotLockedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords("me", "hunter2")
		established := withProven(t.Context(), nil)
		if right, err := p.Right(established, "192.0.2.1:1", "me", "hunter2"); !right || err != nil {
			t.Fatal(right, err)
		}
		var group sync.WaitGroup
		defer group.Wait()
		group.Go(func() { attack(p, "192.0.2.1:2", 30*time.Second) })
		for range 20 {
			time.Sleep(time.Second)
			begun := time.Now()
			if right, err := p.Right(established, "192.0.2.1:1", "me", "hunter2"); !right || err != nil || time.Since(begun) > 0 {
				t.Fatalf("beside an attack from its address: %v, %v after %s", right, err, time.Since(begun))
			}
		}
		// A wrong one ends what the connection has earned.
		if right, _ := p.Right(established, "192.0.2.1:1", "me", "x"); right {
			t.Error("a wrong one was right")
		}
		if established.Value(provenKey{}).(*atomic.Bool).Load() {
			t.Error("a connection guesses for nothing")
		}
	})
}

// A program with an old password in its configuration costs one guess.
func TestTheSameWrongOneIsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPasswords("me", "hunter2")
		for range 1000 {
			if right, err := p.Right(t.Context(), "192.0.2.1:1", "me", "of last year"); right || err != nil {
				t.Fatal(right, err)
			}
		}
		begun := time.Now()
		if right, err := p.Right(t.Context(), "192.0.2.1:2", "me", "hunter2"); !right || err != nil || time.Since(begun) > 0 {
			t.Errorf("%v, %v after %s", right, err, time.Since(begun))
		}
	})
}

func TestAddressesAreBounded(t *testing.T) {
	p := NewPasswords("me", "hunter2")
	for i := range 3 * guessAddresses {
		address := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if right, err := p.Right(t.Context(), netip.AddrPortFrom(address, 1).String(), "me", "x"); right || err != nil {
			t.Fatal(right, err)
		}
	}
	if n := p.guessers.Len(); n > guessAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}

func TestAddressOf(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:5": "192.0.2.1/32", "[::ffff:192.0.2.1]:5": "192.0.2.1/32",
		"127.0.0.1:5": "127.0.0.0/8", "127.200.3.4:5": "127.0.0.0/8", "[::ffff:127.9.9.9]:5": "127.0.0.0/8", "[::1]:5": "::/64",
		"[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::/64", "[fe80::1%eth0]:5": "fe80::/64", "pipe": "invalid Prefix",
	} {
		if got := AddressOf(remote).String(); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
