package proof

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// standing is the verdict that stands about a day.
type standing struct {
	verdict     string
	asked       time.Time // when the service was asked for it, by the service's clock
	differences []sinks.Difference
	ids         []string // of orders involved
	resynced    bool     // a full resync of the orders did not help
	walked      bool     // fetching the day's orders anew did not help; this process knows
	sum         uint64   // of the figures it is about, 0 when a process before this one wrote it
}

// class is what a verdict says: proven and healed say the same.
func class(verdict string) string {
	if verdict == sinks.VerdictHealed {
		return sinks.VerdictProven
	}
	return verdict
}

// isGood reports whether the day is proven, or as good as proven.
func (s standing) isGood() bool {
	return class(s.verdict) == sinks.VerdictProven || s.verdict == sinks.VerdictExplained
}

// differs reports whether the day is known to differ.
func (s standing) differs() bool {
	return s.verdict == sinks.VerdictDrift || s.verdict == sinks.VerdictExplained
}

// covers reports whether a verdict would say nothing that the standing one does not.
func (s standing) covers(p DayProof) bool {
	switch {
	case p.Passing:
		return s.verdict != sinks.VerdictUnsettled // what was found stays found
	case p.Verdict == sinks.VerdictHealed, class(p.Verdict) != class(s.verdict):
		return false
	case s.differs(): // figures may move on both sides alike
		return s.resynced == p.resynced && sameGap(s.differences, p.differences)
	case s.sum == 0:
		return s.isGood() && calendar.DayOf(s.asked) > p.Day // the day was over when it was proven
	}
	return s.sum == p.sum
}

// subject is what the stream's days are proofs of.
func (st *Totals) subject() string {
	if st.Def.LinesMayVanish {
		return sinks.SubjectProducts
	}
	return sinks.SubjectDaily
}

// verdictAbout is the verdict that stands about a day.
func (st *Totals) verdictAbout(p DayProof) (s standing, known bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s, known = st.verdicts[p.key()]
	return s, known
}

// storedVerdicts reads the verdicts of the stream that stand.
func (st *Totals) storedVerdicts(ctx context.Context, from, to types.Date) ([]sinks.Verdict, error) {
	all, err := st.Source.Sink.Verdicts(ctx, st.Source.Business(), st.Source.Name, string(from), string(to))
	if err != nil {
		return nil, fmt.Errorf("read the verdicts that stand: %w", err)
	}
	return slices.DeleteFunc(all, func(v sinks.Verdict) bool { return v.Subject != st.subject() }), nil
}

// readVerdicts reads the verdicts that stand about days, to write only what is new.
func (st *Totals) readVerdicts(ctx context.Context, from, to types.Date) error {
	all, err := st.storedVerdicts(ctx, from, to)
	if err != nil {
		return err
	}
	st.mu.Lock()
	for _, v := range all {
		key := DayKey(types.Date(v.Day), v.Location)
		if _, known := st.verdicts[key]; !known {
			st.verdicts[key] = standing{verdict: v.Verdict, asked: v.AskedAt, differences: v.Differences, ids: v.OrderIDs, resynced: v.HealingTried}
		}
	}
	st.mu.Unlock()
	st.shared.proofChanged()
	return nil
}

// readLastDays reads the verdicts about the last days, once, and forgets older ones.
func (st *Totals) readLastDays(ctx context.Context) error {
	today := st.shared.today()
	from, err := calendar.AddDays(today, -calendar.MaxRange)
	if err != nil {
		return err
	}
	st.mu.Lock()
	read := st.read
	maps.DeleteFunc(st.verdicts, func(key string, _ standing) bool { return key < string(from) })
	st.mu.Unlock()
	if read {
		return nil
	}
	if err := st.readVerdicts(ctx, from, today); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.read = true
	for key, s := range st.verdicts { // a process before this one ended between its two looks
		day, _, _ := strings.Cut(key, "/")
		st.repeat = st.repeat || s.verdict == sinks.VerdictUnsettled && !st.isRecent(types.Date(day))
	}
	return nil
}

// conclude stores the verdicts that say something new, waits until they are durable, and logs
// them. It returns the verdicts as they are: a day that differs at first sight is unsettled, or
// left out where that it differs stands already; one that was a drift, and is proven, is healed.
func (st *Totals) conclude(ctx context.Context, found []DayProof) ([]DayProof, error) {
	c := st.Source.Commit(st.Def.Name)
	var concluded, news []DayProof
	for _, p := range found {
		old, known := st.verdictAbout(p)
		switch {
		case st.NotAskedFor(p.Location), p.differs() && old.differs():
			continue
		case p.differs():
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "it differs at first sight, and is asked once more"
		case p.Verdict == sinks.VerdictProven && old.verdict == sinks.VerdictDrift:
			p.Verdict, p.differences = sinks.VerdictHealed, old.differences
		}
		concluded = append(concluded, p)
		if !known || !old.covers(p) {
			news = append(news, p)
			c.Verdicts = append(c.Verdicts, st.verdictOf(p))
		}
	}
	if len(news) > 0 {
		if err := st.Source.Commits.Store(ctx, c); err != nil {
			return nil, err
		}
	}
	st.logVerdicts(ctx, news)
	st.remember(concluded)
	return concluded, nil
}

// mostIDs is how many orders a verdict names.
const mostIDs = 100

func (st *Totals) verdictOf(p DayProof) sinks.Verdict {
	ids := slices.Compact(slices.Sorted(slices.Values(p.ids)))
	return sinks.Verdict{
		Location: p.Location, Day: string(p.Day), Subject: st.subject(), Verdict: p.Verdict, Differences: p.differences,
		OrderIDs: ids[:min(len(ids), mostIDs)], Requests: p.requests, Reason: p.Reason, HealingTried: p.resynced, AskedAt: p.at,
	}
}

// logVerdicts logs the verdicts about days that differ, or did; that a day differs, once for all
// its locations.
func (st *Totals) logVerdicts(ctx context.Context, news []DayProof) {
	locations := map[types.Date][]string{} // that differ
	for _, p := range news {
		if p.Verdict == sinks.VerdictDrift {
			locations[p.Day] = append(locations[p.Day], cmp.Or(p.Location, "all"))
		}
	}
	for _, p := range news {
		log := st.Source.Log.With("stream", st.Def.Name, "day", p.Day, "differences", shown(p.differences))
		switch {
		case p.Verdict == sinks.VerdictDrift && locations[p.Day] != nil:
			level := slog.LevelWarn
			if p.resynced { // a person has to look
				level = slog.LevelError
			}
			log.Log(ctx, level, "a day differs from what the service reports", "locations", locations[p.Day], "orders", phrase.Few(p.ids),
				"reason", p.Reason, "next", "docs/operations.md, \"A day differs\"")
			delete(locations, p.Day)
		case p.Verdict == sinks.VerdictExplained && p.explained != "":
			log.Info("a day differs by what the API leaves open, and counts as proven", "location", p.Location, "reason", p.Reason)
		case p.Verdict == sinks.VerdictHealed:
			log.Info("a day that differed is healed", "location", p.Location, "orders", phrase.Few(p.ids), "requests", p.requests)
		}
	}
}

// shown are differences in words, the first few of them.
func shown(all []sinks.Difference) []string {
	const most = 5
	var texts []string
	for i, d := range all {
		if i == most {
			return append(texts, "…")
		}
		texts = append(texts, d.Figure+": service "+d.Service+", mirror "+d.Mirror)
	}
	return texts
}

// remember notes what stands now.
func (st *Totals) remember(found []DayProof) {
	st.mu.Lock()
	for _, p := range found {
		old, known := st.verdicts[p.key()]
		if !known || !old.covers(p) {
			old = standing{verdict: p.Verdict, asked: p.at, differences: p.differences, ids: p.ids, resynced: p.resynced}
		}
		if !p.Passing {
			old.sum, old.walked = p.sum, p.walked
		}
		st.verdicts[p.key()] = old
	}
	st.mu.Unlock()
	st.shared.proofChanged()
}

// withdrawVerdictsOfAll takes back what was found of all locations together: it would stand for
// ever, since the key is not asked for them any more.
func (st *Totals) withdrawVerdictsOfAll(ctx context.Context) error {
	st.mu.Lock()
	maps.DeleteFunc(st.verdicts, func(key string, _ standing) bool { return !strings.Contains(key, "/") })
	st.mu.Unlock()
	all, err := st.storedVerdicts(ctx, FirstDay, st.shared.today())
	if err != nil {
		return err
	}
	c := st.Source.Commit(st.Def.Name)
	for _, v := range all {
		if v.Location == "" {
			c.Verdicts = append(c.Verdicts, sinks.Verdict{Day: v.Day, Subject: v.Subject, Verdict: sinks.VerdictWithdrawn, AskedAt: v.AskedAt})
		}
	}
	if len(c.Verdicts) == 0 {
		return nil
	}
	return st.Source.Commits.Store(ctx, c)
}

// proofDay is what all verdicts about one day come to. daily: one of them is about the
// day's own totals.
type proofDay struct{ bad, drift, explained, daily bool }

// Of sums up the verdicts that stand about a source's days; nil without any. first
// is the day of the first mirrored order, empty when there is none; today is not over.
func Of(verdicts []sinks.Verdict, first, today types.Date) *status.ProofStatus {
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
	d.bad = d.bad || !v.isGood()
	d.drift = d.drift || v.verdict == sinks.VerdictDrift
	d.explained = d.explained || v.verdict == sinks.VerdictExplained
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
func (d *Shared) proofChanged() {
	today := d.today()
	from, err := calendar.AddDays(today, 1-calendar.MaxRange)
	if err != nil {
		return // no day of our time
	}
	sum := proofSum{days: map[types.Date]proofDay{}}
	inactive := d.source.Identity().Inactive
	for _, st := range d.On() {
		locations := st.deepLocations()
		st.mu.Lock()
		for at, v := range st.verdicts {
			day, location, _ := strings.Cut(at, "/")
			if day >= string(from) && slices.Contains(locations, location) && !slices.Contains(inactive, location) {
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
func (d *Shared) readFirstDay(ctx context.Context, deep bool) error {
	d.mu.Lock()
	known := d.first != ""
	d.mu.Unlock()
	if known && !deep {
		return nil
	}
	first, err := d.firstDay(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.first = first
	return nil
}
