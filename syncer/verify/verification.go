package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/proof"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/replace"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// errNotFilled means that there is nothing to compare with yet.
var errNotFilled = errors.New("its backfill has not reached its end: let larder run or larder sync finish it, then verify")

// verification is one stream being compared with the API.
type verification struct {
	pass     *Pass
	source   Source
	stream   *stream.Stream
	kind     kind
	mirrored sinks.LiveQuery // the live rows of the mirror that the API is to show
	comparer *mapping.Comparer
	started  time.Time
	filled   bool                 // its backfill has reached its end
	unasked  func(id string) bool // of the rows of the mirror, those that the API is not asked for; nil for none
	heals    string               // what heals a difference
	most     int                  // suspects

	suspects   map[string]*suspect
	open       map[string]sinks.Quarantined
	unreadable bool // rows came whose id cannot be read
	unserved   bool // no daemon serves the source
	far        bool // its turns are off, or too far away to wait for

	mu        sync.Mutex // guards what follows
	result    StreamReport
	ended     bool
	pages     uint64
	pace      stream.Pace
	compared  uint64 // live rows of the API so far, those that came twice included
	expecting uint64 // live rows of the mirror at the start
	turns     time.Time
	waiting   int // suspects that wait until turns
}

// kind is where the rows of the streams of one kind come from.
type kind interface {
	// all hands on every row of the API, in parts, by id.
	all(ctx context.Context, take func(map[string]answer) error) error
	// ask asks the API for suspects, and returns what it says by id.
	ask(ctx context.Context, suspects []*suspect) (map[string]answer, error)
}

// suspect is a row that differed.
type suspect struct {
	id        string
	hash      uint64             // of the meaning of the JSON that the API showed last, 0 for none
	tombstone *mapping.Tombstone // that it was; nil for a live row
}

// answer is what the API says of one row: a live row, a tombstone, or nothing.
type answer struct {
	id        string // empty: it has none, or it cannot be read
	raw       []byte // nil: the API does not show the row
	tombstone *mapping.Tombstone
	context   []string // the values of columns that are not in the row
	optional  bool     // the mirror need not have it
	elsewhere bool     // another source of the restaurant lists the row
}

// read reads a row of the API.
func (v *verification) read(raw []byte) answer {
	a := answer{raw: raw, context: v.stream.Def.Columns("")}
	a.id, a.tombstone = v.comparer.Read(raw, a.context...)
	return a
}

func newVerification(p *Pass, s Source, st *stream.Stream) *verification {
	v := &verification{
		pass: p, source: s, stream: st, started: time.Now(), filled: true, heals: hintResync,
		most: p.limits.Suspects, suspects: map[string]*suspect{},
	}
	given := len(st.Def.Columns(""))
	if st.Def.Kind == registry.TotalsKind {
		given = 0 // what is given with a line is compared
	}
	v.comparer, v.result.Stream = st.Def.Plan.NewComparer(given), st.Def.Name
	v.mirrored = sinks.LiveQuery{Table: st.Def.Name, Business: st.Source.Business()}
	switch f := st.Kind.(type) {
	case *list.List:
		v.kind, v.filled, v.mirrored = &listKind{v, f}, f.Filled(), f.Rows()
	case *proof.Totals:
		k := &totalsKind{v, f, f.TotalSpans(), map[string]bool{}}
		v.kind, v.filled, v.heals, v.most, v.unasked = k, f.Complete(), hintTotals, p.limits.lines, k.notAsked
	case *replace.Stream:
		v.kind, v.mirrored.Source = &wholeKind{v, f}, st.Source.Name
	}
	return v
}

// do does a part of the verification, once more when a rotated key was refused. The stream has
// been verified when it leaves no suspects.
func (v *verification) do(ctx context.Context, part func(context.Context) error) error {
	v.mu.Lock()
	v.waiting = 0
	v.mu.Unlock()
	began := time.Now()
	protected := func() error {
		return v.stream.Source.Protected(ctx, "verify "+v.stream.Def.Name, func(ctx context.Context) error {
			if err := part(ctx); err != nil || len(v.suspects) > 0 {
				return err
			}
			v.tellQuarantine()
			return nil
		})
	}
	err := protected()
	if api.IsUnauthorized(err) && v.source.AskKey(ctx) == nil {
		err = protected()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if api.IsAPIDisabled(err) { // normal life: there is nothing to compare with
		v.result.Off, v.result.OrderingOff, err = stream.Diagnose(err).Detail, true, nil
		clear(v.suspects)
	}
	if err != nil {
		maps.DeleteFunc(v.suspects, v.quarantined)
		v.result.Unjudged += uint64(len(v.suspects))
		clear(v.suspects)
	}
	if v.ended = len(v.suspects) == 0; v.ended {
		v.result.Fail(err)
		v.result.Done = err == nil
	}
	v.result.Took += status.Seconds(time.Since(began))
	return err
}

// quarantined reports whether a suspect has an open entry, and is not judged.
func (v *verification) quarantined(id string, _ *suspect) bool {
	_, open := v.open[id]
	return open
}

// compareAll compares all rows.
func (v *verification) compareAll(ctx context.Context) error {
	st := v.stream
	if st.Off() {
		why, lacks := st.Why(), st.LacksScope()
		v.locked(func() { v.result.Off, v.result.NoScope = why, lacks })
		return nil
	}
	if !v.filled {
		return v.unfilled(ctx)
	}
	if err := v.readQuarantine(ctx); err != nil {
		return err
	}
	return v.compareKind(ctx)
}

// compareKind compares every row of the API, and notes the live rows that it does not show. Which
// rows it has shown is kept as hashes of their ids.
func (v *verification) compareKind(ctx context.Context) error {
	query, most := v.mirrored, v.pass.limits.IDs
	tooMany := fmt.Errorf("the list has more than %d rows, which is more than a verification keeps in memory to find those that only the mirror has", most)
	var live uint64
	if v.stream.Def.Kind == registry.ListKind {
		var err error
		if live, err = v.stream.Source.Sink.CountLive(ctx, query); err != nil {
			return fmt.Errorf("count the live rows: %w", err)
		}
		if live > uint64(most) {
			return tooMany
		}
	}
	v.locked(func() { v.expecting, v.result.Unjudged = live, 0 })
	// There are tombstones too, and rows come meanwhile: a copy on the way would take as much once more.
	shown := make([]uint64, 0, min(int(live+live/8)+v.pass.limits.Rows, most))
	compact := func() {
		slices.Sort(shown)
		shown = slices.Compact(shown)
	}
	err := v.kind.all(ctx, func(rows map[string]answer) error {
		if len(shown)+len(rows) > cap(shown) {
			compact()
		}
		if len(shown)+len(rows) > most {
			return tooMany
		}
		for id := range rows {
			shown = append(shown, maphash.String(seed, id))
		}
		return v.compareRows(ctx, rows)
	})
	if err != nil {
		return err
	}
	compact()
	v.locked(func() { v.result.Rows = uint64(len(shown)) })
	if v.stream.Def.ByKey { // rows of a key that was replaced are not shown any more, and stay
		return nil
	}
	query.Limit = v.pass.limits.Page
	for rows, err := range sinks.LivePages(ctx, v.stream.Source.Sink, query) {
		if err != nil {
			return fmt.Errorf("read the live rows: %w", err)
		}
		for _, r := range rows {
			if _, found := slices.BinarySearch(shown, maphash.String(seed, r.ID)); !found && (v.unasked == nil || !v.unasked(r.ID)) {
				v.suspect(r.ID)
			}
		}
	}
	return nil
}

// unfilled is why a stream has nothing to be compared with yet. Orders placed through the
// key have no backfill while online ordering is off: the service then says so.
func (v *verification) unfilled(ctx context.Context) error {
	if v.stream.Def.ByKey {
		page, err := v.stream.Def.List(ctx, v.stream.Source.Lanes.Backfill, api.ListQuery{UpdatedSince: v.stream.Source.ServiceNow()})
		if err != nil {
			return err
		}
		page.Release()
	}
	return errNotFilled
}

// compareRows compares rows of the API with the stored ones, in order of id, which
// is how they lie in the warehouse.
func (v *verification) compareRows(ctx context.Context, rows map[string]answer) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(rows)), sinks.MaxRowIDs) {
		stored, err := sinks.RowsByID(ctx, v.stream.Source.Sink, v.stream.Def.Name, v.stream.Source.Business(), ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if a := rows[id]; len(v.differences(a, stored[id])) > 0 {
				s := v.suspect(id)
				s.hash, s.tombstone = hash(a.raw), a.tombstone
			}
		}
	}
	return nil
}

// suspect notes a row to compare again, as many as there is room for.
func (v *verification) suspect(id string) *suspect {
	s := v.suspects[id]
	if s != nil {
		return s
	}
	s = &suspect{id: id}
	// Rows in quarantine are not judged, unless their entry is closed meanwhile.
	if !v.quarantined(id, s) && len(v.suspects) >= v.most+len(v.open) {
		v.locked(func() { v.result.Unjudged++ })
		return s
	}
	v.suspects[id] = s
	return s
}

// compareAgain compares the suspects again. What is stored is read first: a row that the API
// shows as it did before was not another one in between.
func (v *verification) compareAgain(ctx context.Context) error {
	if err := v.readQuarantine(ctx); err != nil {
		return err
	}
	maps.DeleteFunc(v.suspects, v.quarantined)
	if len(v.suspects) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(v.suspects))
	all := make([]*suspect, len(ids))
	for i, id := range ids {
		all[i] = v.suspects[id]
	}
	stored, err := sinks.RowsByID(ctx, v.stream.Source.Sink, v.stream.Def.Name, v.stream.Source.Business(), ids)
	if err != nil {
		return err
	}
	answers, err := v.kind.ask(ctx, all)
	if err != nil {
		return err
	}
	for _, s := range all {
		a := answers[s.id]
		delete(v.suspects, s.id)
		switch found := v.differences(a, stored[s.id]); {
		case len(found) == 0:
			v.locked(func() { v.result.Settled++ })
		case s.hash != hash(a.raw):
			v.locked(func() { v.result.Moving++ })
			v.pass.tell(v.finding(FoundMoving, s.id))
		default:
			v.differs(s.id, found)
		}
	}
	return nil
}

var seed = maphash.MakeSeed()

// hash is the same for JSON of the same meaning, and 0 for none.
func hash(raw []byte) uint64 {
	if raw == nil {
		return 0
	}
	return maphash.String(seed, mapping.Canonical(raw))
}

// keep keeps what the API says of suspects.
func keep(answers map[string]answer, suspects []*suspect) func(map[string]answer) error {
	return func(rows map[string]answer) error {
		for _, s := range suspects {
			if a, shown := rows[s.id]; shown {
				a.raw = bytes.Clone(a.raw) // the page is given back
				answers[s.id] = a
			}
		}
		return nil
	}
}

// readQuarantine reads the open entries of the stream.
func (v *verification) readQuarantine(ctx context.Context) error {
	entries, err := v.stream.Source.Sink.Quarantine(ctx, v.stream.Source.Name, v.stream.Def.Name)
	if err != nil {
		return fmt.Errorf("read the quarantine: %w", err)
	}
	v.open = map[string]sinks.Quarantined{}
	for _, q := range entries {
		v.open[q.Key()] = q
	}
	return nil
}

// tellQuarantine lists the open entries, as the last look at the suspects found them.
func (v *verification) tellQuarantine() {
	anonymous := false
	for _, key := range slices.Sorted(maps.Keys(v.open)) {
		q := v.open[key]
		anonymous = anonymous || q.ID == ""
		f := v.finding(FoundQuarantined, q.ID)
		f.Field, f.Reason = q.Field, q.Reason
		v.pass.tell(f)
	}
	v.locked(func() { v.result.InQuarantine = uint64(len(v.open)) })
	if v.unreadable && !anonymous {
		v.differs("", wholeRow("a row whose id cannot be read", "no entry in quarantine"))
	}
}
