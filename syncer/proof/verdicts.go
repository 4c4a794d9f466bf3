package proof

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/calendar"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// standing is the verdict that stands about a day.
type standing struct {
	verdict     string
	asked       time.Time // when the service was asked for it, by the service's clock
	sum         uint64    // of the figures it is about, 0 when a process before this one wrote it
	verdictHash uint64    // hash of what is stored of a day that differs
	gap         gap       // that was found last, since the day was right last
}

// class is what a verdict says: proven and healed say the same.
func class(verdict string) string {
	if verdict == sinks.VerdictHealed {
		return sinks.VerdictProven
	}
	return verdict
}

// isProven reports whether the day is proven.
func (s standing) isProven() bool { return class(s.verdict) == sinks.VerdictProven }

// isGood reports whether the day is proven, or as good as proven.
func (s standing) isGood() bool {
	return s.isProven() || s.verdict == sinks.VerdictExplained
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
		return s.verdictHash == p.verdictHash
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
			st.verdicts[key] = st.restored(v)
		}
	}
	st.mu.Unlock()
	st.shared.proofChanged()
	return nil
}

// restored returns what is known by a stored verdict.
func (st *Totals) restored(v sinks.Verdict) standing {
	s := standing{verdict: v.Verdict, asked: v.AskedAt}
	if len(v.Differences) > 0 && !s.isProven() {
		s.gap = gap{hash: gapHash(st.seed, v.Differences), found: v.FoundVersion, fetched: v.HealingTried, resynced: v.HealingTried}
		if s.gap.found == 0 { // since when is not known
			s.gap.found = st.Source.Versions.Take(1)
		}
		s.gap.since = s.gap.found
		s.verdictHash = verdictHash(st.seed, s.gap, v.Reason)
	}
	return s
}

// knownGap is what is known of what a day differs in. That a full resync did not help is known of the
// day until it is right, whatever it differs in then.
func (st *Totals) knownGap(p DayProof) gap {
	old, _ := st.verdictAbout(p)
	hash := gapHash(st.seed, p.differences)
	if old.gap.hash == hash {
		return old.gap
	}
	now := gap{hash: hash, found: st.Source.Versions.Take(1)}
	if now.since = now.found; old.gap.hash != 0 && old.verdict != sinks.VerdictExplained {
		now.since, now.resynced = old.gap.since, old.gap.resynced
	}
	return now
}

// verdictHash is a hash of what the verdict about a day that differs reports. Its figures may move on
// both sides alike.
func verdictHash(seed maphash.Seed, g gap, reason string) uint64 {
	return maphash.Comparable(seed, struct {
		gap      uint64
		resynced bool
		reason   string
	}{g.hash, g.resynced, reason})
}

// readLastDays reads the verdicts about the last days, once, and forgets older ones, unless a pass
// needs them.
func (st *Totals) readLastDays(ctx context.Context) error {
	today := st.shared.today()
	from, err := calendar.AddDays(today, -calendar.MaxRange)
	if err != nil {
		return err
	}
	passing := st.shared.passing()
	st.mu.Lock()
	read := st.read
	maps.DeleteFunc(st.verdicts, func(key string, _ standing) bool { return key < string(from) && !passing })
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
		if s.verdict == sinks.VerdictUnsettled && !st.isRecent(types.Date(day)) {
			st.repeatAt = time.Now()
		}
	}
	return nil
}

// conclude stores the verdicts that say something new, waits until they are durable, and logs
// them. It returns the verdicts as they are: a day that differs at first sight is unsettled, or
// left out where that it differs stands already; one that was a drift, and is proven, is healed.
func (st *Totals) conclude(ctx context.Context, found []DayProof) ([]DayProof, error) {
	var concluded []DayProof
	for _, p := range found {
		old, known := st.verdictAbout(p)
		switch {
		case st.NotAskedFor(p.Location), p.differs() && old.differs():
			continue
		case p.differs():
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "it differs at first sight, and is asked once more"
		case p.Verdict == sinks.VerdictProven && old.verdict == sinks.VerdictDrift:
			p.Verdict = sinks.VerdictHealed
		}
		p.verdictHash = verdictHash(st.seed, p.gap, p.Reason)
		p.isNew = !known || !old.covers(p)
		concluded = append(concluded, p)
	}
	if err := st.storeNew(ctx, concluded); err != nil {
		return nil, err
	}
	st.logNew(ctx, concluded)
	st.remember(concluded)
	return concluded, nil
}

// storeNew stores the verdicts that say something new, and waits until they are durable. What a day
// had differed in, and by which orders, is in the verdict that stands, unless it was found just now.
func (st *Totals) storeNew(ctx context.Context, concluded []DayProof) error {
	lacks := func(p DayProof) bool {
		return p.isNew && (p.Verdict == sinks.VerdictHealed && len(p.differences) == 0 || p.Verdict == sinks.VerdictDrift && len(p.ids) == 0)
	}
	if slices.ContainsFunc(concluded, lacks) {
		byDay := func(a, b DayProof) int { return cmp.Compare(a.Day, b.Day) }
		stored, err := st.storedVerdicts(ctx, slices.MinFunc(concluded, byDay).Day, slices.MaxFunc(concluded, byDay).Day)
		if err != nil {
			return err
		}
		for i := range concluded {
			p := &concluded[i]
			at := slices.IndexFunc(stored, func(v sinks.Verdict) bool { return DayKey(types.Date(v.Day), v.Location) == p.key() })
			if at < 0 || !lacks(*p) || stored[at].Verdict != sinks.VerdictDrift {
				continue
			}
			if p.ids = stored[at].OrderIDs; p.Verdict == sinks.VerdictHealed {
				p.differences = stored[at].Differences
			}
		}
	}
	c := st.Source.Commit(st.Def.Name)
	for _, p := range concluded {
		if p.isNew {
			c.Verdicts = append(c.Verdicts, st.verdictOf(p))
		}
	}
	if len(c.Verdicts) == 0 {
		return nil
	}
	return st.Source.Commits.Store(ctx, c)
}

// mostIDs is how many orders a verdict names.
const mostIDs = 100

func (st *Totals) verdictOf(p DayProof) sinks.Verdict {
	ids := slices.Compact(slices.Sorted(slices.Values(p.ids)))
	return sinks.Verdict{
		Location: p.Location, Day: string(p.Day), Subject: st.subject(), Verdict: p.Verdict, Differences: p.differences,
		OrderIDs: ids[:min(len(ids), mostIDs)], Requests: p.requests, Reason: p.Reason, HealingTried: p.gap.resynced, FoundVersion: p.gap.found, AskedAt: p.at,
	}
}

// logNew logs the verdicts that say something new about days that differ, or did; that a day
// differs, once for all its locations.
func (st *Totals) logNew(ctx context.Context, concluded []DayProof) {
	news := slices.DeleteFunc(slices.Clone(concluded), func(p DayProof) bool { return !p.isNew })
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
			if p.gap.resynced { // a person has to look
				level = slog.LevelError
			}
			log.Log(ctx, level, "a day differs from what the service reports", "locations", locations[p.Day], "orders", text.Few(p.ids),
				"reason", p.Reason, "next", "docs/operations.md, \"A day differs\"")
			delete(locations, p.Day)
		case p.Verdict == sinks.VerdictExplained && p.explained != "":
			log.Info("a day differs by what the API leaves open, and counts as proven", "location", p.Location, "reason", p.Reason)
		case p.Verdict == sinks.VerdictHealed:
			log.Info("a day that differed is healed", "location", p.Location, "orders", text.Few(p.ids), "requests", p.requests)
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
		s := st.verdicts[p.key()]
		if p.isNew {
			s.verdict, s.asked, s.sum, s.verdictHash = p.Verdict, p.at, 0, p.verdictHash
		}
		if !p.Passing {
			s.sum = p.sum
		}
		switch {
		case class(p.Verdict) == sinks.VerdictProven:
			s.gap = gap{}
		case p.gap.hash != 0:
			s.gap = p.gap
		}
		st.verdicts[p.key()] = s
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
