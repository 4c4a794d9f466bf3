package warehouse

import (
	"fmt"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/lifecycle"
)

// What a process takes beside the engine's own limit: the pages of the engine's library
// that are in use (the kernel can drop and read them again, slowly), stacks, and what
// the allocator holds beyond what it counts.
const (
	leastAround = 48 << 20
	leastHeap   = 48 << 20
	aroundPart  = 8 // of the container's memory: an eighth, at least leastAround
)

// memoryPlan is who may use how much of the memory there is, in bytes.
type memoryPlan struct {
	limit  memoryLimit
	engine int64
	chosen string // " (warehouse.memory)" where the engine's is of the configuration
	reader int64  // the part of it that is the reader's (warehouse.http_listen); 0: there is none
	heap   int64  // of Go: what it keeps to as long as it can; 0: no limit
	queue  int64  // rows that wait for the warehouse
}

// planMemory divides the memory there is. configured is warehouse.memory, 0 for a share. In
// a container, that is half of what it may use: the daemon's own heap and the library have
// the other half. On a machine, which others use as well, it is a quarter.
func planMemory(limit memoryLimit, configured int64) (memoryPlan, error) {
	p := memoryPlan{limit: limit, engine: configured, queue: queueOf(limit)}
	switch {
	case configured != 0:
		p.chosen = " (warehouse.memory)"
	case limit.bytes == 0:
		p.engine = engineOtherwise
	case limit.container:
		p.engine = limit.bytes / 2
	default:
		p.engine = limit.bytes / 4
	}
	if !limit.container {
		p.engine = max(p.engine, config.MinMemory)
		p.queue = min(p.queue, max(p.engine/4, leastQueue))
		return p, nil
	}
	if err := p.fits(); err != nil {
		return p, err
	}
	p.heap = limit.bytes - p.engine - max(limit.bytes/aroundPart, leastAround)
	p.queue = min(p.queue, p.heap/6, max(p.engine/4, leastQueue))
	return p, nil
}

// The bytes of rows that may wait for the warehouse, half of which make an INSERT: from
// some ten thousand orders to twenty thousand, so that the heap of a backfill is 120 to
// 240 MB. The larger an INSERT, the less the engine merges: docs/benchmarks.md.
const (
	leastQueue = 48 << 20
	mostQueue  = 96 << 20
	queuePart  = 64 // of the memory there is: a 64th, between these bounds
)

// queueOf returns what may wait where nobody has said how the memory is divided.
func queueOf(limit memoryLimit) int64 {
	return min(max(limit.bytes/queuePart, leastQueue), mostQueue)
}

// engineOtherwise is the engine's limit where the memory there is cannot be found out.
const engineOtherwise = 2 << 30

// fits refuses what the kernel would end sooner or later.
func (p memoryPlan) fits() error {
	const least = 2 * config.MinMemory // the smallest that was measured to work; docs/benchmarks.md
	most := p.limit.bytes - leastHeap - max(p.limit.bytes/aroundPart, leastAround)
	switch {
	case p.limit.bytes < least:
		return lifecycle.UsageError(fmt.Errorf("memory: the limit of this container is %s (%s), and the embedded engine with the daemon needs %s: raise the limit, or name a remote warehouse in warehouse.dsn",
			config.Size(p.limit.bytes), p.limit.where, config.Size(least)))
	case p.engine > most:
		return lifecycle.UsageError(fmt.Errorf("warehouse.memory: %s of the %s that this container may use (%s) leave too little for the daemon: at most %s, or leave it empty for a share",
			config.Size(p.engine), config.Size(p.limit.bytes), p.limit.where, config.Size(most)))
	}
	return nil
}

// String says what the engine may use of how much memory.
func (p memoryPlan) String() string {
	if p.limit.bytes == 0 {
		return config.Size(p.engine) + p.chosen + "; how much memory there is could not be found out"
	}
	return fmt.Sprintf("%s%s of %s (%s)", config.Size(p.engine), p.chosen, config.Size(p.limit.bytes), p.limit.where)
}

// leastWithReaders is the smallest container in which who reads over HTTP was measured to be
// answered. In half of it the kernel ends the reader again and again.
const leastWithReaders = 512 << 20

// Memory is the plan for the engine. A third of it is the reader's, where there is one.
func (a *Opener) Memory() (memoryPlan, error) { return a.memoryWithin(findMemory("/")) }

func (a *Opener) memoryWithin(limit memoryLimit) (memoryPlan, error) {
	p, err := planMemory(limit, int64(a.Config.Warehouse.Memory))
	if err != nil || a.Config.Warehouse.HTTPListen == "" {
		return p, err
	}
	if p.limit.container && p.limit.bytes < leastWithReaders {
		return p, lifecycle.UsageError(fmt.Errorf("memory: the limit of this container is %s (%s), and warehouse.http_listen needs %s: raise the limit, or switch it off (http_listen: \"\")",
			config.Size(p.limit.bytes), p.limit.where, config.Size(leastWithReaders)))
	}
	p.reader = max(p.engine/3, config.MinMemory)
	return p, nil
}

// writer is the part of who writes: all, or two thirds of it. Both have at least the smallest
// that works: where that is more than there is, the kernel ends the reader first. In 512 MiB the
// smallest would not do for the backfills of two sources at once.
func (p memoryPlan) writer() int64 {
	if p.reader == 0 {
		return p.engine
	}
	return max(p.engine-p.engine/3, config.MinMemory)
}
