package child

import (
	"fmt"

	"github.com/larder-sync/larder/sinks/engine"
)

// allocatorEnv is where the engine's allocator (jemalloc) reads its options when the
// library is loaded.
const allocatorEnv = "JE_MALLOC_CONF"

// ampleMemory is a limit of the engine from which on its allocator may keep for a second
// what a query has freed: a container is twice as large by default, and has room for it.
const ampleMemory engine.MemoryLimit = 1 << 30

// allocatorOptions say how long the allocator keeps what queries freed, and in how many
// pools (arenas). To give all back at once costs a query up to half of its processor's time:
// each block of rows is faulted in anew. A second gives that time back, and a pool for each
// core has what one thread freed found by the next; the allocator's own are four a core.
// Its own five seconds are too long: with hungry queries in turns the process held up to
// half as much again as the engine's limit allows, which ends it in a small container
// (all measured; see docs/benchmarks.md).
func allocatorOptions(limit engine.MemoryLimit, cores int) string {
	if limit < ampleMemory {
		return "dirty_decay_ms:0,muzzy_decay_ms:0"
	}
	return fmt.Sprintf("dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:%d", cores)
}
