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
				if err != nil {
					time.Sleep(time.Second / 4)
					continue
				}
				mu.Lock()
				looked++
				mu.Unlock()
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
		time.Sleep(guessEvery)
		if right, err := p.Right(t.Context(), "192.0.2.1:1000", "me", "hunter2"); !right || err != nil {
			t.Errorf("the right one after an attack from its address: %v, %v", right, err)
		}
	})
}

// Each process of this machine can send from all of 127.0.0.0/8.
func TestLoopbackIsOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, compared := NewPasswords("me", "hunter2"), 0
		for i := range 100 {
			right, err := p.Right(t.Context(), fmt.Sprintf("127.0.%d.1:1000", i), "me", fmt.Sprint("guess ", i))
			if right {
				t.Fatal("a guess was right")
			}
			if err == nil {
				compared++
			}
		}
		if compared != freeGuesses {
			t.Errorf("%d of 100 guesses were compared", compared)
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
		time.Sleep(guessEvery / 2)
		for _, password := range []string{"hunter2", "x"} {
			var tooMany *TooManyError
			if right, err := p.Right(t.Context(), from, "me", password); right || !errors.As(err, &tooMany) || tooMany.Wait != guessEvery {
				t.Errorf("within half a second: %v, %v", right, err)
			}
		}
		time.Sleep(guessEvery / 2)
		if right, err := p.Right(t.Context(), from, "me", "hunter2"); !right || err != nil {
			t.Errorf("a second later: %v, %v", right, err)
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
