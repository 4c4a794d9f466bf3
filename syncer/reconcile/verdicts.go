package reconcile

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/totals"
)

// record is what was found of each day, as the log and the sink have it. The mu of the proofs
// guards it.
type record struct {
	proofs *Proofs
	seed   maphash.Seed        // tells figures apart
	days   map[string]standing // by dayKey
	// known: the verdicts that the sink has were read.
	known bool
	// logged are the differences that the log has, and those of explained days, by dayKey.
	logged map[string]uint64
}

// standing is the verdict that stands about a day.
type standing struct {
	verdict string
	asked   time.Time
	sum     uint64 // of the figures it is about, 0 when a process before this one wrote it
	tried   bool   // a healing did not help; the next deep run tries again, unless it is explained
	cuts    int    // healings in a row that were cut short
}

// good is true when the day is proven, or as good as proven.
func (s standing) good() bool {
	return s.verdict == sinks.VerdictProven || s.verdict == sinks.VerdictHealed || s.explained()
}

func (s standing) explained() bool { return s.verdict == sinks.VerdictExplained }

// explains is true when a day that differs was explained before, after a healing, and differs
// by as much as then.
func (r *record) explains(p DayProof) bool {
	r.proofs.mu.Lock()
	defer r.proofs.mu.Unlock()
	s := r.days[p.key()]
	return s.explained() && s.tried && r.logged[p.key()] == gapSum(r.seed, p.differences)
}

// says is true when a verdict would say nothing that the standing one does not.
func (s standing) says(p DayProof) bool {
	now := standing{verdict: p.Verdict}
	switch {
	case p.Passing:
		return s.verdict != sinks.VerdictUnsettled // what was found stays found
	case p.Verdict == sinks.VerdictHealed, now.good() != s.good(), now.explained() != s.explained(), !s.good() && p.Verdict != s.verdict, p.tried && !s.tried:
		return false
	case s.sum == 0:
		return s.good() && !s.explained() && calendar.DayOf(s.asked) > p.Day // the day was over when it was proven
	}
	return s.sum == p.sum
}

// subject is what the stream's days are proofs of.
func (st *Proofs) subject() string {
	if st.Def.LinesMayVanish {
		return sinks.SubjectProducts
	}
	return sinks.SubjectDaily
}

// readVerdicts reads the verdicts that stand about days, to write only what is new.
func (r *record) readVerdicts(ctx context.Context, from, to types.Date) error {
	all, err := r.proofs.Source.Sink.Verdicts(ctx, r.proofs.Source.Business(), r.proofs.Source.Name, string(from), string(to))
	if err != nil {
		return fmt.Errorf("read the verdicts that stand: %w", err)
	}
	r.proofs.mu.Lock()
	for _, v := range all {
		key := totals.DayKey(types.Date(v.Day), v.Location)
		if _, known := r.days[key]; v.Subject == r.proofs.subject() && !known {
			if v.Verdict == sinks.VerdictDrift || v.Verdict == sinks.VerdictExplained {
				r.logged[key] = gapSum(r.seed, v.Differences)
			}
			r.days[key] = standing{verdict: v.Verdict, asked: v.AskedAt, tried: v.HealingTried}
		}
	}
	r.proofs.mu.Unlock()
	r.proofs.beside.proofChanged()
	return nil
}

// readLastDays reads the verdicts about the last days, once, and forgets older ones.
func (r *record) readLastDays(ctx context.Context) error {
	today := calendar.DayOf(r.proofs.Source.ServiceNow())
	from, err := calendar.AddDays(today, -calendar.MaxRange)
	if err != nil {
		return err
	}
	yesterday, err := calendar.AddDays(today, -1)
	if err != nil {
		return err
	}
	r.proofs.mu.Lock()
	known := r.known
	maps.DeleteFunc(r.days, func(key string, _ standing) bool { return key < string(from) })
	maps.DeleteFunc(r.logged, func(key string, _ uint64) bool { return key < string(from) })
	r.proofs.mu.Unlock()
	if known {
		return nil
	}
	if err := r.readVerdicts(ctx, from, today); err != nil {
		return err
	}
	r.proofs.mu.Lock()
	defer r.proofs.mu.Unlock()
	r.known = true
	for key, s := range r.days { // a process before this one ended between its two looks
		day, _, _ := strings.Cut(key, "/")
		r.proofs.Deep.repeat = r.proofs.Deep.repeat || s.verdict == sinks.VerdictUnsettled && day < string(yesterday)
	}
	return nil
}

// standingOf is the verdict that stands about a day.
func (r *record) standingOf(p DayProof) (standing, bool) {
	r.proofs.mu.Lock()
	defer r.proofs.mu.Unlock()
	s, known := r.days[p.key()]
	return s, known
}

// conclude stores the verdicts that say something new, and waits until they are
// durable.
func (r *record) conclude(ctx context.Context, found []DayProof) error {
	receipt, err := r.hand(ctx, found)
	if err != nil {
		return err
	}
	return r.handed(ctx, receipt, found)
}

// hand gives the verdicts that say something new to the sink; the receipt is nil when
// none does.
func (r *record) hand(ctx context.Context, found []DayProof) (*sinks.Receipt, error) {
	found = r.proofs.answeredFor(found)
	c := r.proofs.Source.Commit(r.proofs.Def.Name)
	for _, p := range found {
		if p.suspect() {
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "it differs at first sight, and is asked once more"
		}
		if old, known := r.standingOf(p); !known || !old.says(p) {
			c.Verdicts = append(c.Verdicts, r.verdictOf(p))
		}
	}
	if len(c.Verdicts) == 0 {
		return nil, nil
	}
	return r.proofs.Source.Commits.Write(ctx, c)
}

// handed waits until what was handed is durable, and remembers it.
func (r *record) handed(ctx context.Context, receipt *sinks.Receipt, found []DayProof) error {
	if receipt != nil {
		if err := receipt.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the warehouse: %w", err)
		}
	}
	r.remember(r.proofs.answeredFor(found))
	return nil
}

// answeredFor leaves out findings for which another source of the restaurant answers.
func (st *Proofs) answeredFor(found []DayProof) []DayProof {
	return slices.DeleteFunc(slices.Clone(found), func(p DayProof) bool { return st.NotAskedFor(p.Location) })
}

// mostIDs is how many orders a verdict names.
const mostIDs = 100

// fewIDs are the first of them, each once.
func fewIDs(ids []string) []string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return ids[:min(len(ids), mostIDs)]
}

func (r *record) verdictOf(p DayProof) sinks.Verdict {
	return sinks.Verdict{
		Location: p.Location, Day: string(p.Day), Subject: r.proofs.subject(), Verdict: p.Verdict, Differences: p.differences,
		OrderIDs: fewIDs(p.ids), Requests: p.requests, Reason: p.Reason,
		HealingTried: (p.Verdict == sinks.VerdictDrift || p.Verdict == sinks.VerdictExplained) && p.tried, AskedAt: p.at,
	}
}

// remember notes what stands now.
func (r *record) remember(found []DayProof) {
	r.proofs.mu.Lock()
	for _, p := range found {
		old, known := r.days[p.key()]
		switch {
		case p.suspect():
			old = standing{verdict: sinks.VerdictUnsettled, asked: p.at, sum: p.sum, cuts: old.cuts}
		case !known || !old.says(p):
			old = standing{verdict: p.Verdict, asked: p.at, sum: p.sum, tried: p.tried, cuts: old.cuts}
		case !p.Passing:
			old.sum = p.sum
		}
		switch {
		case p.Verdict == sinks.VerdictExplained:
			r.logged[p.key()] = gapSum(r.seed, p.differences)
		case old.good() && !old.explained():
			delete(r.logged, p.key())
		}
		if p.cut {
			old.cuts++
		} else if old.good() {
			old.cuts = 0
		}
		r.days[p.key()] = old
	}
	r.proofs.mu.Unlock()
	r.proofs.beside.proofChanged()
}

// proofDay is what all verdicts about one day come to. daily: one of them is about the
// day's own totals.
type proofDay struct{ bad, drift, explained, daily bool }

// ProofOf sums up the verdicts that stand about a source's days; nil without any. first
// is the day of the first mirrored order, empty when there is none; today is not over.
func ProofOf(verdicts []sinks.Verdict, first, today types.Date) *status.ProofStatus {
	sum := proofSum{days: map[types.Date]proofDay{}}
	for _, v := range verdicts {
		sum.take(types.Date(v.Day), v.Subject == sinks.SubjectDaily, standing{verdict: v.Verdict, asked: v.AskedAt})
	}
	return sum.status(first, today)
}

// proofSum sums up verdicts.
type proofSum struct {
	days  map[types.Date]proofDay
	asked time.Time // the newest
}

func (s *proofSum) take(day types.Date, daily bool, v standing) {
	d := s.days[day]
	d.bad = d.bad || !v.good()
	d.drift = d.drift || v.verdict == sinks.VerdictDrift
	d.explained = d.explained || v.explained()
	d.daily = d.daily || daily
	s.days[day] = d
	s.asked = stream.Later(s.asked, v.asked)
}

// status is what they come to; nil without any. It says of the days what the view proof
// says: a day that nobody has asked about is not proven, and one that is not over neither.
func (s *proofSum) status(first, today types.Date) *status.ProofStatus {
	if len(s.days) == 0 {
		return nil
	}
	asked := slices.Sorted(maps.Keys(s.days))
	oldest, err := calendar.AddDays(asked[len(asked)-1], 1-calendar.MaxRange)
	if err != nil {
		return nil // no days of our time
	}
	if first == "" {
		first = asked[0]
	}
	sum := &status.ProofStatus{AskedAt: s.asked, FirstDay: string(max(first, oldest))}
	for _, d := range s.days {
		switch {
		case d.drift:
			sum.DriftDays++
		case d.bad:
			sum.OpenDays++
		case d.explained:
			sum.ExplainedDays++
		}
	}
	unbroken := true
	for day := types.Date(sum.FirstDay); day < today && day <= asked[len(asked)-1]; {
		d := s.days[day]
		if !d.daily {
			sum.UnaskedDays++
		}
		if unbroken = unbroken && d.daily && !d.bad; unbroken {
			sum.ProvenUntil = string(day)
		}
		if day, err = calendar.AddDays(day, 1); err != nil {
			break
		}
	}
	return sum
}

// proofChanged sums up anew what the verdicts about the last 92 days come to. What is
// asked for no more, a location that the key has lost, say, counts no more.
func (d *SourceProofs) proofChanged() {
	today := calendar.DayOf(d.source.ServiceNow())
	from, err := calendar.AddDays(today, 1-calendar.MaxRange)
	if err != nil {
		return // no day of our time
	}
	sum := proofSum{days: map[types.Date]proofDay{}}
	for _, st := range d.On() {
		places := st.OpenPlaces()
		st.mu.Lock()
		for at, v := range st.record.days {
			day, location, _ := strings.Cut(at, "/")
			if day >= string(from) && slices.Contains(places, location) {
				sum.take(types.Date(day), st.subject() == sinks.SubjectDaily, v)
			}
		}
		st.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proof = sum.status(d.first, today)
}

// readFirstDay reads which day the first mirrored order is of, for what the verdicts come
// to: at each deep run, and until there is one.
func (d *SourceProofs) readFirstDay(ctx context.Context, deep bool) error {
	d.mu.Lock()
	known := d.first != ""
	d.mu.Unlock()
	if known && !deep {
		return nil
	}
	first, err := d.source.Sink.FirstDay(ctx, d.source.Business())
	if err != nil {
		return fmt.Errorf("first day of the orders: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = types.Date(first)
	return nil
}

// withdrawVerdictsOfAll takes back what was found of all locations together: it would stand for ever,
// since the key is not asked for them any more.
func (r *record) withdrawVerdictsOfAll(ctx context.Context) error {
	r.proofs.mu.Lock()
	maps.DeleteFunc(r.days, func(key string, _ standing) bool { return !strings.Contains(key, "/") })
	r.proofs.mu.Unlock()
	today := calendar.DayOf(r.proofs.Source.ServiceNow())
	all, err := r.proofs.Source.Sink.Verdicts(ctx, r.proofs.Source.Business(), r.proofs.Source.Name, string(totals.FirstDay), string(today))
	if err != nil {
		return fmt.Errorf("read the verdicts that stand: %w", err)
	}
	c := r.proofs.Source.Commit(r.proofs.Def.Name)
	for _, v := range all {
		if v.Location == "" && v.Subject == r.proofs.subject() {
			c.Verdicts = append(c.Verdicts, sinks.Verdict{Day: v.Day, Subject: v.Subject, Verdict: sinks.VerdictWithdrawn, AskedAt: v.AskedAt})
		}
	}
	if len(c.Verdicts) == 0 {
		return nil
	}
	return r.proofs.Source.Commits.Store(ctx, c)
}
