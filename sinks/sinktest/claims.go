package sinktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// The processes of the tests.
var (
	first  = sinks.Process{ID: "p-1", Name: "host-a, pid 1"}
	second = sinks.Process{ID: `p'"\2`, Name: "host-b\t🍕"}
)

// beat says that a process is alive and returns the claims, by source: the ids of
// the processes that claim it, the earliest first.
func beat(t *testing.T, s sinks.Sink, p sinks.Process, wants ...string) []sinks.Claim {
	t.Helper()
	claims, err := s.Beat(within(t), p, wants)
	if err != nil {
		t.Fatalf("beat of %s: %v", p.ID, err)
	}
	slices.SortFunc(claims, func(a, b sinks.Claim) int {
		if c := strings.Compare(a.Source, b.Source); c != 0 {
			return c
		}
		return a.Since.Compare(b.Since)
	})
	return claims
}

// expectClaims compares claims with texts of source and process, in order of
// source and then of age.
func expectClaims(t *testing.T, claims []sinks.Claim, want ...string) {
	t.Helper()
	var got []string
	for _, c := range claims {
		got = append(got, c.Source+" "+c.Process.ID)
		name := map[string]string{first.ID: first.Name, second.ID: second.Name}[c.Process.ID]
		if c.Process.Name != name || c.Since.IsZero() || c.BeatAt.IsZero() {
			t.Errorf("claim %+v: want the name %q and both times", c, name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("claims %q, want %q", got, want)
	}
}

func claimOf(claims []sinks.Claim, p sinks.Process, source string) sinks.Claim {
	i := slices.IndexFunc(claims, func(c sinks.Claim) bool { return c.Process.ID == p.ID && c.Source == source })
	if i < 0 {
		return sinks.Claim{}
	}
	return claims[i]
}

func testClaims(t *testing.T, h Harness) {
	a, b := open(t, h, Options{}), open(t, h, Options{})
	expectClaims(t, beat(t, b, second))
	begin := beat(t, a, first, "x", "y")
	expectClaims(t, begin, "x p-1", "y p-1")
	both := beat(t, b, second, "y", "z'\\\t")
	expectClaims(t, both, "x p-1", "y p-1", "y "+second.ID, "z'\\\t "+second.ID)
	again := beat(t, a, first, "x", "y")
	expectClaims(t, again, "x p-1", "y p-1", "y "+second.ID, "z'\\\t "+second.ID)
	was, is := claimOf(begin, first, "x"), claimOf(again, first, "x")
	if !is.Since.Equal(was.Since) || is.BeatAt.Before(was.BeatAt) {
		t.Errorf("a claim after another beat: %+v, before %+v", is, was)
	}
	expectClaims(t, beat(t, a, first, "x", "w"), "w p-1", "x p-1", "y "+second.ID, "z'\\\t "+second.ID)
	back := beat(t, a, first, "y", "x")
	expectClaims(t, back, "x p-1", "y "+second.ID, "y p-1", "z'\\\t "+second.ID)
	if got := claimOf(back, first, "y"); !got.Since.After(was.Since) {
		t.Errorf("a claim made again after it was given up counts since %s, the first since %s", got.Since, was.Since)
	}
	expectClaims(t, beat(t, b, second), "x p-1", "y p-1")
	expectClaims(t, beat(t, a, first))
	expectClaims(t, beat(t, b, second))

	many := make([]string, 2000)
	for n := range many {
		many[n] = fmt.Sprintf("source-%04d", n)
	}
	if got := beat(t, a, first, many...); len(got) != len(many) {
		t.Errorf("%d claims of %d sources", len(got), len(many))
	}
	expectClaims(t, beat(t, a, first))
}

// testSilence lets one process fall silent while the other beats on.
func testSilence(t *testing.T, h Harness) {
	a, b := open(t, h, Options{}), open(t, h, Options{})
	beat(t, a, first, "x")
	early := beat(t, b, second, "x")
	expectClaims(t, early, "x p-1", "x "+second.ID)
	h.Age(h.ClaimTimeout * 2 / 3)
	expectClaims(t, beat(t, b, second, "x"), "x p-1", "x "+second.ID)
	h.Age(h.ClaimTimeout * 2 / 3)
	alone := beat(t, b, second, "x")
	expectClaims(t, alone, "x "+second.ID)
	if age := alone[0].BeatAt.Sub(alone[0].Since); age < h.ClaimTimeout {
		t.Errorf("the claim of the one that beat on is %s old", age)
	}
	late := beat(t, a, first, "x")
	expectClaims(t, late, "x "+second.ID, "x p-1")
	if got := claimOf(late, first, "x"); got.BeatAt.Sub(got.Since) > h.ClaimTimeout/2 {
		t.Errorf("the claim of the one that came back counts since %s", got.Since)
	}
	// All silent: who comes first is first.
	h.Age(2 * h.ClaimTimeout)
	expectClaims(t, beat(t, a, first, "x"), "x p-1")
	expectClaims(t, beat(t, b, second, "x"), "x p-1", "x "+second.ID)
	// A process that left while it was silent does not keep its claims.
	h.Age(2 * h.ClaimTimeout)
	expectClaims(t, beat(t, a, first))
	expectClaims(t, beat(t, b, second, "x"), "x "+second.ID)
	expectClaims(t, beat(t, a, first, "x"), "x "+second.ID, "x p-1")
}

// testLongLife lets days pass, beat by beat.
func testLongLife(t *testing.T, h Harness) {
	s := open(t, h, Options{})
	beat(t, s, first, "x")
	var lived time.Duration
	for lived < 50*time.Hour {
		h.Age(h.ClaimTimeout * 3 / 4)
		lived += h.ClaimTimeout * 3 / 4
		claims := beat(t, s, first, "x")
		expectClaims(t, claims, "x p-1")
		if age := claims[0].BeatAt.Sub(claims[0].Since); age < lived {
			t.Fatalf("after %s the claim is %s old", lived, age)
		}
	}
}
