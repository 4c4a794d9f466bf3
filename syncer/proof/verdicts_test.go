package proof

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
)

// TestOnlyWhatIsNewIsStored: the last verdict over again is not.
func TestOnlyWhatIsNewIsStored(t *testing.T) {
	const day = types.Date("2026-03-10")
	over := time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)
	hashOf := func(service, reason string, resynced bool) uint64 {
		hash := gapHash([]sinks.Difference{{Figure: "tips", Service: service, Mirror: "7.00"}})
		return verdictHash(gap{hash: hash, resynced: resynced}, reason)
	}
	drift := lastVerdict{verdict: sinks.VerdictDrift, hash: hashOf("9.00", "why", false)}
	for name, c := range map[string]struct {
		last   lastVerdict
		found  dayProof
		covers bool
	}{
		"proven again":                 {lastVerdict{verdict: sinks.VerdictProven, hash: 1}, dayProof{Verdict: sinks.VerdictProven, hash: 1}, true},
		"proven with other figures":    {lastVerdict{verdict: sinks.VerdictProven, hash: 1}, dayProof{Verdict: sinks.VerdictProven, hash: 2}, false},
		"proven when it was over":      {lastVerdict{verdict: sinks.VerdictHealed, asked: over.UnixMicro()}, dayProof{Verdict: sinks.VerdictProven, hash: 2}, true},
		"proven before it was over":    {lastVerdict{verdict: sinks.VerdictProven, asked: over.AddDate(0, 0, -1).UnixMicro()}, dayProof{Verdict: sinks.VerdictProven, hash: 2}, false},
		"healed again":                 {lastVerdict{verdict: sinks.VerdictHealed, hash: 1}, dayProof{Verdict: sinks.VerdictHealed, hash: 1}, false},
		"no answer":                    {lastVerdict{verdict: sinks.VerdictProven, hash: 1}, dayProof{Verdict: sinks.VerdictUnproven, passing: true}, true},
		"no answer once more":          {lastVerdict{verdict: sinks.VerdictUnsettled, hash: 1}, dayProof{Verdict: sinks.VerdictUnproven, passing: true}, false},
		"the same difference":          {drift, dayProof{Verdict: sinks.VerdictDrift, hash: hashOf("9.0", "why", false)}, true},
		"for another reason":           {drift, dayProof{Verdict: sinks.VerdictDrift, hash: hashOf("9.00", "else", false)}, false},
		"another difference":           {drift, dayProof{Verdict: sinks.VerdictDrift, hash: hashOf("8.00", "why", false)}, false},
		"a full resync did not help":   {drift, dayProof{Verdict: sinks.VerdictDrift, hash: hashOf("9.00", "why", true)}, false},
		"a drift that is proven":       {drift, dayProof{Verdict: sinks.VerdictProven, hash: 1}, false},
		"a drift that is explained":    {drift, dayProof{Verdict: sinks.VerdictExplained, hash: hashOf("9.00", "why", false)}, false},
		"a verdict of another release": {lastVerdict{verdict: "blessed", hash: 1}, dayProof{Verdict: sinks.VerdictProven, hash: 1}, false},
	} {
		c.found.Day = day
		if got := c.last.covers(c.found); got != c.covers {
			t.Errorf("%s: %v, want %v", name, got, c.covers)
		}
	}
}

// TestNoVerdictIsForgottenDuringAPass, which may be about days older than those of the turns.
func TestNoVerdictIsForgottenDuringAPass(t *testing.T) {
	shared := NewShared(&stream.Source{Clock: stream.Clock{WallClock: time.Now}})
	v := &verdicts{shared: shared, last: byDay[lastVerdict]{}}
	v.last.set("2000-01-01", "", lastVerdict{verdict: sinks.VerdictDrift})
	shared.since, shared.streams = "2000-01-01", []*Totals{{verdicts: v}}
	known := func() int {
		if err := shared.restore(t.Context(), "9999-12-31"); err != nil {
			t.Fatal(err)
		}
		return len(v.last)
	}
	shared.passes.Add(1)
	if known() != 1 {
		t.Error("forgotten during a pass")
	}
	if shared.passes.Add(-1); known() != 0 {
		t.Error("never forgotten")
	}
}

// verdictReads counts how often the stored verdicts are read; each read finds those of today.
type verdictReads struct {
	sinks.Sink
	n   atomic.Int32
	day string
}

func (r *verdictReads) Verdicts(context.Context, string, string, string, string) ([]sinks.Verdict, error) {
	r.n.Add(1)
	time.Sleep(time.Second)
	return []sinks.Verdict{{Day: r.day, Subject: sinks.SubjectDaily, Verdict: sinks.VerdictProven}, {Day: r.day, Subject: sinks.SubjectProducts, Verdict: sinks.VerdictDrift}}, nil
}

// TestTheStoredVerdictsAreReadOnce for both streams, and for the turn and the deep run that begin together.
func TestTheStoredVerdictsAreReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := &verdictReads{day: string(schedule.DayOf(time.Now()))}
		o := &stream.Source{Sink: reads, Clock: stream.Clock{WallClock: time.Now}}
		o.IdentifyAs(stream.Identity{})
		shared := NewShared(o)
		for _, def := range registry.All() {
			if def.Kind == registry.TotalsKind {
				New(o, def, shared)
			}
		}
		today := shared.today()
		var runs sync.WaitGroup
		for _, from := range []types.Date{today, addDays(today, 1-MaxRange), today, addDays(today, 1-MaxRange)} {
			runs.Go(func() {
				if err := shared.restore(t.Context(), from); err != nil {
					t.Error(err)
				}
			})
		}
		runs.Wait()
		if n := reads.n.Load(); n != 1 {
			t.Errorf("they were read %d times", n)
		}
		for i, want := range []string{sinks.VerdictProven, sinks.VerdictDrift} {
			if got := shared.streams[i].verdicts.last.at(types.Date(reads.day), "").verdict; got != want {
				t.Errorf("%s has %q, not %q", shared.streams[i].Def.Name, got, want)
			}
		}
	})
}

// TestAReportStaysAsItWasRead: verdicts come in meanwhile.
func TestAReportStaysAsItWasRead(t *testing.T) {
	daily := &stream.Stream{Def: &registry.Definition{Name: registry.Daily}}
	st := &Totals{Stream: daily, verdicts: &verdicts{stream: daily}}
	p := NewPass(Request{})
	p.Add(&Shared{source: &stream.Source{Lanes: &stream.Lanes{}}})
	drift := func(day types.Date) { p.runs[0].count(st, []dayProof{{Day: day, Verdict: sinks.VerdictDrift}}) }
	for n := range 5 {
		drift(types.Date(fmt.Sprintf("2026-03-1%d", n)))
	}
	read := p.Snapshot().Sources[0].Open
	drift("2026-03-01")
	if now := p.Snapshot().Sources[0].Open; read[0].Day != "2026-03-10" || now[0].Day != "2026-03-01" || len(now) != 6 {
		t.Errorf("read %+v, now %+v", read, now)
	}
}

func TestTheFirstAnswersAreNoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stream.Lanes{Key: budget.NewLedger(budget.Options{}).Key("bistro", 1)}
		r := newRun(&Shared{source: &stream.Source{Lanes: l}}, true)
		r.expectQuestions(12)
		expect := func() time.Duration { return r.progress().ExpectedLeft.Duration() }
		for _, wait := range []time.Duration{12 * time.Second, 4 * time.Second, 2 * time.Second} { // the key's first wait, the other stream's question
			time.Sleep(wait)
			r.answered(nil, nil)
			if left := expect(); left > time.Duration(r.left)*2010*time.Millisecond {
				t.Errorf("%d questions are expected to take %s", r.left, left)
			}
		}
		for r.left > 2 {
			time.Sleep(5 * time.Second)
			r.answered(nil, nil)
		}
		if left := expect(); left != 10*time.Second {
			t.Errorf("%d questions are expected to take %s", r.left, left)
		}
	})
}
