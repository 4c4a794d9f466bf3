package syncer

import (
	"time"

	"github.com/larder-sync/larder/sinks"
)

// longWalk is a backfill or a full resync, of a stream's name in checkpoints.
type longWalk struct{ name, kind string }

// begins notes when this process began a long walk: the stamps of its checkpoint are by
// the service's clock, to the second, and two of them may be in any order.
func (st *stream) begins(name, kind string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.begun[longWalk{name, kind}] = time.Now()
}

// logDone logs the end of a long walk, with what it brought since it began, also by
// processes before this one.
func (st *stream) logDone(what, name string, cp sinks.Checkpoint, more ...any) {
	st.source.log.Info(what, append([]any{"stream", name, "rows", cp.Rows, "tombstones", cp.Tombstones, "requests", cp.Pages,
		"took", st.lasted(name, cp).Round(time.Millisecond)}, more...)...)
}

// lasted is how long a long walk took, by the steady clock of this process if it began
// it, else by its checkpoint's stamps.
func (st *stream) lasted(name string, cp sinks.Checkpoint) time.Duration {
	st.mu.Lock()
	defer st.mu.Unlock()
	w := longWalk{name, cp.Walk}
	begun, here := st.begun[w]
	delete(st.begun, w)
	if here {
		return time.Since(begun)
	}
	return max(0, cp.UpdatedAt.Sub(cp.StartedAt))
}
