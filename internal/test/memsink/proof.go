package memsink

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// SalesDays adds up the figures of each day.
func (s *Sink) SalesDays(_ context.Context, q sinks.DayQuery) ([]sinks.DayFigures, error) {
	return s.sums("days", q, func(o *sale) []share { return o.totals })
}

// SalesProducts adds up what was sold of each product by day.
func (s *Sink) SalesProducts(_ context.Context, q sinks.DayQuery) ([]sinks.DayFigures, error) {
	return s.sums("lines", q, func(o *sale) []share { return o.lines })
}

// RemovedRefunds adds up the refunds of removed orders by day.
func (s *Sink) RemovedRefunds(_ context.Context, q sinks.DayQuery) (days []sinks.DayFigures, unknownUntil string, err error) {
	if err := s.available(); err != nil {
		return nil, "", err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	sums, ids := map[dayLine]amounts{}, map[string][]string{}
	whose := sinks.LiveQuery{Source: q.Source, Locations: q.Locations, Except: q.Except}
	for key, r := range s.store.tables[orders] {
		if business, _, _ := strings.Cut(key, "\x00"); business != q.Business || !r.Deleted || r.Reason == "no_access" || !r.of(whose) {
			continue
		}
		removed := cmp.Or(r.DeletedAt, r.UpdatedAt, r.FetchedAt).In(bucharest())
		if r.batch == nil {
			if r.Reason != "unpaid" {
				unknownUntil = max(unknownUntil, removed.Format(time.DateOnly))
			}
			continue
		}
		if q.Location != "" && r.Location != q.Location {
			continue
		}
		for _, part := range r.refunded(removed) {
			if q.From <= part.day && part.day <= q.To {
				for figure, amount := range part.amounts {
					if figure == "refunds" {
						figure, ids[part.day] = r.Reason, append(ids[part.day], r.ID)
					}
					sums[part.dayLine] = sums[part.dayLine].plus(amounts{figure: amount})
				}
			}
		}
	}
	days = figures(sums)
	for i := range days {
		days[i].IDs = slices.Compact(slices.Sorted(slices.Values(ids[days[i].Day])))
	}
	return days, unknownUntil, nil
}

// sums are the answers to what was asked since the orders changed last.
type sums struct {
	at    uint64 // Store.ordersChanged
	known map[string][]sinks.DayFigures
}

// sums adds up the shares of the orders that q selects, of the days that it selects.
func (s *Sink) sums(what string, q sinks.DayQuery, shares func(*sale) []share) ([]sinks.DayFigures, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if s.store.sums.known == nil || s.store.sums.at != s.store.ordersChanged {
		s.store.sums = sums{s.store.ordersChanged, map[string][]sinks.DayFigures{}}
	}
	q.Patient = false // which changes no answer
	asked := fmt.Sprintf("%s %#v", what, q)
	found, ok := s.store.sums.known[asked]
	if !ok {
		found = sum(s.store, q, shares)
		s.store.sums.known[asked] = found
	}
	return slices.Clone(found), nil
}

func sum(s *Store, q sinks.DayQuery, shares func(*sale) []share) []sinks.DayFigures {
	sums := map[dayLine]amounts{}
	for key, r := range s.tables[orders] {
		if business, _, _ := strings.Cut(key, "\x00"); business != q.Business || r.Deleted || r.batch == nil || !r.proves(q) {
			continue
		}
		for _, part := range shares(r.counts()) {
			if q.From <= part.day && part.day <= q.To {
				sums[part.dayLine] = sums[part.dayLine].plus(part.amounts)
			}
		}
	}
	return figures(sums)
}

func (r *stored) proves(q sinks.DayQuery) bool {
	if q.Location != "" && r.Location != q.Location {
		return false
	}
	return r.selected(sinks.LiveQuery{Source: q.Source, Locations: q.Locations, Except: q.Except})
}

// refunded are the refunds of a removed order, known and unseen.
func (r *stored) refunded(removed time.Time) []share {
	if r.refunds == nil {
		columns := r.columns()
		r.refunds = new(append(refundsOf(columns), unseenRefunds(columns, removed, !r.DeletedAt.IsZero())...))
	}
	return *r.refunds
}

// counts is what the order counts for.
func (r *stored) counts() *sale {
	if r.sale == nil {
		r.sale = newSale(dateOf(r.Day), r.columns())
	}
	return r.sale
}

func figures(sums map[dayLine]amounts) []sinks.DayFigures {
	days := make([]sinks.DayFigures, 0, len(sums))
	for at, sum := range sums {
		days = append(days, sinks.DayFigures{Day: at.day, Line: at.line, Figures: sum.figures()})
	}
	slices.SortFunc(days, func(a, b sinks.DayFigures) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Line, b.Line))
	})
	return days
}

// verdictKey is what a verdict is stored under.
type verdictKey struct{ business, source, location, day, subject string }

// Verdicts returns the verdicts about a business's days as a source sees them.
func (s *Sink) Verdicts(_ context.Context, business, source, from, to string) ([]sinks.Verdict, error) {
	if err := s.available(); err != nil {
		return nil, err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var found []sinks.Verdict
	for key, v := range s.store.verdicts {
		if key.business == business && key.source == source && v.Verdict != sinks.VerdictWithdrawn && from <= v.Day && v.Day <= to {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b sinks.Verdict) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Location, b.Location), cmp.Compare(a.Subject, b.Subject))
	})
	return found, nil
}
