package syncer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
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

// noteLostLocations notes which of the covered locations are not the key's just now.
func (st *stream) noteLostLocations(ctx context.Context) {
	_, lost := st.uncovered()
	st.changeLostLocations(ctx, func(was []string) []string { return append(was, lost...) })
}

// forgetLostLocations forgets the locations that do not count as covered any more.
func (st *stream) forgetLostLocations(ctx context.Context, covered []string) {
	st.changeLostLocations(ctx, func(was []string) []string {
		return slices.DeleteFunc(was, func(l string) bool { return !slices.Contains(covered, l) })
	})
}

// changeLostLocations changes what is remembered, and hands it to the sink. It does not wait
// until that is durable: whatever walks hand over later is not so before.
func (st *stream) changeLostLocations(ctx context.Context, change func([]string) []string) {
	if st.lost.storing.take(ctx) != nil {
		return // ctx has ended, and with it all walks
	}
	defer st.lost.storing.free()
	st.mu.Lock()
	was := st.lost.locations
	now := slices.Compact(slices.Sorted(slices.Values(change(slices.Clone(was)))))
	st.lost.locations = now
	st.mu.Unlock()
	if slices.Equal(was, now) {
		return
	}
	if err := st.storeLostLocations(ctx, now); err != nil && ctx.Err() == nil {
		st.source.log.Error("store the locations that were lost", "stream", st.def.Name, "locations", now, "err", err)
	}
}

func (st *stream) storeLostLocations(ctx context.Context, locations []string) error {
	text, err := json.Marshal(locations)
	if err != nil {
		return fmt.Errorf("locations: %w", err)
	}
	at := time.Now().UTC()
	c := st.source.commit(st.def.Name)
	c.Checkpoint = &sinks.Checkpoint{
		Source: st.source.cfg.Name, Stream: st.def.Name, Walk: sinks.WalkLostLocations, Business: st.source.business(),
		Position: string(text), Done: true, StartedAt: at, UpdatedAt: at,
	}
	_, err = st.source.syncer.commits.Write(ctx, c)
	return err
}

// restoreLostLocations takes over what is stored; the caller holds stream.mu.
func (st *stream) restoreLostLocations(cp sinks.Checkpoint) {
	if err := json.Unmarshal([]byte(cp.Position), &st.lost.locations); err != nil {
		st.source.log.Warn("the stored locations that were lost are not readable", "stream", st.def.Name, "err", err)
	}
}

// back are the locations that were lost and are the key's again, and count as covered
// as if nothing had been.
func (st *stream) returnedLocations() (all []string) {
	if !st.coversAll() {
		return nil
	}
	now := st.source.identity().locations
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.covered == nil {
		return nil
	}
	for _, l := range st.lost.locations {
		if slices.Contains(now, l) && slices.Contains(st.covered.Locations, l) {
			all = append(all, l)
		}
	}
	return all
}

// reopenReturned has such locations count as not covered: what passed by their rows is made up
// for as if they had just been gained.
func (st *stream) reopenReturned(ctx context.Context) error {
	back := st.returnedLocations()
	if len(back) == 0 {
		return nil
	}
	if st.def.Kind == registry.ListKind {
		if err := st.close(ctx, back); err != nil {
			return err
		}
	}
	return st.saveCoverage(ctx, func(c *coverage) { c.lose(back) })
}
