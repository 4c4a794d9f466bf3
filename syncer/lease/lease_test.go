package lease

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// beats is a warehouse that refuses a beat whose context has ended, as a connection does.
type beats struct {
	made  time.Time // every claim
	wants [][]string
}

func (b *beats) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	b.wants = append(b.wants, wants)
	var claims []sinks.Claim
	for _, source := range wants {
		claims = append(claims, sinks.Claim{Source: source, Process: p, Since: b.made, BeatAt: time.Now()})
	}
	return claims, nil
}

func (b *beats) MaxVersion(ctx context.Context) (uint64, error) { return 0, ctx.Err() }

// nobody is an owner whose sources are never at work.
type nobody struct{}

func (nobody) Lost(string, error) {}
func (nobody) AtWork(string) bool { return false }
func (nobody) StartAbove(uint64)  {}

// slow is an owner whose last commit becomes durable late.
type slow struct {
	nobody
	until time.Time
}

func (s slow) AtWork(string) bool { return time.Now().Before(s.until) }

// TestEnteringBehindOneThatLeaves: a run that begins while another still waits for what it wrote
// takes over what that held, and ends its waiting. A run whose rows never become durable is
// waited for as long as a lease lasts.
func TestEnteringBehindOneThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warehouse := &beats{made: time.Now()}
		l := New(sinks.Process{ID: "m"}, warehouse, slow{until: time.Now().Add(time.Hour)}, slog.New(slog.DiscardHandler))
		a := func() []string { return []string{"a"} }
		leave := l.Enter(t.Context(), a)
		time.Sleep(time.Minute)
		var leaving sync.WaitGroup
		began := time.Now()
		leaving.Go(leave)
		time.Sleep(time.Second)
		leave = l.Enter(t.Context(), a)
		leaving.Wait()
		if err := l.Check("a"); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		began = time.Now()
		leave()
		if took := time.Since(began); took < Lasts || took > Lasts+beatSoon {
			t.Errorf("the last one left after %s", took)
		}
		if last := warehouse.wants[len(warehouse.wants)-1]; len(last) != 1 || l.Check("a") == nil {
			t.Errorf("what is not durable is given back, or held still: %q", last)
		}
	})
}

// TestTheEndOfARunEndsNoLease: a run leaves after its context has ended. What it held is
// given back then, and what another run holds beside it stays held until that leaves.
func TestTheEndOfARunEndsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warehouse := &beats{made: time.Now()}
		l := New(sinks.Process{ID: "m"}, warehouse, nobody{}, slog.New(slog.DiscardHandler))
		one, end := context.WithCancel(t.Context())
		leaveOne := l.Enter(one, func() []string { return []string{"a"} })
		other, endOther := context.WithCancel(t.Context())
		leaveOther := l.Enter(other, func() []string { return []string{"b"} })
		time.Sleep(time.Minute)
		end()
		leaveOne()
		time.Sleep(time.Minute)
		if err := l.Check("b"); err != nil {
			t.Errorf("a minute after the end of the run beside it: %v", err)
		}
		endOther()
		leaveOther()
		if last := warehouse.wants[len(warehouse.wants)-1]; len(last) > 0 {
			t.Errorf("still claimed at the end: %q", last)
		}
	})
}
