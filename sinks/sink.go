package sinks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Sink is a warehouse. The rules that sinktest proves:
//
//   - Write queues a commit and returns at once while there is room; when the
//     queue is full it waits (back-pressure instead of memory) until there is
//     room or ctx ends. An error of Write means that nothing was queued.
//   - The receipt resolves with nil only when every row, tombstone, quarantine
//     entry and then the checkpoint of the commit would survive kill -9.
//     Commits become durable in the order of Write.
//   - A warehouse that is down makes receipts wait, never fail: the sink tries
//     again with the same rows, which is harmless. Receipts fail only when the
//     sink is closed before it could flush, or with the error of the commit's
//     Fence; what of that commit was under way may then be stored, without its
//     checkpoint.
//   - A row or tombstone that the warehouse refuses for one of its values becomes a
//     quarantine entry of its commit, with the warehouse's reason; everything else of
//     the commit, and of those behind it, becomes durable.
//   - Of several rows with one (business, id) the highest version is the live
//     one, in whichever order they arrive.
//   - A tombstone keeps the last known values of the row it removes, or stands
//     alone when the row was never seen; a later row lives again.
type Sink interface {
	Write(ctx context.Context, c *Commit) (*Receipt, error)

	// State returns what is stored about a source, for a start or a takeover.
	State(ctx context.Context, source string) (State, error)

	// Businesses returns which business each source has mirrored, by source: that of
	// its newest checkpoint.
	Businesses(ctx context.Context) (map[string]string, error)

	// Live returns live rows in order of id: to find what vanished from a list
	// (docs/rules.md R6, R10), and to compare a list with what is stored. CountLive is
	// how many there are, whatever After and Limit say.
	Live(ctx context.Context, q LiveQuery) ([]LiveRow, error)
	CountLive(ctx context.Context, q LiveQuery) (uint64, error)

	// Rows returns the stored rows with the given ids, removed ones included, in
	// any order; ids that are not stored are left out. More than [MaxRowIDs] ids
	// a call are an error.
	Rows(ctx context.Context, table, business string, ids []string) ([]StoredRow, error)

	// Hashes returns the stored rows that q selects, removed ones included, in any order: to compare what
	// the service sends with what is stored.
	Hashes(ctx context.Context, q HashQuery) ([]RowHash, error)

	// Quarantine returns the open quarantine entries of a stream of a source, in
	// order of id, without their JSON; those without an id with their content key.
	Quarantine(ctx context.Context, source, stream string) ([]Quarantined, error)

	// Beat says that a process is alive and which sources it wants to serve from
	// now on, and returns the claims of every process that is alive, its own
	// included (docs/rules.md R12). A process whose last beat is older than
	// [ClaimTimeout] by the warehouse's clock is not alive; when it comes back its
	// claims count from then on. A process that wants no source any more has left.
	// Times are the warehouse's.
	Beat(ctx context.Context, p Process, wants []string) ([]Claim, error)

	// SalesDays computes from the mirrored live orders what /sales/daily reports, one
	// entry for each day that has anything (an order counts on its business_day, a
	// refund on the Bucharest day of its at), and SalesProducts what /sales/products
	// reports by day.
	SalesDays(ctx context.Context, q DayQuery) ([]DayFigures, error)
	SalesProducts(ctx context.Context, q DayQuery) ([]DayFigures, error)

	// RemovedRefunds adds up the refunds of removed orders as last known, by the day they
	// were made; the figures are named as the reasons of the removals, and beside them stand
	// [UnseenRefunds], which has no day before that of the last known change. unknownUntil is the last
	// day on which an order was removed whose values, the location too, were never seen; empty
	// when there is none. Those that are unpaid do not count, since most were never paid. Where
	// the service gave no time of the removal, that of the last change counts, or else that of its
	// answer. Orders of a location that the key lost are left out. The orders are named beside.
	RemovedRefunds(ctx context.Context, q DayQuery) (days []DayFigures, unknownUntil string, err error)

	// Verdicts returns the verdicts that stand about the days of a business as a
	// source sees it, in order of day. Those withdrawn do not stand.
	Verdicts(ctx context.Context, business, source, from, to string) ([]Verdict, error)

	// MaxVersion returns the highest version stored in any table, the first
	// versions of checkpoints included, 0 for none (docs/rules.md R4: versions grow across
	// restarts).
	MaxVersion(ctx context.Context) (uint64, error)

	// FirstDay returns the earliest business_day among a business's mirrored
	// sales orders, removed ones included, or "" when there is none.
	FirstDay(ctx context.Context, business string) (string, error)

	// Personal is what the sink does with what its rows say of people.
	Personal() Personal

	// Close flushes what is queued, waiting until ctx ends at most.
	Close(ctx context.Context) error
}

// Commit is what becomes durable together, of one stream of one source.
type Commit struct {
	Source   string
	Business string
	Stream   string

	Batch      *Batch      // live rows; nil for none
	Tombstones []Tombstone // applied by version, like rows
	Quarantine []Quarantined
	Released   []string // [Quarantined.Key] of the quarantine entries that close
	Drift      []Drift
	Verdicts   []Verdict

	// Refused, when not nil, is called before the receipt resolves, with the rows and
	// tombstones that the warehouse refused for their values: they are in quarantine.
	Refused func([]Quarantined)

	// Stored after everything above.
	Checkpoint *Checkpoint
	Run        *Run
	Status     *StreamStatus

	// Fence, when not nil, is asked before each statement that writes part of the
	// commit. From its first error on nothing of it is written any more: another
	// process may have taken the source over (docs/rules.md R12).
	Fence func() error
}

// Tombstone removes a row.
type Tombstone struct {
	ID        string
	Version   uint64
	FetchedAt time.Time
	Reason    string    // deleted, cancelled, unpaid, gone, no_access
	DeletedAt time.Time // zero when unknown
	UpdatedAt time.Time // when the service changed the row; zero when unknown
	Raw       []byte    // the tombstone as received; nil when Larder found it out
}

// Quarantined is a row that could not be understood (docs/rules.md R8).
type Quarantined struct {
	ID        string // may be empty: the row had none
	Field     string // path, e.g. items.3.unit_price
	Reason    string
	Raw       []byte
	Content   string // of an entry without an id that comes without its JSON: its [ContentKey]
	Version   uint64
	FetchedAt time.Time
}

// Key tells the open entries of a stream apart: by row id, or for rows without one by
// what they hold.
func (q Quarantined) Key() string {
	switch {
	case q.ID != "":
		return q.ID
	case q.Content != "":
		return q.Content
	}
	return ContentKey(q.Raw)
}

// ContentKey stands for a row without an id: a NUL, which no id of the API begins with,
// and the SHA-256 of its JSON in hexadecimal digits.
func ContentKey(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "\x00" + hex.EncodeToString(sum[:])
}

// ContentHash is the hash of a content key; false tells that the key is an id.
func ContentHash(key string) (hash string, ok bool) {
	hash, ok = strings.CutPrefix(key, "\x00")
	return hash, ok && len(hash) == hex.EncodedLen(sha256.Size)
}

// Drift is an unknown field or value, or digits that were cut, each reported once per
// source (docs/rules.md R9).
type Drift struct {
	Path    string // e.g. items.discount_code
	Kind    string // field, value, digits, totals
	Example string // literal JSON of the first one seen, cut to 200 bytes
	RowID   string
	SeenAt  time.Time
}

// Key identifies what is reported once: kind, path and, for a value, its example,
// NUL between.
func (d Drift) Key() string {
	key := d.Kind + "\x00" + d.Path
	if d.Kind == "value" {
		key += "\x00" + d.Example
	}
	return key
}

// The kinds of walk that have a checkpoint of their own.
const (
	WalkIncremental = "incremental"
	WalkBackfill    = "backfill"
	WalkFull        = "full" // full resync
	WalkSnapshot    = "snapshot"
	WalkTotals      = "totals"
	WalkMenus       = "menus"
	WalkOwed        = "owed" // no walk: a full resync is owed until one has begun above its FirstVersion
	WalkDeep        = "reconcile_deep"
	WalkSweep       = "sweep" // of runs only: what a full resync removed
)

// Checkpoint is what is stored so that a walk can go on after a crash. Key:
// (source, stream, walk).
type Checkpoint struct {
	Source, Stream, Walk string

	Business string
	// Watermark is the newest updated_at that is durable; zero before the first.
	Watermark time.Time
	// Pending is the newest updated_at seen by a walk whose pages came out of
	// order: it becomes the watermark at the end of the walk (docs/rules.md R3).
	Pending time.Time
	// Since is the updated_since of the walk under way; zero for none.
	Since time.Time
	// Cursor goes on with the walk; empty at its start and after its end.
	Cursor string
	// Position is what a walk that has no cursor stores (a day, an ETag).
	Position string
	Done     bool // the walk reached its end
	Pages    uint64
	Rows     uint64
	// Tombstones counts tombstones received by the walk.
	Tombstones uint64
	// FirstVersion of a long walk is below the version of every row that it
	// brings, and above that of every row stored before it began: what is live
	// and below that of a full resync at its end was not seen (docs/rules.md R6).
	FirstVersion uint64
	StartedAt    time.Time
	UpdatedAt    time.Time
}

// Run is one finished walk that brought something, or failed.
type Run struct {
	Source, Stream, Walk                                 string
	StartedAt, FinishedAt                                time.Time
	Requests, Pages, Rows, Unchanged, Tombs, Quarantined uint64
	Error                                                string // empty when it went well
}

// StreamStatus is the state of a stream, stored when it changes.
type StreamStatus struct {
	Source, Stream string
	State          string // see package syncer
	Detail         string // the last error or the reason, free of secrets
	ChangedAt      time.Time
}

// MaxOpen is how many quarantine entries of a stream may be open before its walks stop.
const MaxOpen = 20_000

// State is what is stored about one source.
type State struct {
	Business    string
	Checkpoints []Checkpoint
	// Quarantined are the open entries: [Quarantined.Key] by stream, MaxOpen and one
	// more at most.
	Quarantined map[string][]string
	// Drift is what was reported: stream + "\x00" + [Drift.Key].
	Drift    []string
	Statuses []StreamStatus
}
