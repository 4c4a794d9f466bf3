package write

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
)

// Options make a [Writer].
type Options struct {
	Table     *sinks.Table
	Committer *Committer
	// Commit starts a commit of the stream.
	Commit func() *sinks.Commit
	// Counted hears what became of a page's rows, for the metrics.
	Counted func(Counts)
	// Logger hears of rows that enter the quarantine and leave it ([Writer.LogQuarantine]).
	Logger *slog.Logger
}

// Writer writes the rows of one stream. It remembers what it has written last, which rows
// are in quarantine, and which unknown fields were reported. Several walks use it at once.
type Writer struct {
	opts Options

	mu       sync.Mutex
	walks    uint64
	memory   *memory
	entries  map[string]entry // the open quarantine entries, by [sinks.Quarantined.Key]
	beyond   bool             // there may be others: a good row of any id may close one
	unlogged unlogged
	drift    mapping.Seen
	counts   Counts
}

// NewWriter makes a writer that remembers nothing.
func NewWriter(opts Options) *Writer {
	return &Writer{opts: opts, memory: newMemory(), entries: map[string]entry{}}
}

// Restore takes over what the sink has stored: the keys of the stream's open quarantine
// entries, and those of the unknown fields that were reported.
func (w *Writer) Restore(quarantined, drift []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range quarantined {
		w.entries[key] = entry{}
	}
	w.beyond = len(quarantined) > sinks.MaxOpen
	for _, key := range drift {
		if rest, ok := strings.CutPrefix(key, w.opts.Table.Name+"\x00"); ok {
			w.drift.Add(rest)
		}
	}
}

// NextWalk numbers the walks of the stream. A row is kept in memory while walks see it.
func (w *Writer) NextWalk() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.walks++
	return w.walks
}

// Begin starts the intake of a page of about so many rows, seen by a walk of the number.
func (w *Writer) Begin(walk uint64, rows int) *Intake {
	c := w.opts.Commit()
	in := &Intake{writer: w, walk: walk, rows: rows, Commit: c}
	in.known = in.reported
	c.Refused = in.refusedBySink
	return in
}

// Write hands an intake to the sink.
func (w *Writer) Write(ctx context.Context, in *Intake) (*sinks.Receipt, error) {
	r, err := w.opts.Committer.Write(ctx, in.Commit)
	if err != nil {
		return nil, err
	}
	if in.AfterTaken != nil { // in the order of the writes: the next walk may write before this is durable
		in.AfterTaken()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range in.Commit.Drift {
		w.drift.Add(d.Key())
	}
	return r, nil
}

// Store hands an intake to the sink, waits until it is durable, and remembers it.
func (w *Writer) Store(ctx context.Context, in *Intake) error {
	r, err := w.Write(ctx, in)
	if err != nil {
		return err
	}
	return w.Await(ctx, in, r)
}

// Await waits until an intake is durable, and remembers it.
func (w *Writer) Await(ctx context.Context, in *Intake, r *sinks.Receipt) error {
	if err := r.Wait(ctx); err != nil {
		return fmt.Errorf("wait for the warehouse: %w", err)
	}
	in.Remember()
	return nil
}

// Prune forgets the rows that no coming walk brings: older than floor, and not seen by
// the walk of the number or one since.
func (w *Writer) Prune(floor time.Time, walk uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memory.prune(floor, walk)
}

// Remembers is the updated_at of a row as it was written last, when that is remembered.
func (w *Writer) Remembers(id string) (updated time.Time, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, known := w.memory.rows[id]
	if !known || last.stamp == unstamped {
		return time.Time{}, false
	}
	return time.UnixMicro(last.stamp), true
}

// Recall remembers a row that is stored, as a walk of the number brings it again.
func (w *Writer) Recall(id string, raw []byte, version, walk uint64) {
	row := written{version: version, stamp: unstamped, walk: walk}
	if at := UpdatedAt(raw); !at.IsZero() {
		row.stamp = at.UnixMicro()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	row.hash = w.memory.hash(raw)
	w.memory.record(id, row)
}

// MaybeQuarantined is true when an entry of the row may be open.
func (w *Writer) MaybeQuarantined(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mayBeOpen(id)
}

// Full is true when no more bad rows are to be taken. A service that sends nothing else would
// fill the warehouse with them.
func (w *Writer) Full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.entries) >= sinks.MaxOpen
}

// Quarantined returns the keys of the open entries, and the updated_at of their rows. It is zero where
// it is not known.
func (w *Writer) Quarantined() map[string]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := make(map[string]time.Time, len(w.entries))
	for key, e := range w.entries {
		open[key] = e.updated
	}
	return open
}

// QuarantinedCount is how many entries are open.
func (w *Writer) QuarantinedCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.entries)
}

// Count adds to the counts what is written by no intake.
func (w *Writer) Count(c Counts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.Add(c)
}

// Counts is what was counted since the source was built.
func (w *Writer) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts
}
