package stream

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/mapping"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/write"
)

// Source is a source as its streams know it: what it is configured to mirror, what its key
// may use, the service's clock, the lanes to the API, and the way into the sink.
type Source struct {
	Owner

	Name          string
	OnlyStreams   []string // configured; all that the key's scopes allow when empty
	OnlyLocations []string // configured; all that the key may use when empty

	Log      *slog.Logger
	Sink     sinks.Sink
	Commits  *write.Committer
	Versions *write.VersionClock
	Metrics  Meter
	Lanes    *Lanes
	Clock
	// Fenced fails when this process does not hold the source any more.
	Fenced func() error

	FlushInterval time.Duration // the sink's
	SettleAfter   time.Duration // when a day that differs is looked at once more
	ProcessBegan  time.Time
	Beside        int // sources that begin at once, this one included: their beginnings are spread
	// Timetable returns the one that holds now.
	Timetable func() schedule.Timetable
	// LongTurn waits until one more long walk may run in this process.
	LongTurn func(ctx context.Context) (release func(), err error)

	key  atomic.Pointer[Identity] // nil before /me has answered
	down outages
}

// Owner is what the streams need of whoever serves their source.
type Owner interface {
	// Refresh asks /me again, unless it has just answered.
	Refresh(ctx context.Context) error
	// CheckSource asks /me after a failure that may be the whole source's.
	CheckSource(ctx context.Context, err error)
	// IsReady is true while the source is served: /me has answered, and no trouble since.
	IsReady() bool
	// Protected turns a panic of f into an error.
	Protected(ctx context.Context, what string, f func(context.Context) error) error
	// Siblings are the other sources of the same restaurant in this process.
	Siblings() []*Source
}

// Meter counts for the metrics.
type Meter interface {
	Paged(source, stream, walk string)
	Walked(stream, walk string, err error, took time.Duration)
	Counted(source, stream string, c write.Counts)
}

// Identity is what /me says about the key.
type Identity struct {
	Business, BusinessName, Mode string
	Scopes                       []string
	Locations                    []string // active ones that the key may use
	All                          bool     // those added later too
	Unknown                      []string // configured locations that the key never had
	Inactive                     []string // configured locations that it has no more, or that are not active
}

// Identity is what /me last said about the key.
func (o *Source) Identity() Identity {
	if key := o.key.Load(); key != nil {
		return *key
	}
	return Identity{}
}

// IdentifyAs takes over what /me says.
func (o *Source) IdentifyAs(key Identity) { o.key.Store(&key) }

// Business is the restaurant that the key belongs to; empty before /me has answered.
func (o *Source) Business() string { return o.Identity().Business }

// Commit starts a commit of one of the source's streams.
func (o *Source) Commit(stream string) *sinks.Commit {
	return &sinks.Commit{Source: o.Name, Business: o.Business(), Stream: stream, Fence: o.Fenced}
}

// Save writes a checkpoint alone, or with a run, and waits until it is durable.
func (o *Source) Save(ctx context.Context, stream string, cp sinks.Checkpoint, run *sinks.Run) error {
	c := o.Commit(stream)
	c.Checkpoint, c.Run = &cp, run
	return o.Commits.Store(ctx, c)
}

// Usable are the locations that the key may use and the configuration wants.
func (o *Source) Usable(key Identity) []string {
	if len(o.OnlyLocations) == 0 {
		return key.Locations
	}
	return slices.DeleteFunc(slices.Clone(key.Locations), func(l string) bool {
		return !slices.Contains(o.OnlyLocations, l)
	})
}

// LeavesOut reports whether a row is of a location that the configuration leaves out.
func (o *Source) LeavesOut(raw []byte) bool {
	var row struct {
		LocationID string `json:"location_id"`
	}
	return len(o.OnlyLocations) > 0 && mapping.Unmarshal(raw, &row) == nil && row.LocationID != "" && !slices.Contains(o.OnlyLocations, row.LocationID)
}

// Scope narrows a query to the rows that the source answers for: all of the
// business, or where it sees some locations only, what it wrote last and what
// belongs to its locations. Rows of locations that another source of the
// restaurant sees are that one's.
func (o *Source) Scope(key Identity, q *sinks.LiveQuery) {
	if key.All && len(o.OnlyLocations) == 0 {
		return
	}
	q.Source, q.Locations = o.Name, o.Usable(key)
	for _, other := range o.Siblings() {
		theirs := other.Identity()
		if theirs.All && len(other.OnlyLocations) == 0 {
			theirs.Locations = slices.Concat(theirs.Locations, key.Locations)
		}
		for _, l := range theirs.Locations {
			if !slices.Contains(q.Locations, l) && (len(other.OnlyLocations) == 0 || slices.Contains(other.OnlyLocations, l)) {
				q.Except = append(q.Except, l)
			}
		}
	}
}
