package sinktest

import (
	"context"
	"testing"
	"time"

	"github.com/larder-sync/larder/sinks"
)

// Harness is one fresh warehouse, for one test.
type Harness struct {
	// Open opens a sink on the warehouse. The suite closes it. All its connections
	// go through dial, when the suite gives one.
	Open func(o Options) sinks.Sink
	// Dial is the plain way to the warehouse.
	Dial Dialler
	// Tables are the storage tables by name.
	Tables map[string]*sinks.Table
	// Rows reads the present state of every row of a business, removed ones
	// included, in order of id, without going through a sink that is under test.
	Rows func(table, business string) []Row
	// Refuse makes the warehouse refuse every row and tombstone of a table whose id begins
	// with "refused", until the test ends.
	Refuse func(table string)
	// ClaimTimeout is after how much silence the sinks take a process to be dead.
	ClaimTimeout time.Duration
	// Age makes everything that was stored about processes d older, which is to
	// them as if d had passed, and removes what is too old to be kept.
	Age func(d time.Duration)
}

// Options are what the suite asks of a sink. Zero means the sink's default.
type Options struct {
	Dial          Dialler
	FlushInterval time.Duration
	FlushRows     int
	QueueBytes    int64
}

// Row is a row as the warehouse holds it.
type Row struct {
	ID, Source string
	Version    uint64
	FetchedAt  time.Time
	Raw        string

	Deleted   bool
	Reason    string
	DeletedAt time.Time // zero for unknown
	UpdatedAt time.Time // of the tombstone; zero for unknown
	Tombstone string    // its JSON

	// Values are those of the data columns as [Values] gives them.
	Values map[string]any
	// Copies is how often the row is seen by those who query: 1 for a live row, 0
	// for a removed one, anything else is wrong.
	Copies int
}

// patience is how long anything may take before the suite calls it stuck.
const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// open opens a sink that is closed at the end of the test.
func open(t *testing.T, h Harness, o Options) sinks.Sink {
	t.Helper()
	if o.FlushInterval == 0 {
		o.FlushInterval = 5 * time.Millisecond
	}
	s := h.Open(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close the sink: %v", err)
		}
	})
	return s
}

// write queues a commit and returns its receipt.
func write(t *testing.T, s sinks.Sink, c *sinks.Commit) *sinks.Receipt {
	t.Helper()
	receipt, err := s.Write(within(t), c)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return receipt
}

// store writes a commit and waits until it is durable.
func store(t *testing.T, s sinks.Sink, c *sinks.Commit) {
	t.Helper()
	if err := write(t, s, c).Wait(within(t)); err != nil {
		t.Fatalf("wait for the receipt: %v", err)
	}
}

// now is a fixed instant, so that what is stored can be foretold.
var now = time.Date(2026, 11, 21, 18, 30, 15, 123456000, time.UTC)

// The names that most tests use.
const (
	source   = "bistro"
	business = "biz-1"
)

// ingredients makes a commit of simple rows: the version, also in the name.
func ingredients(h Harness, rows ...sinks.Row) *sinks.Commit {
	return &sinks.Commit{Source: source, Business: business, Stream: "ingredients", Batch: plain(h.Tables["ingredients"], rows...)}
}

func row(id string, version uint64) sinks.Row {
	return sinks.Row{ID: id, Version: version, FetchedAt: now.Add(time.Duration(version) * time.Second), Raw: []byte(rawOf(id, version))}
}
