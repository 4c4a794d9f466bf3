package proof

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
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
		"proven when it was over":      {lastVerdict{verdict: sinks.VerdictHealed, asked: over}, dayProof{Verdict: sinks.VerdictProven, hash: 2}, true},
		"proven before it was over":    {lastVerdict{verdict: sinks.VerdictProven, asked: over.AddDate(0, 0, -1)}, dayProof{Verdict: sinks.VerdictProven, hash: 2}, false},
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
	shared := &Shared{source: &stream.Source{Clock: stream.Clock{WallClock: time.Now}}}
	v := &verdicts{shared: shared, from: "2000-01-01", last: map[string]lastVerdict{"2000-01-01": {verdict: sinks.VerdictDrift}}}
	known := func() int {
		if err := v.restore(t.Context(), "9999-12-31"); err != nil {
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
