package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Locations come and go while a long walk holds up what is to be done about it. One
// that is lost and the key's again before then looks as if nothing had been, and yet
// walks may have passed by its rows. So the loss is stored at once, ahead of what the
// walks after it bring, and such a location counts as gained when it is back.

// lostLocations are those of a stream that have not been acted upon. Its lock is held
// while a change is handed to the sink, so that the last one is what stays.
type lostLocations struct {
	storing   slot
	locations []string // guarded by stream.mu
}

// missed notes which of the covered locations are not the key's just now.
func (st *stream) missed(ctx context.Context) {
	_, lost := st.uncovered()
	st.changeAway(ctx, func(was []string) []string { return append(was, lost...) })
}

// actedUpon forgets the locations that do not count as covered any more.
func (st *stream) actedUpon(ctx context.Context, covered []string) {
	st.changeAway(ctx, func(was []string) []string {
		return slices.DeleteFunc(was, func(l string) bool { return !slices.Contains(covered, l) })
	})
}

// changeAway changes what is remembered, and hands it to the sink. It does not wait
// until that is durable: whatever walks hand over later is not so before.
func (st *stream) changeAway(ctx context.Context, change func([]string) []string) {
	if st.away.storing.take(ctx) != nil {
		return // ctx has ended, and with it all walks
	}
	defer st.away.storing.free()
	st.mu.Lock()
	was := st.away.locations
	now := slices.Compact(slices.Sorted(slices.Values(change(slices.Clone(was)))))
	st.away.locations = now
	st.mu.Unlock()
	if slices.Equal(was, now) {
		return
	}
	if err := st.storeAway(ctx, now); err != nil && ctx.Err() == nil {
		st.source.log.Error("store the locations that were lost", "stream", st.def.name, "locations", now, "err", err)
	}
}

func (st *stream) storeAway(ctx context.Context, locations []string) error {
	text, err := json.Marshal(locations)
	if err != nil {
		return fmt.Errorf("locations: %w", err)
	}
	at := time.Now().UTC()
	c := st.source.commit(st.def.name)
	c.Checkpoint = &sinks.Checkpoint{
		Source: st.source.cfg.Name, Stream: st.def.name, Walk: sinks.WalkAway, Business: st.source.business(),
		Position: string(text), Done: true, StartedAt: at, UpdatedAt: at,
	}
	_, err = st.source.syncer.commits.Write(ctx, c)
	return err
}

// restoreAway takes over what is stored; the caller holds stream.mu.
func (st *stream) restoreAway(cp sinks.Checkpoint) {
	if err := json.Unmarshal([]byte(cp.Position), &st.away.locations); err != nil {
		st.source.log.Warn("the stored locations that were lost are not readable", "stream", st.def.name, "err", err)
	}
}

// back are the locations that were lost and are the key's again, and count as covered
// as if nothing had been.
func (st *stream) back() (all []string) {
	if !st.coversAll() {
		return nil
	}
	now := st.source.identity().locations
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.covered == nil {
		return nil
	}
	for _, l := range st.away.locations {
		if slices.Contains(now, l) && slices.Contains(st.covered.Locations, l) {
			all = append(all, l)
		}
	}
	return all
}

// regain has such locations count as not covered: what passed by their rows is made up
// for as if they had just been gained.
func (st *stream) regain(ctx context.Context) error {
	back := st.back()
	if len(back) == 0 {
		return nil
	}
	if st.def.kind == listKind {
		if err := st.close(ctx, back); err != nil {
			return err
		}
	}
	return st.saveCoverage(ctx, func(c *coverage) { c.lose(back) })
}
