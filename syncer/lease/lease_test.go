package lease

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// beats is a warehouse that refuses a beat whose context has ended, as a connection does.
type beats struct {
	made  time.Time // every claim
	takes time.Duration
	wants [][]string
}

func (b *beats) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	time.Sleep(b.takes)
	b.wants = append(b.wants, wants)
	var claims []sinks.Claim
	for _, source := range wants {
		claims = append(claims, sinks.Claim{Source: source, Process: p, Since: b.made, BeatAt: time.Now()})
	}
	return claims, nil
}

func (b *beats) MaxVersion(ctx context.Context) (uint64, error) { return 0, ctx.Err() }

// nobody is an owner of nothing.
var nobody = Owner{Lost: func(string, error) {}, StartAbove: func(uint64) {}, Durable: func([]string) bool { return true }}

// TestEnteringBehindOneThatLeaves: a run that begins while another gives its sources back does not
// wait for it, nor it for the run, and what it claims is claimed after that.
func TestEnteringBehindOneThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warehouse := &beats{made: time.Now(), takes: time.Second}
		l := New(sinks.Process{ID: "m"}, warehouse, nobody, slog.New(slog.DiscardHandler))
		a := func() []string { return []string{"a"} }
		leave := l.Enter(t.Context(), a)
		time.Sleep(time.Minute)
		began := time.Now()
		var leaving sync.WaitGroup
		leaving.Go(leave)
		time.Sleep(time.Second / 2)
		leave = l.Enter(t.Context(), a)
		leaving.Wait()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the first one left after %s", took)
		}
		if err := l.Await(t.Context(), "a"); err != nil || time.Since(began) > 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		leave()
		if n := len(warehouse.wants); len(warehouse.wants[n-1]) > 0 || len(warehouse.wants[n-2]) == 0 {
			t.Errorf("claimed at the end: %q", warehouse.wants[n-2:])
		}
	})
}

// TestTheEndOfARunEndsNoLease: a run leaves after its context has ended. What it held is
// given back then, and what another run holds beside it stays held until that leaves.
func TestTheEndOfARunEndsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		warehouse := &beats{made: time.Now()}
		l := New(sinks.Process{ID: "m"}, warehouse, nobody, slog.New(slog.DiscardHandler))
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

// hanging is a warehouse that answers nothing until the context ends, when it hangs.
type hanging struct {
	beats
	hangs atomic.Bool
}

func (h *hanging) Beat(ctx context.Context, p sinks.Process, wants []string) ([]sinks.Claim, error) {
	if h.hangs.Load() {
		<-ctx.Done()
	}
	return h.beats.Beat(ctx, p, wants)
}

func (h *hanging) MaxVersion(ctx context.Context) (uint64, error) {
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

// TestLeavingWhileTheWarehouseHangs: who leaves waits for no beat that is under way, and for no
// source that is about to be held, but for the beat that gives the sources back.
func TestLeavingWhileTheWarehouseHangs(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			warehouse := &hanging{beats: beats{made: time.Now()}}
			l := New(sinks.Process{ID: "m"}, warehouse, nobody, slog.New(slog.NewTextHandler(&log, nil)))
			leave := l.Enter(t.Context(), func() []string { return []string{"a"} })
			time.Sleep(settle + beatSoon + time.Second) // the highest version is asked for
			warehouse.hangs.Store(hangs)
			began := time.Now()
			leave()
			if took := time.Since(began); took > beatLimit || hangs != (took > 0) {
				t.Errorf("it hangs: %v, leaving takes %s", hangs, took)
			}
			synctest.Wait()
			if told := strings.Contains(log.String(), "level=WARN msg=\"the sources could not be given back"); told != hangs {
				t.Errorf("it hangs: %v, told: %s", hangs, log.String())
			}
		})
	}
}

// TestWhatIsGivenUpIsNotHeld: another process may hold what is given up as soon as that is stored, before
// this one has the answer.
func TestWhatIsGivenUpIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(sinks.Process{ID: "m"}, &beats{made: time.Now(), takes: time.Second}, nobody, slog.New(slog.DiscardHandler))
		var moved atomic.Bool
		leave := l.Enter(t.Context(), func() []string {
			if moved.Load() {
				return []string{"b"}
			}
			return []string{"a", "b"}
		})
		defer leave()
		time.Sleep(time.Minute + time.Second/4)
		moved.Store(true)
		l.Nudge()
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(time.Second / 4) {
			synctest.Wait()
			if l.mu.Lock(); l.beating && l.all["a"] != nil && l.all["a"].held {
				t.Error("it is given up, and held")
			}
			l.mu.Unlock()
		}
	})
}
