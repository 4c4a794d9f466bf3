package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"time"
	"unique"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// verdicts are what was found last about the days of a stream. A verdict is stored when it is not the
// last one over again.
type verdicts struct {
	stream *stream.Stream
	shared *Shared

	mu   sync.Mutex
	last byDay[lastVerdict]
}

// lastVerdict is the last verdict about a day.
type lastVerdict struct {
	verdict string // empty for none
	asked   int64  // when the service was asked for the day, by the service's clock, in microseconds
	hash    uint64 // of the last proof of it; 0 when a process before this one wrote it, but of a day that differs
	gap     *gap   // that was found last, since the day was right last; nil for none
}

func (l lastVerdict) askedAt() time.Time { return time.UnixMicro(l.asked).UTC() }

// isProven reports whether a day with the verdict is proven.
func isProven(verdict string) bool {
	return verdict == sinks.VerdictProven || verdict == sinks.VerdictHealed
}

// isGood reports whether a day with the verdict is proven, or as good as proven.
func isGood(verdict string) bool { return isProven(verdict) || verdict == sinks.VerdictExplained }

// differs reports whether the day is known to differ.
func (l lastVerdict) differs() bool {
	return l.verdict == sinks.VerdictDrift || l.verdict == sinks.VerdictExplained
}

// covers reports whether what was found is the last verdict over again.
func (l lastVerdict) covers(p dayProof) bool {
	switch {
	case l.verdict == "": // there is none
		return false
	case p.passing:
		return l.verdict != sinks.VerdictUnsettled // else the earlier verdict is kept
	case p.Verdict == sinks.VerdictHealed, p.Verdict != l.verdict && (!isProven(p.Verdict) || !isProven(l.verdict)):
		return false
	case l.hash == 0 && !l.differs():
		return isGood(l.verdict) && schedule.DayOf(l.askedAt()) > p.Day // the day was over when it was proven
	}
	return l.hash == p.hash
}

// subject is what the stream's days are proofs of.
func (v *verdicts) subject() string {
	if v.stream.Def.LinesMayVanish {
		return sinks.SubjectProducts
	}
	return sinks.SubjectDaily
}

// about is the last verdict about a day.
func (v *verdicts) about(p dayProof) lastVerdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last.at(p.Day, p.Location)
}

// stored reads the stored verdicts about some days, of all streams.
func (d *Shared) stored(ctx context.Context, from, to types.Date) ([]sinks.Verdict, error) {
	all, err := d.source.Sink.Verdicts(ctx, d.source.Business(), d.source.Name, string(from), string(to))
	if err != nil {
		return nil, fmt.Errorf("read the stored verdicts: %w", err)
	}
	return all, nil
}

// stored reads the stored verdicts about some days of the stream.
func (v *verdicts) stored(ctx context.Context, from, to types.Date) ([]sinks.Verdict, error) {
	all, err := v.shared.stored(ctx, from, to)
	// A copy: others who ask for the same days at the same time have the same answer.
	return slices.DeleteFunc(slices.Clone(all), func(verdict sinks.Verdict) bool { return verdict.Subject != v.subject() }), err
}

// restore takes over the stored verdicts from a day on that are not known, to write only what is new:
// those of the last 92 days, at least, about all streams in one read. Older ones are forgotten, unless a
// pass needs them.
func (d *Shared) restore(ctx context.Context, from types.Date) error {
	return d.restoring.Run(ctx, func(ctx context.Context) error {
		today := d.today()
		from = min(from, addDays(today, 1-MaxRange))
		if oldest := addDays(today, -MaxRange); d.since != "" && d.passes.Load() == 0 { // a run may have begun yesterday
			for _, st := range d.streams {
				st.verdicts.forget(oldest)
			}
			d.since = max(d.since, oldest)
		}
		if d.since != "" && d.since <= from {
			return nil
		}
		for _, sp := range ranges(Span{From: from, To: today}) {
			all, err := d.stored(ctx, sp.From, sp.To)
			if err != nil {
				return err
			}
			for _, st := range d.streams {
				st.verdicts.takeOver(all)
			}
		}
		d.since = from
		d.proofChanged()
		return nil
	})
}

// forget forgets the verdicts about days before one.
func (v *verdicts) forget(oldest types.Date) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last.forget(oldest)
}

// takeOver takes over those of the stored verdicts that are about the stream, and not known.
func (v *verdicts) takeOver(all []sinks.Verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, verdict := range all {
		day, location := types.Date(verdict.Day), verdict.Location
		if verdict.Subject == v.subject() && v.last.at(day, location).verdict == "" {
			v.last.set(day, location, restored(verdict, v.stream.Source.Versions))
		}
	}
}

// restored returns what is known by a stored verdict.
func restored(verdict sinks.Verdict, versions *write.VersionClock) lastVerdict {
	last := lastVerdict{verdict: unique.Make(verdict.Verdict).Value(), asked: verdict.AskedAt.UnixMicro()} // days share few texts
	if len(verdict.Differences) > 0 && !isProven(verdict.Verdict) {
		last.gap = &gap{hash: gapHash(verdict.Differences), found: verdict.FoundVersion, fetched: verdict.HealingTried, resynced: verdict.HealingTried}
		if last.gap.found == 0 { // since when is not known
			last.gap.found = versions.Take(1)
		}
		last.gap.since = last.gap.found
		last.hash = verdictHash(*last.gap, verdict.Reason)
	}
	return last
}

// gap is what is known of what a day differs in. That a full resync did not help is known of the day
// until it is right, whatever it differs in then.
func (v *verdicts) gap(p dayProof) gap {
	old := v.about(p)
	hash := gapHash(p.differences)
	if old.gap != nil && old.gap.hash == hash {
		return *old.gap
	}
	now := gap{hash: hash, found: v.stream.Source.Versions.Take(1)}
	if now.since = now.found; old.gap != nil && old.verdict != sinks.VerdictExplained {
		now.since, now.resynced = old.gap.since, old.gap.resynced
	}
	return now
}

// verdictHash is a hash of what the verdict about a day that differs reports. Its figures may move on
// both sides alike.
func verdictHash(g gap, reason string) uint64 {
	return maphash.Comparable(seed, struct {
		gap      uint64
		resynced bool
		reason   string
	}{g.hash, g.resynced, reason})
}

// conclude is handOver that waits until the verdicts are durable.
func (v *verdicts) conclude(ctx context.Context, found []dayProof) ([]dayProof, error) {
	var p pending
	concluded, err := v.handOver(ctx, found, &p)
	return concluded, errors.Join(err, p.wait(ctx, 0))
}

// handOver hands the verdicts that are new to the sink, logs them, and remembers them before they are durable: what
// is lost of them then is lost with the source's life. It returns the verdicts as they are. A day that differs at first
// sight is unsettled, or left out where it is known to differ; one that was a drift, and is proven, is healed.
func (v *verdicts) handOver(ctx context.Context, found []dayProof, to *pending) ([]dayProof, error) {
	var concluded []dayProof
	var news []sinks.Verdict
	for _, p := range found {
		old := v.about(p)
		switch {
		case v.stream.NotAskedFor(p.Location), p.differs() && old.differs():
			continue
		case p.differs():
			p.Verdict, p.Reason = sinks.VerdictUnsettled, "it differs at first sight, and is asked once more"
		case p.Verdict == sinks.VerdictProven && old.verdict == sinks.VerdictDrift:
			p.Verdict = sinks.VerdictHealed
		}
		if p.Verdict == sinks.VerdictDrift || p.Verdict == sinks.VerdictExplained { // figures may move on both sides alike
			p.hash = verdictHash(p.gap, p.Reason)
		}
		p.isNew = !old.covers(p)
		concluded = append(concluded, p)
	}
	if err := v.complete(ctx, concluded); err != nil {
		return nil, err
	}
	for _, p := range concluded {
		if p.isNew {
			news = append(news, v.verdictOf(p))
		}
	}
	if err := v.hand(ctx, news, to); err != nil {
		return nil, err
	}
	v.log(ctx, concluded)
	v.remember(concluded)
	return concluded, nil
}

// complete takes from the stored verdicts of drifts what days had differed in, and by which orders, unless
// it was found just now.
func (v *verdicts) complete(ctx context.Context, days []dayProof) error {
	byKey, from, to := map[string]*dayProof{}, v.shared.today(), FirstDay
	for i := range days {
		p := &days[i]
		if p.isNew && (p.Verdict == sinks.VerdictHealed && len(p.differences) == 0 || p.Verdict == sinks.VerdictDrift && len(p.ids) == 0) {
			byKey[p.key()], from, to = p, min(from, p.Day), max(to, p.Day)
		}
	}
	if len(byKey) == 0 {
		return nil
	}
	stored, err := v.stored(ctx, from, to)
	for _, verdict := range stored {
		p := byKey[DayKey(types.Date(verdict.Day), verdict.Location)]
		if p == nil || verdict.Verdict != sinks.VerdictDrift {
			continue
		}
		if p.ids = verdict.OrderIDs; p.Verdict == sinks.VerdictHealed {
			p.differences = verdict.Differences
		}
	}
	return err
}

// hand hands verdicts to the sink, if there are any.
func (v *verdicts) hand(ctx context.Context, all []sinks.Verdict, p *pending) error {
	if len(all) == 0 {
		return nil
	}
	c := v.stream.Source.Commit(v.stream.Def.Name)
	c.Verdicts = all
	r, err := v.stream.Source.Commits.Write(ctx, c)
	if err == nil {
		p.commits = append(p.commits, handedOver{receipt: r})
	}
	return err
}

// mostIDs is how many orders a verdict names.
const mostIDs = 100

func (v *verdicts) verdictOf(p dayProof) sinks.Verdict {
	ids := slices.Compact(slices.Sorted(slices.Values(p.ids)))
	return sinks.Verdict{
		Location: p.Location, Day: string(p.Day), Subject: v.subject(), Verdict: p.Verdict, Differences: p.differences,
		OrderIDs: ids[:min(len(ids), mostIDs)], Requests: p.requests, Reason: p.Reason, HealingTried: p.gap.resynced, FoundVersion: p.gap.found, AskedAt: p.at,
	}
}

// log logs the new verdicts about days that differ, or did; that a day differs, once for all its
// locations.
func (v *verdicts) log(ctx context.Context, concluded []dayProof) {
	locations := map[types.Date][]string{} // that differ
	for _, p := range concluded {
		if p.isNew && p.Verdict == sinks.VerdictDrift {
			locations[p.Day] = append(locations[p.Day], cmp.Or(p.Location, "all"))
		}
	}
	for _, p := range concluded {
		if !p.isNew || p.Verdict == sinks.VerdictProven {
			continue
		}
		log := v.stream.Source.Log.With("stream", v.stream.Def.Name, "day", p.Day, "differences", shown(p.differences))
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
func shown(all []sinks.Difference) (texts []string) {
	for _, d := range all {
		texts = append(texts, d.Figure+": service "+d.Service+", mirror "+d.Mirror)
	}
	return text.Few(texts)
}

// remember notes the last verdicts.
func (v *verdicts) remember(found []dayProof) {
	if len(found) == 0 {
		return
	}
	v.mu.Lock()
	for _, p := range found {
		last := v.last.at(p.Day, p.Location)
		if p.isNew {
			last.verdict, last.asked, last.hash = p.Verdict, p.at.UnixMicro(), 0
		}
		if !p.passing {
			last.hash = p.hash
		}
		switch {
		case isProven(p.Verdict):
			last.gap = nil
		case p.gap.hash != 0:
			last.gap = new(p.gap)
		}
		v.last.set(p.Day, p.Location, last)
	}
	v.mu.Unlock()
	v.shared.proofChanged()
}

// withdrawOfAll withdraws the verdicts about all locations together, which the key is not asked for
// any more: no other would replace them.
func (v *verdicts) withdrawOfAll(ctx context.Context) error {
	if err := v.shared.restoring.Take(ctx); err != nil { // what was read before is taken over before
		return err
	}
	defer v.shared.restoring.Release()
	v.mu.Lock()
	delete(v.last, "")
	v.mu.Unlock()
	stored, err := v.stored(ctx, FirstDay, v.shared.today())
	if err != nil {
		return err
	}
	var withdrawn []sinks.Verdict
	for _, verdict := range stored {
		if verdict.Location == "" {
			withdrawn = append(withdrawn, sinks.Verdict{Day: verdict.Day, Subject: verdict.Subject, Verdict: sinks.VerdictWithdrawn, AskedAt: verdict.AskedAt})
		}
	}
	var p pending
	return errors.Join(v.hand(ctx, withdrawn, &p), p.wait(ctx, 0))
}
