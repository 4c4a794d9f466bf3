package syncer

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/lease"
	"github.com/larder-sync/larder/syncer/outage"
	"github.com/larder-sync/larder/syncer/schedule"
)

// source is one API key at work: its state, its streams and their turns.
//
// A source is starting until /me has answered. It is then running, with its
// streams on or off by the key's scopes; or in trouble, in which case nothing is
// asked of the API but /me, at nextProbe. Trouble stays with the source that has
// it (DESIGN R11).
type source struct {
	syncer  *Syncer
	cfg     Source
	log     *slog.Logger
	streams []*stream
	link    *link // the way to the API

	life            *life   // until the configuration changes
	previous        *source // of the same name, not yet taken over
	startedTogether int     // how many began together

	visiting bool // only verified: another process serves it (verify_visit.go)

	leased  atomic.Bool            // it has been held (held.go)
	lost    *atomic.Pointer[error] // why it is held no more; shared with those before it
	opening slot                   // one opening or probe at a time
	admits  slot                   // one look at what the key lets the streams ask for
	looked  bool                   // it was looked at; guarded by admits
	healing slot                   // one healing at a time
	healed  map[api.Date]repair    // by this process; guarded by healing
	wake    chan struct{}
	jobs    sync.WaitGroup

	mu        sync.Mutex
	stored    sinks.State // as it was at the start
	opened    bool        // stored has been taken over
	ready     bool        // /me has answered, and no trouble since
	state     string
	detail    string
	since     time.Time
	failures  int // probes in a row that failed
	nextProbe time.Time
	outage    outage.Outage            // told of
	down      map[string]outage.Outage // streams whose walks fail
	patient   time.Time                // nothing is asked before, since the service said so
	asked     time.Time                // when /me last answered
	vouched   time.Time                // when it last answered who asked after a failure
	key       identity
	skew      time.Duration // service's clock minus ours
	skewKnown bool
	proof     *ProofStatus // nil before the first verdict
	asks      uint64
	limited   uint64
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

func newSource(y *Syncer, cfg Source) (*source, error) {
	s := &source{
		syncer: y, cfg: cfg, log: y.log.With("source", cfg.Name),
		life: newLife(), startedTogether: 1, opening: newSlot(), admits: newSlot(), healing: newSlot(), healed: map[api.Date]repair{}, wake: make(chan struct{}, 1),
		lost: &atomic.Pointer[error]{}, down: map[string]outage.Outage{}, state: StateStarting, since: time.Now(),
	}
	for _, def := range y.definitions {
		s.streams = append(s.streams, newStream(s, def))
	}
	link, err := newLink(s)
	s.link = link
	y.metrics.begin(s)
	return s, err
}

// stream returns the named stream.
func (s *source) stream(name string) *stream {
	for _, st := range s.streams {
		if st.def.Name == name {
			return st
		}
	}
	panic("no stream " + name)
}

// run serves the source until ctx ends, and waits for its walks.
func (s *source) run(ctx context.Context) {
	defer s.jobs.Wait()
	if !sleep(ctx, s.startDelay()) {
		return
	}
	turns := schedule.NewTurns(s.cfg.Name, s.syncer.timetable(), time.Now())
	for ctx.Err() == nil {
		turns.Follow(s.syncer.timetable(), time.Now())
		if s.standBy() {
			s.sleepUntil(ctx, time.Now().Add(lease.Lasts))
			continue
		}
		if !s.isReady() {
			if at := s.probeAt(); time.Now().Before(at) && !s.hasAnotherKey() {
				s.sleepUntil(ctx, earlier(at, time.Now().Add(keyLook)))
			} else if err := s.protected(ctx, "probe", s.connect); err == nil {
				turns.AllDue(time.Now())
			} else if ctx.Err() == nil && !time.Now().Before(s.probeAt()) {
				s.troubled(diagnose(err)) // a panic: what set no next probe would be tried at once
			}
			continue
		}
		if !s.sleepUntil(ctx, turns.Next()) {
			continue // woken: the state has changed
		}
		s.tryChangedKey(ctx)
		for _, j := range turns.Take(time.Now()) {
			s.begin(ctx, j)
		}
	}
}

// startDelay spreads the first requests of sources that begin together.
func (s *source) startDelay() time.Duration {
	span := min(time.Duration(s.startedTogether)*20*time.Millisecond, 30*time.Second)
	return time.Duration(schedule.Hash(s.cfg.Name) % uint64(max(span, 1)))
}

// sleepUntil waits for t; it is false when the source was woken or ctx ended.
func (s *source) sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.wake:
	case <-ctx.Done():
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter is in [0,1), spread over sources and attempts and the same on every run.
func (s *source) jitter(attempt int) float64 {
	return float64(schedule.Hash(s.cfg.Name, strconv.Itoa(attempt))>>11) / (1 << 53)
}

// wakeLoop makes the loop look at the state again.
func (s *source) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// spawn runs part of a job beside the loop.
func (s *source) spawn(ctx context.Context, what string, f func(context.Context) error) {
	s.jobs.Go(func() {
		if err := s.protected(ctx, what, f); err != nil && ctx.Err() == nil {
			s.log.Debug("job ended with an error", "job", what, "err", err)
		}
	})
}

// protected turns a panic of f into an error: a fault in one walk must not end
// the daemon.
func (s *source) protected(ctx context.Context, what string, f func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.syncer.metrics.panics.Inc()
			s.log.Error("panic", "job", what, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f(ctx)
}

// commit starts a commit of one of the source's streams.
func (s *source) commit(stream string) *sinks.Commit {
	c := &sinks.Commit{Source: s.cfg.Name, Business: s.business(), Stream: stream}
	if s.syncer.leases != nil {
		c.Fence = s.fence
	}
	return c
}

func (s *source) business() string { return s.identity().business }

// identity is what /me last said about the key.
func (s *source) identity() identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

func (s *source) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

func (s *source) probeAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nextProbe
}

// hasAnotherKey tells that a key was put in place since the last probe, which may be
// tried at once.
func (s *source) hasAnotherKey() bool {
	s.mu.Lock()
	patient := time.Now().Before(s.patient)
	s.mu.Unlock()
	return !patient && s.link.changed()
}

// probeNow lets the next probe wait for nothing but its turn.
func (s *source) probeNow() {
	s.mu.Lock()
	s.nextProbe = time.Now()
	s.mu.Unlock()
	s.wakeLoop()
}

// clock notes the service's clock, as a Date header gave it.
func (s *source) clock(date time.Time) {
	if date.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew, s.skewKnown = date.Sub(s.syncer.opts.Now()), true
}

// at is the time of an answer by the service's clock, or what is known of it when
// the answer does not say.
func (s *source) at(date time.Time) time.Time {
	s.clock(date)
	if date.IsZero() {
		return s.serviceNow().UTC()
	}
	return date.UTC()
}

// serviceNow is the service's clock now.
func (s *source) serviceNow() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.syncer.opts.Now().Add(s.skew)
}

// firstSince is the first updated_since of a new stream: the service's clock, or ours
// where that is behind it. A start that lies ahead would blind the stream until then.
// Without a Date header the service's clock is not known, and a day makes up for any
// clock of ours.
func (s *source) firstSince() time.Time {
	s.mu.Lock()
	known := s.skewKnown
	s.mu.Unlock()
	ours := s.syncer.opts.Now().UTC()
	if !known {
		return ours.Add(-24 * time.Hour)
	}
	return earlier(s.serviceNow().UTC(), ours).Add(-lookback)
}

// walkStart is the service's clock when an incremental walk that goes on behind cp
// starts. Without a Date header that clock is not known, and ours may be ahead of
// it: it was not behind the newest stamp seen.
func (s *source) walkStart(cp sinks.Checkpoint) time.Time {
	s.mu.Lock()
	known := s.skewKnown
	s.mu.Unlock()
	if known {
		return s.serviceNow().UTC()
	}
	if cp.Watermark.IsZero() {
		return cp.StartedAt
	}
	return earlier(s.serviceNow().UTC(), cp.Watermark)
}

// troubled puts the source aside until its next probe.
func (s *source) troubled(t trouble) {
	now := time.Now()
	s.mu.Lock()
	if passing := t.mayPass() && (trouble{state: s.state}).mayPass(); s.state != t.state && !passing {
		s.failures = 0 // another trouble
	}
	s.failures++
	s.patient = now.Add(t.retryAfter)
	if s.state != t.state {
		s.since = now
	}
	s.state, s.detail = t.state, t.detail
	kind, level := t.state, slog.LevelDebug
	if t.mayPass() {
		kind = StateUnreachable // words and shape of such a trouble change from probe to probe
	}
	if !t.explained && s.outage.News(kind) {
		level = slog.LevelWarn
	}
	s.log.Log(context.Background(), level, "source in trouble", "state", t.state, "detail", t.detail)
	s.ready = false
	s.nextProbe = now.Add(probeDelay(t, s.failures, s.jitter(s.failures)))
	s.mu.Unlock()
	s.wakeLoop()
}

// enter changes the state of a source that is not ready.
func (s *source) enter(state, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != state || s.detail != detail {
		s.log.Info("source changed state", "state", state, "detail", detail)
		s.state, s.detail, s.since = state, detail, time.Now()
	}
}

// healthy ends a trouble. The loop may be waiting for a probe that is not needed any
// more.
func (s *source) healthy(state, detail string) {
	s.mu.Lock()
	s.logServed(state, detail)
	if s.state != state {
		s.since = time.Now()
	}
	s.state, s.detail = state, detail
	s.ready, s.failures, s.asked, s.nextProbe = true, 0, time.Now(), time.Time{}
	s.mu.Unlock()
	s.wakeLoop()
}

// logServed logs that the source is served, with how long it was not when that was
// told. The caller holds the lock.
func (s *source) logServed(state, detail string) {
	ended := s.outage
	s.outage = outage.Outage{}
	switch {
	case state == StateFailing && (s.state != state || s.detail != detail): // configuration and key do not fit
		s.log.Warn("source is served in part", "state", state, "detail", detail)
	case ended.Logged():
		s.log.Info("source is served again", "state", state, "detail", detail, "lasted", ended.Lasted())
	case s.state != state || s.detail != detail:
		s.log.Info("source is served", "state", state, "detail", detail)
	}
}
