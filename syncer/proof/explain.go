package proof

import (
	"context"
	"fmt"
	"math/big"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
)

// A day may differ by what the API's description leaves open (docs/rules.md P4). Such a day is
// explained, which is as good as proven. How a service rounds is seen at once. The refunds of removed orders that the mirror
// has the values of explain a day once the service was asked for each of those orders, and for what
// has changed since the day began: a lost refund of as much is in it. Other
// refunds could have been lost by the mirror too, so a day is explained by those only after a full
// resync did not help.

// onlyRounding reports whether figures differ by no more than the gross of lines may, rounded
// per line or per product: half of the last decimal for each line, and for the sum.
func onlyRounding(differences []sinks.Difference, mirror dayFigures) bool {
	for _, d := range differences {
		line, figure := lineFigure(d.Figure)
		if line == "" || figure != "gross" && figure != "line_discounts" {
			return false
		}
		lines := ratOf(mirror.figureOr(line + ": " + sinks.RoundedLines))
		if lines.Sign() == 0 {
			return false
		}
		most := lines.Add(lines, big.NewRat(1, 1)).Mul(lines, big.NewRat(5, 1000))
		if gap := gapOf(d); gap.Abs(gap).Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// explainRefunds notes which days differ by the refunds of removed orders that the service may
// still count. One that was explained so before, by as much, still is.
func (b *bracket) explainRefunds(ctx context.Context, sp Span, found []dayProof) error {
	var refunds []*dayProof
	for i := range found {
		if p := &found[i]; p.differs() && len(p.differences) == 1 && p.differences[0].Figure == "refunds" && gapOf(p.differences[0]).Sign() > 0 {
			refunds = append(refunds, p)
		}
	}
	if len(refunds) == 0 {
		return nil
	}
	st := b.totals
	days, unknownUntil, err := st.Source.Sink.RemovedRefunds(ctx, st.shared.dayQuery(sp))
	if err != nil {
		return fmt.Errorf("the refunds of removed orders could not be added up: %w", err)
	}
	removed := map[string]sinks.DayFigures{}
	for _, d := range days {
		removed[d.Day] = d
	}
	for _, p := range refunds {
		day := removed[string(p.Day)]
		before := st.verdicts.about(*p)
		switch exactly, perhaps := matchRefunds(gapOf(p.differences[0]), day.Figures); {
		case exactly:
			p.explained = "the service still counts refunds of orders that were removed since"
			if len(day.IDs) <= list.AskFirst { // else a full resync asks for all that the service has
				p.removed = day.IDs
			}
		case perhaps:
			p.explained = "the service may still count refunds that were made shortly before their orders were removed, which the mirror never had"
		case string(p.Day) <= unknownUntil: // an order is not refunded after it was removed
			p.explained = "the service may still count refunds of orders that were removed before the mirror had their values"
		default:
			continue
		}
		if before.verdict == sinks.VerdictExplained && before.gap != nil && before.gap.hash == p.gap.hash {
			p.Verdict, p.Reason = sinks.VerdictExplained, p.explained
		}
	}
	return nil
}

// mostReasons are more than the API's description names. Of many more, some would add up to any amount.
const mostReasons = 8

// matchRefunds compares a gap with the refunds of removed orders. exactly: it is the sum of those of one
// or more reasons, since a service counts the refunds of orders that were removed for a reason, or not.
// perhaps: it is that sum and refunds that the mirror never had, up to what their orders can have been
// refunded.
func matchRefunds(gap *big.Rat, removed sinks.Figures) (exactly, perhaps bool) {
	unseen := ratOf(removed[sinks.UnseenRefunds])
	for _, sum := range sumsOf(removed) {
		rest := sum.Sub(gap, sum)
		exactly = exactly || rest.Sign() == 0
		perhaps = perhaps || rest.Sign() >= 0 && rest.Cmp(unseen) <= 0
	}
	return exactly, perhaps
}

// sumsOf are the sums of the refunds of any reasons, none among them.
func sumsOf(removed sinks.Figures) []*big.Rat {
	sums := []*big.Rat{new(big.Rat)}
	for reason, amount := range removed {
		if reason == sinks.UnseenRefunds {
			continue
		}
		if len(sums) >= 1<<mostReasons {
			return nil
		}
		for _, sum := range sums {
			sums = append(sums, new(big.Rat).Add(sum, ratOf(amount)))
		}
	}
	return sums
}
