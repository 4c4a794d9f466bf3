// Package lease says which sources this process may serve, where other processes may
// write to the same warehouse (DESIGN R12).
//
// Contents: claims, beats and fences.
//
// A source is claimed as long as somebody in the process uses it. It is held while the
// claim of this process is the earliest of those alive, and was seen by all others. Only
// who holds a source asks the API or writes. When beats fail, a process stops to act
// [Lasts] after the last good one by its own clock, long before the others take it for
// dead.
package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
)

const (
	// beatEvery is how often a process says that it is alive.
	beatEvery = 10 * time.Second
	// beatSoon is how soon after a beat that failed, or while a source is waited
	// for or ending, the next one comes: what is given back is taken over then.
	beatSoon = 2 * time.Second
	// beatLimit bounds one beat.
	beatLimit = 5 * time.Second
	// settle is how long after the own claim was stored the claims are read again
	// before a source is held: of two that begin at once the later sees the other.
	settle = 2 * time.Second
	// Lasts is how long after the beginning of its last beat a process may
	// act, by its own clock. The others take it to be dead [sinks.ClaimTimeout]
	// after that beat: in between, what it has begun can end.
	Lasts = 20 * time.Second
	// versionsLimit bounds the look at the highest version before a source is held.
	versionsLimit = 12 * time.Second
)

// Owner serves the sources.
type Owner interface {
	// Lost ends the work on a source that is not held any more, with why.
	Lost(source string, why error)
	// AtWork is true while a source that is not served any more has not ended, or what
	// it handed to the sink is not durable.
	AtWork(source string) bool
	// Flushed is the receipt of a source's last commit.
	Flushed(source string) (*sinks.Receipt, bool)
	// StartAbove puts the version clock above what other processes have stored.
	StartAbove(version uint64)
	// Looked is called when it was looked which sources are held.
	Looked()
}

// Sink is what leases ask of a warehouse; see [sinks.Sink].
type Sink interface {
	Beat(ctx context.Context, p sinks.Process, sources []string) ([]sinks.Claim, error)
	MaxVersion(ctx context.Context) (uint64, error)
}

// Leases are the sources that this process holds. A nil *Leases, of a process that has
// the warehouse for itself, holds everything.
type Leases struct {
	owner   Owner
	sink    Sink
	process sinks.Process
	log     *slog.Logger
	failing time.Time // since when beats fail, zero when none was logged; of the loop alone
	wake    chan struct{}

	using *semaphore.Weighted // held while something begins or ends the beats
	stop  context.CancelFunc
	ended chan struct{}

	mu    sync.Mutex // guards what follows
	users map[*user]struct{}
	until time.Time // of all that is held
	all   map[string]*lease
	err   error         // of the last beat
	news  chan struct{} // closed and replaced at every beat
}

// user is a daemon or a pass that serves sources.
type user struct{ sources func() []string }

// New makes the leases of a process.
func New(p sinks.Process, sink Sink, owner Owner, log *slog.Logger) *Leases {
	return &Leases{
		owner: owner, sink: sink, process: p, log: log, wake: make(chan struct{}, 1), using: semaphore.NewWeighted(1),
		users: map[*user]struct{}{}, all: map[string]*lease{}, news: make(chan struct{}),
	}
}

// Enter claims sources until leave is called; leave waits until what they handed
// to the sink is durable, and gives them back. The end of ctx ends none of that: what a
// run has handed to the sink is claimed until it is durable, and given back after it. Enter
// fails when ctx ends while another user leaves, which may take that long.
func (l *Leases) Enter(ctx context.Context, sources func() []string) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	if err := l.using.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	defer l.using.Release(1)
	lasting := context.WithoutCancel(ctx)
	u := &user{sources}
	l.mu.Lock()
	l.users[u] = struct{}{}
	l.mu.Unlock()
	if l.stop == nil {
		beating, stop := context.WithCancel(lasting) // other users may stay longer than this one
		l.stop, l.ended = stop, make(chan struct{})
		go l.run(beating)
	}
	l.Nudge()
	return func() { l.leave(lasting, u) }, nil
}

func (l *Leases) leave(ctx context.Context, u *user) {
	_ = l.using.Acquire(ctx, 1) // ctx has no end; another that leaves is bounded
	defer l.using.Release(1)
	last := l.remove(u)
	durable := l.flushed(last)
	if !last {
		l.Nudge()
		return
	}
	l.stop()
	<-l.ended
	l.stop = nil
	l.mu.Lock()
	claimed := len(l.all) > 0
	l.all, l.until = map[string]*lease{}, time.Time{}
	l.mu.Unlock()
	if claimed && durable {
		l.giveBack(ctx)
	}
}

// remove ends the use of sources, unless it is the last: until that has been given
// back, the beats go on for it.
func (l *Leases) remove(u *user) (last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last = len(l.users) == 1; !last {
		delete(l.users, u)
	}
	return last
}

// flushed waits until the sink has what it was handed.
func (l *Leases) flushed(last bool) bool {
	if !last {
		return true // the beats that go on claim what is not durable yet
	}
	defer func() {
		l.mu.Lock()
		clear(l.users)
		l.mu.Unlock()
	}()
	deadline := time.NewTimer(Lasts)
	defer deadline.Stop()
	for _, name := range l.names() {
		if r, ok := l.owner.Flushed(name); ok {
			select {
			case <-r.Done():
			case <-deadline.C:
				return false
			}
		}
	}
	return true
}

func (l *Leases) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beatLimit)
	defer cancel()
	if _, err := l.sink.Beat(ctx, l.process, nil); err != nil {
		l.log.Warn("the sources could not be given back: another process can take them over when it has heard nothing for a while",
			"after", sinks.ClaimTimeout, "err", err)
	}
}

func (l *Leases) names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.all))
}

// Nudge has the next beat come at once.
func (l *Leases) Nudge() {
	if l == nil {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Leases) run(ctx context.Context) {
	defer close(l.ended)
	for ctx.Err() == nil {
		next := beatSoon
		lifecycle.Recovered(l.log, "the leases", func() { next = l.beat(ctx) })
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-l.wake:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// beat stores that the process is alive, acts on what the others have stored, and returns when
// to do it next.
func (l *Leases) beat(ctx context.Context) (next time.Duration) {
	wants, ending := l.wants()
	if len(wants) == 0 && len(l.names()) == 0 {
		return beatEvery
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, beatLimit)
	claims, err := l.sink.Beat(limited, l.process, wants)
	cancel()
	if ctx.Err() != nil {
		return 0
	}
	l.logBeat(err)
	free, lost := l.read(began, wants, claims, err)
	l.logLost(ctx, lost)
	for name, why := range lost {
		l.owner.Lost(name, why)
	}
	if free {
		err = l.hold(ctx)
	}
	l.publish(err)
	if err != nil || ending || !l.holdsAll() {
		return beatSoon
	}
	return beatEvery
}

// wants are the sources to claim: those in use, and those that are ending, whose
// rows are on their way still.
func (l *Leases) wants() (names []string, ending bool) {
	wants := map[string]bool{}
	l.mu.Lock()
	users := slices.Collect(maps.Keys(l.users))
	l.mu.Unlock()
	for _, u := range users {
		for _, name := range u.sources() {
			wants[name] = true
		}
	}
	for _, name := range l.names() {
		if !wants[name] && l.owner.AtWork(name) {
			wants[name], ending = true, true
		}
	}
	return slices.Sorted(maps.Keys(wants)), ending
}

// read takes in the answer to a beat. It returns whether sources are free to be
// held now, and those that are held no more, with why.
func (l *Leases) read(began time.Time, wants []string, claims []sinks.Claim, err error) (free bool, lost map[string]error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	late := !now.Before(l.until) // a renewal that comes too late is none
	if err == nil {
		l.until = began.Add(Lasts)
	}
	maps.DeleteFunc(l.all, func(name string, _ *lease) bool { return !slices.Contains(wants, name) })
	bySource := map[string][]sinks.Claim{}
	for _, c := range claims {
		if !gone(c.Process.ID) {
			bySource[c.Source] = append(bySource[c.Source], c)
		}
	}
	lost = map[string]error{}
	for _, name := range wants {
		s := l.all[name]
		if s == nil {
			s = &lease{}
			l.all[name] = s
		}
		held := s.held
		if late {
			*s = lease{}
		}
		if err == nil {
			s.read(l.process, bySource[name], began, now)
		}
		if held && !s.held {
			lost[name] = s.why(err)
		}
		free = free || s.free && !s.held
	}
	return free, lost
}

// hold holds what is free, above every version that another process has stored.
func (l *Leases) hold(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, versionsLimit)
	defer cancel()
	highest, err := l.sink.MaxVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the highest version: %w", err)
	}
	l.owner.StartAbove(highest)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !time.Now().Before(l.until) {
		return nil // too late: another beat will tell
	}
	var taken []string
	for name, s := range l.all {
		if s.free && !s.held {
			s.held = true
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		l.log.Info("this process serves sources", "sources", text.Few(taken), "number", len(taken))
	}
	return nil
}

// logBeat logs that beats fail once when that begins and once when it is over. Of a
// warehouse that is unreachable is logged by the sink.
func (l *Leases) logBeat(err error) {
	switch {
	case err == nil:
		if !l.failing.IsZero() {
			l.log.Info("the warehouse is told again that this process is alive", "lasted", time.Since(l.failing).Round(time.Millisecond))
		}
		l.failing = time.Time{}
	case l.failing.IsZero() && !errors.Is(err, sinks.ErrUnreachable): // which the sink logs
		l.failing = time.Now()
		l.log.Warn("the warehouse could not be told that this process is alive", "err", err)
	default:
		l.log.Debug("the warehouse could not be told that this process is alive", "err", err)
	}
}

// logLost logs which sources this process does not serve any more, those of one
// reason together.
func (l *Leases) logLost(ctx context.Context, lost map[string]error) {
	by := map[string][]string{}
	for name, why := range lost {
		by[why.Error()] = append(by[why.Error()], name)
	}
	for why, names := range by {
		level := slog.LevelWarn
		if errors.Is(lost[names[0]], sinks.ErrUnreachable) {
			level = slog.LevelInfo // the sink has warned
		}
		l.log.Log(ctx, level, "this process does not serve sources any more", "sources", text.Few(names), "number", len(names), "reason", why)
	}
}

// publish has everyone look at the leases again.
func (l *Leases) publish(err error) {
	l.mu.Lock()
	l.err = err
	close(l.news)
	l.news = make(chan struct{})
	l.mu.Unlock()
	l.owner.Looked()
}

func (l *Leases) holdsAll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.all {
		if !s.held {
			return false
		}
	}
	return true
}

// Check is nil while the source is held, and a *[WaitingError] when it is not.
func (l *Leases) Check(source string) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[source]
	switch {
	case s == nil:
		return (&lease{}).why(l.err)
	case s.held && time.Now().Before(l.until):
		return nil
	}
	return s.why(l.err)
}

// Await waits until the source is held, or another process that holds it is seen
// to live: one that died is not told from one that lives before it is silent.
func (l *Leases) Await(ctx context.Context, source string) error {
	if l == nil {
		return nil
	}
	for {
		l.mu.Lock()
		news, s := l.news, l.all[source]
		taken := s != nil && s.taken()
		l.mu.Unlock()
		err := l.Check(source)
		if err == nil || taken {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
