// Package lease says which sources this process may serve, where other processes may
// write to the same warehouse (docs/rules.md R12).
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
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
)

const (
	// beatEvery is how often a process says that it is alive.
	beatEvery = 10 * time.Second
	// beatSoon is how soon after a beat that failed, or while a source is waited
	// for, the next one comes: what is given back is taken over then.
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
	// Member is the beginning of the name that a process claims beside its sources when it shares them
	// with others: so each sees which processes there are. A hash of the list of sources follows.
	// No source has such a name, and nobody holds it.
	Member = "shard: auto"
	// listsSettle is how long processes with different lists of sources count as members together:
	// a changed configuration does not reach all at once.
	listsSettle = time.Minute
	// versionsLimit bounds the look at the highest version before a source is held.
	versionsLimit = 12 * time.Second
)

// Owner serves the sources.
type Owner struct {
	// Lost ends the work on a source that is not held any more, with why.
	Lost func(source string, why error)
	// StartAbove puts the version clock above what other processes have stored.
	StartAbove func(version uint64)
	// Durable waits until what sources handed to the sink is durable, but no longer than [Lasts],
	// and returns whether it is.
	Durable func(sources []string) bool
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

	mu        sync.Mutex // guards what follows
	users     map[*user]struct{}
	beating   bool               // the loop runs
	interrupt context.CancelFunc // ends the beat under way, if it is not the one that gives back
	silent    bool               // at the end nothing is given back: a run has left before its rows were durable
	until     time.Time          // of all that is held
	all       map[string]*lease
	members   []string        // ids of the processes that share the sources, as last believed
	apart     map[string]bool // ids of the processes with another list of sources, which do not count as members
	back      time.Time       // when beats were last good again after a silence of [Lasts]
	err       error           // of the last beat
	news      chan struct{}   // closed and replaced at every beat
}

// user is a daemon or a pass that serves sources.
type user struct {
	sources func() []string
	leaving bool
}

// New makes the leases of a process.
func New(p sinks.Process, sink Sink, owner Owner, log *slog.Logger) *Leases {
	return &Leases{
		owner: owner, sink: sink, process: p, log: log, wake: make(chan struct{}, 1),
		users: map[*user]struct{}{}, interrupt: func() {}, all: map[string]*lease{}, news: make(chan struct{}),
	}
}

// Enter claims sources until leave is called: those that the function returns at each beat. leave
// waits until what they handed to the sink is durable, of those that no other user serves. When the
// last user leaves, it waits until they are given back, or another enters. The end of ctx ends none
// of that.
func (l *Leases) Enter(ctx context.Context, sources func() []string) (leave func()) {
	if l == nil {
		return func() {}
	}
	u := &user{sources: sources}
	l.mu.Lock()
	l.users[u] = struct{}{}
	if !l.beating {
		l.beating = true
		go l.run(context.WithoutCancel(ctx))
	}
	l.mu.Unlock()
	l.Nudge()
	return func() { l.leave(u) }
}

func (l *Leases) leave(u *user) {
	l.mu.Lock()
	u.leaving = true
	var stay []*user
	for other := range l.users {
		if !other.leaving {
			stay = append(stay, other)
		}
	}
	l.mu.Unlock()
	used := sourcesOf(stay)
	durable := l.owner.Durable(slices.DeleteFunc(u.sources(), func(name string) bool { return used[name] }))
	l.mu.Lock()
	delete(l.users, u)
	l.silent = l.silent || !durable
	if len(l.users) == 0 {
		l.interrupt()
	}
	l.mu.Unlock()
	l.Nudge()
	for deadline := time.After(2 * beatLimit); ; {
		l.mu.Lock()
		last, news := l.beating && len(l.users) == 0, l.news
		l.mu.Unlock()
		if !last {
			return
		}
		select {
		case <-news:
		case <-deadline: // the sink does not heed the end of a context
			return
		}
	}
}

func sourcesOf(users []*user) map[string]bool {
	names := map[string]bool{}
	for _, u := range users {
		for _, name := range u.sources() {
			names[name] = true
		}
	}
	return names
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

// run beats until nothing is in use and everything is given back.
func (l *Leases) run(ctx context.Context) {
	for {
		next := beatSoon // after a panic
		lifecycle.Recovered(l.log, "the leases", func() { next = l.beat(ctx) })
		l.mu.Lock()
		l.beating = len(l.users)+len(l.all) > 0
		over := !l.beating
		l.silent = l.silent && !over
		close(l.news)
		l.news = make(chan struct{})
		l.mu.Unlock()
		if over {
			return
		}
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-l.wake:
		}
		timer.Stop()
	}
}

// beat stores that the process is alive and which sources it claims, acts on what the others have
// stored, and returns when to do it next. With nothing to claim it gives back what was claimed.
func (l *Leases) beat(ctx context.Context) (next time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	users := slices.Collect(maps.Keys(l.users))
	if len(users) > 0 {
		l.interrupt = cancel
	} else if l.silent {
		clear(l.all) // the others take it over when they have heard nothing for a while
	}
	claimed := len(l.all) > 0
	l.mu.Unlock()
	wants := sourcesOf(users)
	if len(wants) == 0 && !claimed {
		return beatEvery
	}
	l.mu.Lock()
	for name, s := range l.all {
		if !wants[name] {
			*s = lease{} // another process may hold it as soon as the beat is stored
		}
	}
	l.mu.Unlock()
	began := time.Now()
	limited, done := context.WithTimeout(ctx, beatLimit)
	claims, err := l.sink.Beat(limited, l.process, slices.Sorted(maps.Keys(wants)))
	done()
	switch {
	case ctx.Err() != nil: // the last user has left
		return 0
	case err != nil && len(users) == 0:
		l.log.Warn("the sources could not be given back: another process can take them over when it has heard nothing for a while",
			"after", sinks.ClaimTimeout, "err", err)
	default:
		l.logBeat(err)
	}
	free, lost := l.read(began, wants, claims, err)
	if len(lost) > 0 { // the reason is that of the first of them
		names, level := slices.Sorted(maps.Keys(lost)), slog.LevelWarn
		if errors.Is(lost[names[0]], sinks.ErrUnreachable) {
			level = slog.LevelInfo // the sink has warned
		}
		l.log.Log(ctx, level, "this process does not serve sources any more", "sources", text.Few(names), "number", len(names), "reason", lost[names[0]])
	}
	for name, why := range lost {
		l.owner.Lost(name, why)
	}
	if free {
		err = l.hold(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	next = beatEvery
	for name, s := range l.all {
		if err != nil || !s.held && !isMember(name) {
			next = beatSoon
		}
	}
	return next
}

// read takes in the answer to a beat. It returns whether sources are free to be
// held now, and those that are held no more, with why.
func (l *Leases) read(began time.Time, wants map[string]bool, claims []sinks.Claim, err error) (free bool, lost map[string]error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	late := !now.Before(l.until) // a renewal that comes too late is none
	if err == nil {
		l.until = began.Add(Lasts)
	}
	maps.DeleteFunc(l.all, func(name string, _ *lease) bool { return !wants[name] })
	var sharing []sinks.Claim
	bySource := map[string][]sinks.Claim{}
	for _, c := range claims {
		switch {
		case gone(c.Process.ID):
		case isMember(c.Source):
			sharing = append(sharing, c)
		default:
			bySource[c.Source] = append(bySource[c.Source], c)
		}
	}
	if err == nil {
		l.readMembers(sharing, late, now)
	}
	lost = map[string]error{}
	for name := range wants {
		s := l.all[name]
		if s == nil {
			s = &lease{}
			l.all[name] = s
		}
		held := s.held
		if late {
			*s = lease{}
		}
		if err == nil && !isMember(name) {
			s.read(l.process, bySource[name], began, now)
		}
		if held && !s.held {
			lost[name] = s.why(err)
		}
		free = free || s.free && !s.held
	}
	return free, lost
}

func isMember(claimed string) bool { return strings.HasPrefix(claimed, Member) }

// readMembers takes in which processes share the sources. One that has had another list than this
// one for [listsSettle] is none of them, until the lists are alike: it may lack what would fall to it.
// What kept this process from beating for long may have kept the others, too: that some are missing is
// believed a beat after it is over.
func (l *Leases) readMembers(claims []sinks.Claim, late bool, now time.Time) {
	if late {
		l.back = now
	}
	i := slices.IndexFunc(claims, func(c sinks.Claim) bool { return c.Process.ID == l.process.ID })
	if i < 0 {
		return // this process shares none
	}
	own, members, apart := claims[i], []string(nil), map[string]bool{}
	for _, c := range claims {
		settled := min(own.BeatAt.Sub(own.Since), own.BeatAt.Sub(c.Since)) >= listsSettle
		if c.Source != own.Source && (settled || l.apart[c.Process.ID]) {
			apart[c.Process.ID] = true
		} else {
			members = append(members, c.Process.ID)
		}
	}
	steady := now.Sub(l.back) >= beatEvery
	if steady {
		l.apart = apart
	}
	if len(members) >= len(l.members) || steady {
		slices.Sort(members)
		l.members = members
	}
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

// Check is nil while the source is held, and a *[WaitingError] when it is not.
func (l *Leases) Check(source string) error {
	_, err := l.Look(source)
	return err
}

// Look is [Leases.Check], with what is closed at the next beat.
func (l *Leases) Look(source string) (beat <-chan struct{}, err error) {
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[source]
	switch {
	case s == nil:
		return l.news, (&lease{}).why(l.err)
	case s.held && time.Now().Before(l.until):
		return l.news, nil
	}
	return l.news, s.why(l.err)
}

// Members are the ids of the processes that share the sources, in order, none before the first
// beat; and what is closed at the next beat.
func (l *Leases) Members() (ids []string, beat <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.members, l.news
}

// Await waits until the source is held, or another process that holds it is seen
// to live: one that died is not told from one that lives before it is silent.
func (l *Leases) Await(ctx context.Context, source string) error {
	for {
		beat, err := l.Look(source)
		if waiting, ok := errors.AsType[*WaitingError](err); !ok || waiting.alive {
			return err
		}
		select {
		case <-beat:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
