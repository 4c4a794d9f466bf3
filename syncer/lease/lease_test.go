package lease

import (
	"context"
	"errors"
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

func (nobody) Lost(string, error)                    {}
func (nobody) AtWork(string) bool                    { return false }
func (nobody) Flushed(string) (*sinks.Receipt, bool) { return nil, false }
func (nobody) StartAbove(uint64)                     {}
func (nobody) Looked()                               {}

func enter(ctx context.Context, t *testing.T, l *Leases, sources ...string) (leave func()) {
	t.Helper()
	leave, err := l.Enter(ctx, func() []string { return sources })
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

// slow is an owner whose last commit becomes durable late.
type slow struct {
	nobody
	last *sinks.Receipt
}

func (s slow) Flushed(string) (*sinks.Receipt, bool) { return s.last, true }

// TestEnteringBehindOneThatLeaves: who begins while another run still waits for what it
// wrote waits too, as long as its context lasts.
func TestEnteringBehindOneThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owner := slow{last: sinks.NewReceipt()}
		l := New(sinks.Process{ID: "m"}, &beats{made: time.Now()}, owner, slog.New(slog.DiscardHandler))
		leave := enter(t.Context(), t, l, "a")
		time.Sleep(time.Minute)
		var leaving sync.WaitGroup
		leaving.Go(leave)
		time.Sleep(time.Second)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := l.Enter(short, func() []string { return nil }); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		time.AfterFunc(time.Second, func() { owner.last.Resolve(nil) })
		enter(t.Context(), t, l, "a")()
		leaving.Wait()
	})
}

// TestTheEndOfARunEndsNoLease: a run leaves after its context has ended. What it held is
// given back then, and what another run holds beside it stays held until that leaves.
func TestTheEndOfARunEndsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warehouse := &beats{made: time.Now()}
		l := New(sinks.Process{ID: "m"}, warehouse, nobody{}, slog.New(slog.DiscardHandler))
		one, end := context.WithCancel(t.Context())
		leaveOne := enter(one, t, l, "a")
		other, endOther := context.WithCancel(t.Context())
		leaveOther := enter(other, t, l, "b")
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
