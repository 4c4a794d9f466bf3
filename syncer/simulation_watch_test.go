package syncer

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/stream"
)

// watch checks at every commit what must hold at every instant:
//
//   - A checkpoint never stands further than what is durable: every row that the
//     service has and that a walk which goes on from this checkpoint would not
//     bring again is in the store, as new as the service has it.
//   - A list that is replaced as a whole is stored whole: what its checkpoint names
//     lives or is in quarantine, and nothing else lives.
//   - A watermark never goes back, and never more than a minute past the service's
//     clock.
//   - Two rows of a source that the service sent never have one version.
type watch struct {
	e  *episode
	mu sync.Mutex // guards the episode's list of wrongs, and the verdicts

	seed     maphash.Seed
	versions map[sourceVersion]uint64    // hash of what was stored with it
	marks    map[string]time.Time        // watermark by source, stream and walk
	born     map[string]time.Time        // since when the incremental walks see everything
	filled   map[string]bool             // the backfill is durable
	caught   map[string]sinks.Checkpoint // of the incremental walks, by source and stream
	owed     map[string]sinks.Checkpoint // the full resync that is owed, by source and stream
	walked   map[string][]string         // locations that are walked, by source and stream
	doubt    map[string][]string         // those that were gained or lost, until a long walk that began since has ended
	cut      map[string]uint64           // menus that a flush stored before it was cut, by location: their row's version
	checked  int
	verdicts int
	alarms   []alarm
}

// sourceVersion is a version, which is a source's own: two daemons may share the rest.
type sourceVersion struct {
	source  string
	version uint64
}

func newWatch(e *episode) *watch {
	return &watch{
		e: e, seed: maphash.MakeSeed(), versions: map[sourceVersion]uint64{},
		marks: map[string]time.Time{}, born: map[string]time.Time{}, filled: map[string]bool{},
		owed: map[string]sinks.Checkpoint{}, walked: map[string][]string{}, doubt: map[string][]string{}, caught: map[string]sinks.Checkpoint{}, cut: map[string]uint64{},
	}
}

func (v *watch) stored(c *sinks.Commit, durable bool) {
	v.versionsOf(c)
	if durable {
		v.verdictsOf(c)
	} else if c.Stream == sandbox.StreamMenus && c.Batch != nil {
		for _, r := range c.Batch.Rows { // without the checkpoint that would tell their versions
			v.cut[r.ID] = r.Version
		}
	}
	cp := c.Checkpoint
	if !durable || cp == nil {
		return
	}
	switch cp.Walk {
	case sinks.WalkIncremental:
		v.watermark(cp)
		v.covered(c)
	case sinks.WalkBackfill:
		v.ended(cp)
		v.covered(c)
	case sinks.WalkSnapshot:
		v.whole(c)
	case sinks.WalkMenus:
		v.menus(c)
	case sinks.WalkFull:
		v.ended(cp)
	case sinks.WalkOwed:
		v.owes(cp)
	}
}

// owes takes over the locations that are walked now.
func (v *watch) owes(cp *sinks.Checkpoint) {
	var at struct{ Locations []string }
	if err := json.Unmarshal([]byte(cp.Position), &at); err != nil {
		v.e.fault("locations of %s %s: %v", cp.Source, cp.Stream, err)
	}
	key := cp.Source + " " + cp.Stream
	if was, known := v.walked[key]; known {
		v.doubt[key] = slices.Concat(v.doubt[key], without(at.Locations, was), without(was, at.Locations))
	}
	v.owed[key], v.walked[key] = *cp, at.Locations
}

// ended takes over a long walk that began after the last change, and has come to its end.
func (v *watch) ended(cp *sinks.Checkpoint) {
	if key := cp.Source + " " + cp.Stream; cp.Done && cp.FirstVersion > v.owed[key].FirstVersion {
		delete(v.doubt, key)
	}
}

// without are all but some.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(some, l) })
}

// verdictsOf keeps the verdicts that claim that a day differed.
func (v *watch) verdictsOf(c *sinks.Commit) {
	var alarms []alarm
	for _, found := range c.Verdicts {
		switch {
		case found.Verdict == sinks.VerdictDrift || found.Verdict == sinks.VerdictHealed:
			business := v.e.businessOf(c.Source)
			alarms = append(alarms, alarm{business, time.Now(), v.e.unseenRefunds(business, found), found})
		case found.Verdict == sinks.VerdictExplained && !v.e.plan.leavesOpen(found.Subject):
			v.e.fault("explained, though the service counts as the mirror does: %+v", found)
		}
	}
	v.mu.Lock() // no earlier: a fault takes it, too
	defer v.mu.Unlock()
	v.verdicts += len(c.Verdicts)
	v.alarms = append(v.alarms, alarms...)
}

func (v *watch) alarmsSoFar() []alarm {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.alarms)
}

func (v *watch) versionsOf(c *sinks.Commit) {
	if c.Batch != nil {
		for _, r := range c.Batch.Rows {
			v.version(sourceVersion{c.Source, r.Version}, c.Stream, r.ID, r.Raw)
		}
	}
	for _, t := range c.Tombstones {
		if t.Raw == nil {
			continue // a sweep removes with the one version of its full resync
		}
		v.version(sourceVersion{c.Source, t.Version}, c.Stream, t.ID, t.Raw)
	}
}

func (v *watch) version(n sourceVersion, stream, id string, raw []byte) {
	var h maphash.Hash
	h.SetSeed(v.seed)
	_, _ = h.WriteString(stream + "\x00" + id + "\x00") // a maphash never fails
	_, _ = h.Write(raw)
	sum := h.Sum64()
	if old, known := v.versions[n]; known && old != sum {
		v.e.fault("version %+v belongs to two rows, one of them %s %q", n, stream, id)
	}
	v.versions[n] = sum
}

func (v *watch) watermark(cp *sinks.Checkpoint) {
	key := cp.Source + " " + cp.Stream + " " + cp.Walk
	if cp.Watermark.Before(v.marks[key]) {
		v.e.fault("%s: the watermark went back from %s to %s", key, v.marks[key], cp.Watermark)
	}
	v.marks[key] = cp.Watermark
	if now := v.e.serviceNow(); cp.Watermark.After(now.Add(list.MaxFutureStamp)) {
		v.e.fault("%s: watermark %s while the service's clock is at %s", key, cp.Watermark, now)
	}
}

// covered checks the rows that would not come again after this checkpoint.
func (v *watch) covered(c *sinks.Commit) {
	cp := c.Checkpoint
	key := cp.Source + " " + cp.Stream
	mark := list.Checkpoint{Checkpoint: *cp}
	from, to := cp.Since, mark.Next()
	switch {
	case cp.Walk == sinks.WalkBackfill:
		v.filled[key] = cp.Done
		to = mark.Restart()
		if cp.Done {
			to = v.leftFrom(cp)
		}
	case v.born[key].IsZero():
		v.born[key], v.caught[key] = cp.Since, *cp
		return
	default:
		v.caught[key] = *cp
		if from = v.born[key]; v.filled[key] {
			from = time.Time{}
		}
		if cp.Cursor != "" {
			to = mark.Restart()
		}
	}
	v.holds(c, from, to)
}

// leftFrom is from when on a backfill that is done leaves everything to the incremental
// walks: behind its watermark, and what changed since the last of them began.
func (v *watch) leftFrom(cp *sinks.Checkpoint) time.Time {
	last := v.caught[cp.Source+" "+cp.Stream]
	if last.Cursor != "" {
		return stream.Earlier(cp.Watermark.Add(-sandbox.MaxStampDelay), last.Since)
	}
	return stream.Earlier(cp.Watermark, last.StartedAt).Add(-sandbox.MaxStampDelay)
}

// holds checks that the rows stamped in a span of time are in the store.
func (v *watch) holds(c *sinks.Commit, from, to time.Time) {
	business, list := v.e.businessOf(c.Source), c.Stream
	stamps, err := v.e.box.Stamps(v.e.key(business), list)
	if err != nil {
		return // the key is gone just now; what is missing shows at the next commit
	}
	spoilt := v.e.spoilt(business, list)
	if list == registry.Orders {
		maps.Copy(spoilt, v.e.damagedRows(business))
	}
	for id, s := range stamps {
		if s.At.Before(from) || !s.At.Before(to) || !v.brings(c.Source+" "+list, s.Location) || spoilt[id] {
			continue
		}
		v.checked++
		row := v.e.store.Row(list, c.Business, id)
		switch {
		case row.Source == "" && s.Removed && v.e.plan.located: // whose it was is not said
		case row.Source == "":
			v.e.fault("%s %s: the %s checkpoint goes on from %s, row %q of %s is not stored", c.Source, list, c.Checkpoint.Walk, to, id, s.At)
		case s.Removed != row.Deleted:
			v.e.fault("%s %s: the %s checkpoint goes on from %s, row %q of %s is stored as deleted=%v", c.Source, list, c.Checkpoint.Walk, to, id, s.At, row.Deleted)
		case !s.Removed && stampOn(row.Raw).Before(s.At):
			v.e.fault("%s %s: the %s checkpoint goes on from %s, row %q of %s is stored as of %s", c.Source, list, c.Checkpoint.Walk, to, id, s.At, stampOn(row.Raw))
		}
	}
}

// whole checks that what lives of a list without a cursor is what was listed.
func (v *watch) whole(c *sinks.Commit) {
	ids, err := replace.IDs(*c.Checkpoint)
	if err != nil {
		v.e.fault("listing of %s %s: %v", c.Source, c.Stream, err)
	}
	for _, id := range ids {
		bad := slices.ContainsFunc(c.Quarantine, func(q sinks.Quarantined) bool { return q.ID == id })
		if row := v.e.store.Row(c.Stream, c.Business, id); !bad && (row.Source == "" || row.Deleted) && !v.bad(c, id) {
			v.e.fault("%s %s: %q is listed, and stored as %+v", c.Source, c.Stream, id, row)
		}
	}
	for id, row := range v.e.store.Rows(c.Stream, c.Business) {
		if !row.Deleted && !slices.Contains(ids, id) {
			v.e.fault("%s %s: %q lives and is not listed", c.Source, c.Stream, id)
		}
	}
}

// bad is true when a row is in quarantine.
func (v *watch) bad(c *sinks.Commit, id string) bool {
	return slices.ContainsFunc(v.e.store.Entries(), func(q memsink.Entry) bool {
		return q.Open && q.Source == c.Source && q.Stream == c.Stream && q.ID == id
	})
}

// brings reports whether walks bring the rows of a location. Those of one that the key has
// gained or lost come with the full resync that is owed.
func (v *watch) brings(key, location string) bool {
	return location == "" || slices.Contains(v.walked[key], location) && !slices.Contains(v.doubt[key], location)
}

// stampOn is the updated_at of a stored row, which has one and no other beside it.
func stampOn(raw string) time.Time {
	const field = `"updated_at":"`
	_, text, found := strings.Cut(raw, field)
	text, _, _ = strings.Cut(text, `"`)
	at, err := time.Parse(time.RFC3339Nano, text)
	if !found || err != nil {
		return time.Time{}
	}
	return at
}

// businessOf is the number of a source's restaurant.
func (e *episode) businessOf(source string) int { return int(source[1] - '0') }

// spoilt are the rows of a list that were ever served other than they are.
func (e *episode) spoilt(business int, list string) map[string]bool {
	ids := map[string]bool{}
	for _, r := range e.box.Spoilt() {
		if r.Business == business && listRoutes[r.Route] == list {
			ids[r.ID] = true
		}
	}
	for _, row := range e.blurredRows() {
		if row.business == business && row.stream == list {
			ids[row.id] = true
		}
	}
	return ids
}

// blur notes that a row is served other than it is.
func (e *episode) blur(row rowName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.blurred[row] = true
}

func (e *episode) blurredRows() []rowName {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.SortedFunc(maps.Keys(e.blurred), func(a, b rowName) int {
		return cmp.Or(cmp.Compare(a.business, b.business), cmp.Compare(a.stream, b.stream), cmp.Compare(a.id, b.id))
	})
}
