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

// LogDone logs the end of a long walk, with what it brought since it began, also in processes
// before this one.
func (st *Stream) LogDone(what string, cp sinks.Checkpoint, more ...any) {
	st.Source.Log.Info(what, append([]any{"stream", st.Def.Name, "rows", cp.Rows, "tombstones", cp.Tombstones,
		"took", st.lasted(cp).Round(time.Millisecond)}, more...)...)
}

// lasted is how long a long walk took, by the steady clock of this process if it began
// it, else by its checkpoint's stamps.
func (st *Stream) lasted(cp sinks.Checkpoint) time.Duration {
	st.mu.Lock()
	defer st.mu.Unlock()
	begun, here := st.begun[cp.Walk]
	delete(st.begun, cp.Walk)
	if here {
		return time.Since(begun)
	}
	return max(0, cp.UpdatedAt.Sub(cp.StartedAt))
}
