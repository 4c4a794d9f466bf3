package list

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// debt is the full resync that the list owes, and the locations that its rows are of. It has a
// checkpoint of its own: what changes it is stored ahead of all that walks hand over later.
//
// Rows of a location that the key gains may have changed long before the watermark. Those of one
// that it loses are not listed any more. A walk may have passed by the rows of one that was away
// for a while. One full resync that begins after the change finds all of that.
type debt struct {
	// version: the resync is owed until a long walk has begun above it.
	version uint64
	// Locations are those that the key may use and the configuration wants.
	Locations []string `json:"locations"`
	// Configured are those that the configuration names: of one that is inactive, /me says
	// nothing.
	Configured []string `json:"configured,omitempty"`
	// Once are all that ever were.
	Once []string `json:"once,omitempty"`
	// Gained: rows of a location are still to come.
	Gained bool `json:"gained,omitempty"`
}

// restoreDebt takes over what is stored; the caller holds the list's lock.
func (st *List) restoreDebt(cp sinks.Checkpoint) {
	if err := json.Unmarshal([]byte(cp.Position), &st.debt); err != nil { // NoteKey finds others, and a resync is owed
		st.Source.Log.Warn("the stored locations are not readable, all is walked again", "stream", st.Def.Name, "err", err)
	}
	st.debt.version = cp.FirstVersion
}

// NoteKey compares the locations with those that the rows were walked for. When they are
// others, a full resync is owed. One under way does not count, since it may have passed by
// their rows: it begins anew.
func (st *List) NoteKey(ctx context.Context) {
	err := st.Exclusive(ctx, st.owing, func(ctx context.Context) error {
		was, began := st.owes()
		now := st.locations()
		configured := st.configured()
		if !began || slices.Equal(was.Locations, now) && slices.Equal(was.Configured, configured) {
			return nil
		}
		if was.version > 0 { // else it is the first look of a mirror that was made without
			st.Source.Log.Info("the locations have changed, a full resync is owed", "stream", st.Def.Name, "were", was.Locations, "are", now)
		}
		gained := slices.ContainsFunc(now, func(l string) bool { return !slices.Contains(was.Locations, l) }) ||
			len(was.Configured) > 0 && (len(configured) == 0 || slices.ContainsFunc(configured, func(l string) bool { return !slices.Contains(was.Configured, l) }))
		return st.owe(ctx, was.version > 0 && (st.awaits() || gained))
	})
	if err != nil && ctx.Err() == nil {
		st.Source.Log.Error("store the locations of a stream", "stream", st.Def.Name, "err", err)
	}
}

// Owe has the list make a full resync as soon as the budget allows, since its rows are in doubt.
// One under way begins anew.
func (st *List) Owe(ctx context.Context) error {
	return st.Exclusive(ctx, st.owing, func(ctx context.Context) error {
		if st.Indebted() {
			return nil
		}
		return st.owe(ctx, st.awaits())
	})
}

// owe stores the debt. It does not wait until that is durable: whatever walks hand over later
// is not so before. The caller holds st.owing.
func (st *List) owe(ctx context.Context, gained bool) error {
	was, _ := st.owes()
	now := debt{version: st.Source.Versions.Take(1), Locations: st.locations(), Configured: st.configured(), Gained: gained}
	now.Once = slices.Compact(slices.Sorted(slices.Values(slices.Concat(was.Once, now.Locations))))
	text, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("the locations of %s: %w", st.Def.Name, err)
	}
	c, at := st.Source.Commit(st.Def.Name), time.Now().UTC()
	c.Checkpoint = &sinks.Checkpoint{
		Source: st.Source.Name, Stream: st.Def.Name, Walk: sinks.WalkOwed, Business: st.Source.Business(),
		Position: string(text), FirstVersion: now.version, Done: true, StartedAt: at, UpdatedAt: at,
	}
	if _, err := st.Source.Commits.Write(ctx, c); err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.debt = now
	return nil
}

// owes returns the debt, and whether the backfill has begun: before that there are no rows to
// doubt.
func (st *List) owes() (d debt, began bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.debt, !st.back.StartedAt.IsZero()
}

// locations are those that the key may use and the configuration wants, sorted.
func (st *List) locations() []string {
	return slices.Sorted(slices.Values(st.Source.Usable(st.Source.Identity())))
}

// configured are the locations that the configuration names, sorted.
func (st *List) configured() []string {
	return slices.Sorted(slices.Values(st.Source.OnlyLocations))
}

// Followed reports whether rows of a location were mirrored once.
func (st *List) Followed(location string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Contains(st.debt.Once, location)
}

// Indebted reports whether a full resync is owed that has not begun.
func (st *List) Indebted() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.debt.version > max(st.back.FirstVersion, st.full.FirstVersion)
}

// awaits reports whether rows of a location that was gained are still to come: the long walk that
// brings them began after that, and has not come to its end.
func (st *List) awaits() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	brought := st.back.FirstVersion > st.debt.version || st.full.FirstVersion > st.debt.version && (st.full.Done || st.full.phase.Brought)
	return st.debt.Gained && !brought
}

// elsewhere reports whether a row is of a location that the configuration leaves out.
func (st *List) elsewhere(raw []byte) bool {
	var row struct {
		LocationID string `json:"location_id"`
	}
	configured := st.Source.OnlyLocations
	return len(configured) > 0 && mapping.Unmarshal(raw, &row) == nil && row.LocationID != "" && !slices.Contains(configured, row.LocationID)
}
