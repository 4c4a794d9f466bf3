package stream

import (
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Begins notes when this process began a kind of long walk: the stamps of its checkpoint are by
// the service's clock, to the second, and two of them may be in any order.
func (st *Stream) Begins(kind string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.begun[kind] = time.Now()
}

// LogDone logs the end of a long walk, with what it received since it began, also in processes
// before this one. How long it took is by the steady clock of this process if it began the walk,
// else by the stamps of the checkpoint. It returns when this process began it, zero when another
// did.
func (st *Stream) LogDone(what string, cp sinks.Checkpoint, more ...any) (began time.Time) {
	st.mu.Lock()
	began = st.begun[cp.Walk]
	delete(st.begun, cp.Walk)
	st.mu.Unlock()
	took := max(0, cp.UpdatedAt.Sub(cp.StartedAt))
	if !began.IsZero() {
		took = time.Since(began)
	}
	st.Source.Log.Info(what, append([]any{"stream", st.Def.Name, "rows", cp.Rows, "tombstones", cp.Tombstones, "took", took.Round(time.Millisecond)}, more...)...)
	return began
}
