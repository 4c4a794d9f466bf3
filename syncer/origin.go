package syncer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/outage"
	"github.com/larder-sync/larder/syncer/schedule"
	"github.com/larder-sync/larder/syncer/write"
)

// origin is a source as its streams know it: what it is configured to mirror, what its key
// may use, the service's clock, the lanes to the API, and the way into the sink.
type origin struct {
	owner

	name          string
	onlyStreams   []string // configured; all that the key's scopes allow when empty
	onlyLocations []string // configured; all that the key may use when empty

	log       *slog.Logger
	sink      sinks.Sink
	commits   *write.Committer
	versions  *write.Clock
	metrics   meter
	lanes     *lanes
	wallClock func() time.Time
	// fence is nil-returning while this process holds the source; nil when it always does.
	fenced func() error

	flushInterval time.Duration // the sink's
	settleAfter   time.Duration // when a day that differs is looked at once more
	processBegan  time.Time
	began         int // how many sources began together with this one

	mu        sync.Mutex
	key       identity
	skew      time.Duration // service's clock minus ours
	skewKnown bool
	down      map[string]outage.Outage // streams whose walks fail
}

// owner is what the streams need of whoever serves their source.
type owner interface {
	// refresh asks /me again, unless it has just answered.
	refresh(ctx context.Context) error
	// suspect asks /me after a failure that may be the whole source's.
	suspect(ctx context.Context, t trouble)
	// isReady is true while the source is served: /me has answered, and no trouble since.
	isReady() bool
	// protected turns a panic of f into an error.
	protected(ctx context.Context, what string, f func(context.Context) error) error
	// longTurn waits until one more long walk may run in this process.
	longTurn(ctx context.Context) (release func(), err error)
	// timetable is the one that holds now.
	timetable() schedule.Timetable
	// siblings are the other sources of the same restaurant in this process.
	siblings() []*origin
	// notifySiblings has them look again at what they ask for.
	notifySiblings(ctx context.Context)
}

// meter counts for the metrics.
type meter interface {
	paged(source, stream, walk string)
	walked(stream, walk string, err error, took time.Duration)
	counted(source, stream string, c write.Counts)
}

// identity is what /me says about the key.
type identity struct {
	business, businessName, mode string
	scopes                       []string
	locations                    []string // active ones that the key may use
	all                          bool     // those added later too
	unknown                      []string // configured locations that the key never had
	inactive                     []string // configured locations that it has no more, or that are not active
	beside                       string   // another source of the restaurant, when totals are asked for by location only (shared_totals.go)
}

// locationsOnly is true when totals are asked for by location only.
func (k identity) locationsOnly() bool { return k.beside != "" }

// identity is what /me last said about the key.
func (o *origin) identity() identity {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.key
}

// identifyAs takes over what /me says.
func (o *origin) identifyAs(key identity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.key = key
}

func (o *origin) business() string { return o.identity().business }

// commit starts a commit of one of the source's streams.
func (o *origin) commit(stream string) *sinks.Commit {
	return &sinks.Commit{Source: o.name, Business: o.business(), Stream: stream, Fence: o.fenced}
}

// save writes a checkpoint alone, or with a run, and waits until it is durable.
func (o *origin) save(ctx context.Context, stream string, cp sinks.Checkpoint, run *sinks.Run) error {
	c := o.commit(stream)
	c.Checkpoint, c.Run = &cp, run
	return o.commits.Store(ctx, c)
}

// clock notes the service's clock, as a Date header gave it.
func (o *origin) clock(date time.Time) {
	if date.IsZero() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.skew, o.skewKnown = date.Sub(o.wallClock()), true
}

// at is the time of an answer by the service's clock, or what is known of it when
// the answer does not say.
func (o *origin) at(date time.Time) time.Time {
	o.clock(date)
	if date.IsZero() {
		return o.serviceNow().UTC()
	}
	return date.UTC()
}

// serviceNow is the service's clock now.
func (o *origin) serviceNow() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wallClock().Add(o.skew)
}

// clockKnown is true when the service has told its clock.
func (o *origin) clockKnown() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.skewKnown
}

// usable are the locations that the key may use and the configuration wants.
func (o *origin) usable(key identity) []string {
	if len(o.onlyLocations) == 0 {
		return key.locations
	}
	return slices.DeleteFunc(slices.Clone(key.locations), func(l string) bool {
		return !slices.Contains(o.onlyLocations, l)
	})
}

// scope narrows a query to the rows that the source answers for: all of the
// business, or where it sees some locations only, what it wrote last and what
// belongs to its locations. Rows of locations that another source of the
// restaurant sees are that one's.
func (o *origin) scope(key identity, q *sinks.LiveQuery) {
	if key.all && len(o.onlyLocations) == 0 {
		return
	}
	q.Source, q.Locations = o.name, o.usable(key)
	for _, other := range o.siblings() {
		theirs := other.identity()
		if theirs.all && len(other.onlyLocations) == 0 {
			theirs.locations = slices.Concat(theirs.locations, key.locations)
		}
		for _, l := range theirs.locations {
			if !slices.Contains(q.Locations, l) && (len(other.onlyLocations) == 0 || slices.Contains(other.onlyLocations, l)) {
				q.Except = append(q.Except, l)
			}
		}
	}
}
