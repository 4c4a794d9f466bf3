package list

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/larder-sync/larder/sinks"
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
	// Doubted is when [List.Owe] made it, last.
	Doubted time.Time `json:"doubted,omitzero"`
}

// doubtedAgain is how long the rows are not doubted again: a full resync a day is the most that
// doubts cost.
const doubtedAgain = 20 * time.Hour

// NoteKey compares the locations with those that the rows were walked for. When they are
// others, a full resync is owed. One under way does not count, since it may have passed by
// their rows: it begins anew.
func (st *List) NoteKey(ctx context.Context) {
	err := st.owing.Run(ctx, func(ctx context.Context) error {
		p := st.state.read()
		was, now := p.debt, p.debt
		now.Locations, now.Configured = st.locations()
		if p.back.StartedAt.IsZero() || slices.Equal(was.Locations, now.Locations) && slices.Equal(was.Configured, now.Configured) {
			return nil // before the backfill there are no rows to doubt
		}
		if now.Gained = false; was.version > 0 { // else it is the first look of a mirror that was made without
			st.Source.Log.Info("the locations have changed, a full resync is owed", "stream", st.Def.Name, "were", was.Locations, "are", now.Locations)
			now.Gained = p.awaits() || more(was.Locations, now.Locations) ||
				len(was.Configured) > 0 && (len(now.Configured) == 0 || more(was.Configured, now.Configured))
		}
		return st.owe(ctx, now)
	})
	if err != nil && ctx.Err() == nil {
		st.Source.Log.Error("store the locations of a stream", "stream", st.Def.Name, "err", err)
	}
}

// more reports whether some of now are not in was.
func more(was, now []string) bool {
	return slices.ContainsFunc(now, func(l string) bool { return !slices.Contains(was, l) })
}

// Owe has the list make a full resync as soon as the budget allows, since its rows are in doubt;
// one in [doubtedAgain], and none where one is owed. One under way begins anew. The locations stay
// those that the rows were walked for, so that NoteKey still finds a change of them.
func (st *List) Owe(ctx context.Context) error {
	return st.owing.Run(ctx, func(ctx context.Context) error {
		p := st.state.read()
		now, at := p.debt, st.Source.WallClock().UTC()
		if ago := at.Sub(now.Doubted); p.indebted() || 0 <= ago && ago < doubtedAgain {
			return nil
		}
		now.Gained, now.Doubted = p.awaits(), at
		return st.owe(ctx, now)
	})
}

// locations are those that the key may use and the configuration wants, and those that the
// configuration names, sorted.
func (st *List) locations() (usable, configured []string) {
	s := st.Source
	return slices.Sorted(slices.Values(s.Usable(s.Identity()))), slices.Sorted(slices.Values(s.OnlyLocations))
}

// owe stores the debt. It does not wait until that is durable: whatever walks hand over later
// is not so before. The caller holds st.owing.
func (st *List) owe(ctx context.Context, now debt) error {
	now.version = st.Source.Versions.Take(1)
	now.Once = slices.Compact(slices.Sorted(slices.Values(slices.Concat(now.Once, now.Locations))))
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
	st.state.change(func(p *position) { p.debt = now })
	return nil
}

// Followed reports whether rows of a location were mirrored once.
func (st *List) Followed(location string) bool {
	return slices.Contains(st.state.read().debt.Once, location)
}

// Resyncing reports whether a full resync is under way or owed.
func (st *List) Resyncing() bool { return st.state.read().resyncing() }
