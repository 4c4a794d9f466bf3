package reconcile

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/totals"
)

// A day may differ by what api.md leaves open (DESIGN §7). Such a day is explained, which is
// as good as proven. How a service rounds is seen at once. A missing refund could have been
// lost by the mirror too, so a day is explained by the refunds of removed orders only after
// its healing did not help.

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

// explainRefunds notes which suspects differ by the refunds of removed orders that the service
// may still count. One that was explained so before, by as much, still is.
func (st *Proofs) explainRefunds(ctx context.Context, sp totals.Span, found []DayProof) error {
	var suspects []*DayProof
	for i := range found {
		if p := &found[i]; p.suspect() && len(p.differences) == 1 && p.differences[0].Figure == "refunds" && gapOf(p.differences[0]).Sign() > 0 {
			suspects = append(suspects, p)
		}
	}
	if len(suspects) == 0 {
		return nil
	}
	days, unknownUntil, err := st.Source.Sink.RemovedRefunds(ctx, st.dayQuery(sp))
	if err != nil {
		return fmt.Errorf("the refunds of removed orders could not be added up: %w", err)
	}
	removed := map[string]sinks.Figures{}
	for _, d := range days {
		removed[d.Day] = d.Figures
	}
	for _, p := range suspects {
		switch {
		case addsUp(gapOf(p.differences[0]), removed[string(p.Day)]):
			p.explained = "the service still counts refunds of orders that were removed since"
		case mayAddUp(gapOf(p.differences[0]), removed[string(p.Day)]):
			p.explained = "the service may still count refunds that were made shortly before their orders were removed, which the mirror never had"
		case string(p.Day) <= unknownUntil: // an order is not refunded after it was removed
			p.explained = "the service may still count refunds of orders that were removed before the mirror had their values"
		default:
			continue
		}
		if st.record.explains(*p) {
			p.Verdict, p.Reason, p.tried = sinks.VerdictExplained, p.explained, true
		}
	}
	return nil
}

// mostReasons are more than api.md names. Of many more, some would add up to any amount.
const mostReasons = 8

// addsUp reports whether a gap is the sum of the refunds of one or more reasons: a service
// counts the refunds of orders that were removed for a reason, or not.
func addsUp(gap *big.Rat, removed sinks.Figures) bool {
	return slices.ContainsFunc(sumsOf(removed), func(sum *big.Rat) bool { return sum.Cmp(gap) == 0 })
}

// mayAddUp reports the same with refunds that the mirror never had, of as much as their orders
// can have been refunded.
func mayAddUp(gap *big.Rat, removed sinks.Figures) bool {
	unseen := ratOf(removed[sinks.UnseenRefunds])
	return slices.ContainsFunc(sumsOf(removed), func(sum *big.Rat) bool {
		rest := new(big.Rat).Sub(gap, sum)
		return rest.Sign() >= 0 && rest.Cmp(unseen) <= 0
	})
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
