package reconcile

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/budget"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
	"github.com/larder-sync/larder/syncer/write"
)

// TestADayThatDiffersOtherwiseAfterItsHealingIsLookedAtAgain: the gap that is left may
// be an order on its way.
func TestADayThatDiffersOtherwiseAfterItsHealingIsLookedAtAgain(t *testing.T) {
	gap := func(service string) []sinks.Difference {
		return []sinks.Difference{{Figure: "orders", Service: service, Mirror: "7"}}
	}
	h := &heal{looks: 2, IDs: []string{"a"}}
	h.Run.Requests = 3
	h.orders = &list.List{Stream: &stream.Stream{Writer: write.NewWriter(write.Options{})}}
	before := DayProof{Verdict: sinks.VerdictDrift, differences: gap("9"), requests: 2}
	if p := h.verdict(before, DayProof{differences: gap("8")}, nil); !p.suspect() {
		t.Errorf("another difference: %+v", p)
	}
	p := h.verdict(before, DayProof{differences: gap("9")}, nil)
	if p.Verdict != sinks.VerdictDrift || !p.tried || p.requests != 2+3+2 || p.Reason == "" {
		t.Errorf("the same difference: %+v", p)
	}
}

// TestWhatAHealingFoundIsNotExplained: rows that it left, or that are in quarantine, may hold
// the refunds.
func TestWhatAHealingFoundIsNotExplained(t *testing.T) {
	writer := write.NewWriter(write.Options{})
	writer.Restore([]string{"bad"}, nil)
	before := DayProof{Verdict: sinks.VerdictDrift, differences: []sinks.Difference{{Figure: "refunds", Service: "9.00", Mirror: "7.00"}}, explained: "left open"}
	for name, c := range map[string]struct {
		h    heal
		want string
	}{
		"nothing":    {heal{IDs: []string{"good"}}, sinks.VerdictExplained},
		"left":       {heal{Left: []string{"a"}}, sinks.VerdictDrift},
		"lost":       {heal{Lost: []string{"a"}}, sinks.VerdictDrift},
		"quarantine": {heal{IDs: []string{"good", "bad"}}, sinks.VerdictDrift},
	} {
		c.h.orders = &list.List{Stream: &stream.Stream{Writer: writer}}
		now := DayProof{differences: before.differences, explained: before.explained}
		if p := c.h.verdict(before, now, nil); p.Verdict != c.want || (p.Reason == "left open") != (c.want == sinks.VerdictExplained) || p.Reason == "" || !p.tried {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestAReportStaysAsItWasRead: verdicts come in while somebody reads.
func TestAReportStaysAsItWasRead(t *testing.T) {
	st := &Proofs{Totals: &totals.Totals{Stream: &stream.Stream{Def: &registry.Definition{Name: registry.Daily}}}}
	st.record = &record{proofs: st}
	p := onePass()
	drift := func(day types.Date) { p.count(0, st, []DayProof{{Day: day, Verdict: sinks.VerdictDrift}}) }
	for n := range 5 {
		drift(types.Date(fmt.Sprintf("2026-03-1%d", n)))
	}
	read := p.Snapshot().Sources[0].Open
	drift("2026-03-01")
	if now := p.Snapshot().Sources[0].Open; read[0].Day != "2026-03-10" || now[0].Day != "2026-03-01" || len(now) != 6 {
		t.Errorf("read %+v, now %+v", read, now)
	}
}

// onePass is a pass of one source.
func onePass() *Pass {
	p := NewPass(Request{})
	p.Add(&SourceProofs{source: &stream.Source{Lanes: &stream.Lanes{}}})
	return p
}

func TestTheFirstAnswersAreNoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stream.Lanes{Key: budget.NewLedger(budget.Options{}).Key("bistro", 1)}
		a := askingFor(12)
		for _, wait := range []time.Duration{12 * time.Second, 4 * time.Second, 2 * time.Second} { // the key's first wait, the other stream's question
			time.Sleep(wait)
			a.answered()
			if left := a.expect(l); left > time.Duration(a.left)*2010*time.Millisecond {
				t.Errorf("%d questions are said to take %s", a.left, left)
			}
		}
		for a.left > 2 {
			time.Sleep(5 * time.Second)
			a.answered()
		}
		if left := a.expect(l); left != 10*time.Second {
			t.Errorf("%d questions are said to take %s", a.left, left)
		}
	})
}
