package stream

import (
	"time"

	"github.com/larder-sync/larder/sinks"
)

// longWalk is a backfill or a full resync, of a stream's name in checkpoints.
type longWalk struct{ name, kind string }

// Begins notes when this process began a long walk: the stamps of its checkpoint are by
// the service's clock, to the second, and two of them may be in any order.
func (st *Stream) Begins(name, kind string) {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	st.begun[longWalk{name, kind}] = time.Now()
}

// LogDone logs the end of a long walk, with what it brought since it began and the requests
// that it took, also by processes before this one.
func (st *Stream) LogDone(what, name string, cp sinks.Checkpoint, requests uint64, more ...any) {
	st.Source.Log.Info(what, append([]any{"stream", name, "rows", cp.Rows, "tombstones", cp.Tombstones, "requests", requests,
		"took", st.lasted(name, cp).Round(time.Millisecond)}, more...)...)
}

// lasted is how long a long walk took, by the steady clock of this process if it began
// it, else by its checkpoint's stamps.
func (st *Stream) lasted(name string, cp sinks.Checkpoint) time.Duration {
	st.Mu.Lock()
	defer st.Mu.Unlock()
	w := longWalk{name, cp.Walk}
	begun, here := st.begun[w]
	delete(st.begun, w)
	if here {
		return time.Since(begun)
	}
	return max(0, cp.UpdatedAt.Sub(cp.StartedAt))
}
