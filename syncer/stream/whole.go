package stream

import (
	"context"

	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/status"
)

// Whole is a stream of which each walk brings all there is. It has no backfill and no long
// walk, and nothing is to be done when the key's locations change.
type Whole struct{ *Stream }

// NewWhole is [NewStream] for such a kind.
func NewWhole(o *Source, def *registry.Definition) Whole { return Whole{NewStream(o, def)} }

// Complete implements [Kind].
func (st Whole) Complete() bool { return true }

// Well implements [Kind].
func (st Whole) Well() (state, detail string) { return status.StateRunning, "" }

// Once is the pass that makes one walk.
func (st Whole) Once(walk func(context.Context) error) []Step {
	return []Step{{Guard: st.Guard, Moved: func() uint64 { return 0 }, Run: walk}}
}
