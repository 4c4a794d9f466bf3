package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/engine/child"
	"github.com/larder-sync/larder/sinks/engine/socket"
)

// Options say what the program is started for.
type Options struct {
	Orders Orders // but for Role and Scratch
	Log    *slog.Logger
}

const (
	renewPause  = 10 * time.Second // from one renewal of the program to the next, after the first few
	renewals    = 3
	longPause   = 5 * time.Second // before a program that ends again and again is started again
	strikeTime  = time.Minute     // in which ends of the program count against an address
	mostStrikes = 3
	banTime     = time.Minute
	leftTime    = 10 * time.Second // in which a statement that was not answered whole may still end the program
	idleTime    = 10 * time.Minute // without a request, after which the program ends
	startWait   = 20 * time.Second // that a request waits for a start: less than its body may take to arrive
)

// Supervisor runs one reader while somebody asks, and hands requests to it.
type Supervisor struct {
	o        Options
	idle     time.Duration // see idleTime
	dir      string        // of the scratch folders
	lock     *os.File      // says that dir is in use
	started  int
	leaving  *process // that another has taken the place of; it may have ended
	stop     context.CancelFunc
	stopped  context.Context
	running  sync.WaitGroup
	renewals *rate.Limiter
	wanted   chan struct{} // somebody asks, and no program runs
	renew    chan struct{} // another program should take the place of the one that runs

	mu      sync.Mutex
	current *process      // nil while there is none
	resting chan struct{} // closed when a program was started, well or not; nil but from a rest to then
	asked   time.Time     // the last request, or its end
	again   time.Time     // when another is started, while there is none
	ends    child.Ends
	failure error // why the last start failed; nil: it did not
	strikes map[netip.Prefix][]time.Time
}

// process is a program that answers.
type process struct {
	*child.Process
	transport *http.Transport
	requests  sync.WaitGroup
	asked     map[*asking]bool // the requests; the supervisor's mu guards it
	blamed    bool             // somebody was, for its end
}

// asking is a request under way.
type asking struct {
	from  netip.Prefix
	since time.Time
}

// Start has the program started by the first request, and ended when there is none for ten
// minutes, until Close.
func Start(o Options) (*Supervisor, error) { return start(o, idleTime) }

func start(o Options, idle time.Duration) (*Supervisor, error) {
	dir, lock, err := scratchIn(o.Orders.Mirror.Writer)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the reader: %w", err)
	}
	s := &Supervisor{
		o: o, idle: idle, dir: dir, lock: lock, strikes: map[netip.Prefix][]time.Time{},
		wanted: make(chan struct{}, 1), renew: make(chan struct{}, 1), resting: make(chan struct{}),
		ends: child.Ends{Longest: longPause}, renewals: rate.NewLimiter(rate.Every(renewPause), renewals),
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.supervise)
	return s, nil
}

// Close ends the program.
func (s *Supervisor) Close() error {
	s.stop()
	s.running.Wait()
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// Ends is how often the program has ended by itself, or could not be started.
func (s *Supervisor) Ends() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends.Count
}

// Problem says that readers are not answered, or not as they should be; empty: they are.
func (s *Supervisor) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.ends.Recent()
	switch {
	case s.failure != nil && s.current == nil:
		return fmt.Sprintf("Nobody who asks at warehouse.http_listen is answered: the process for it could not be started, and is tried again. %v", s.failure)
	case s.failure != nil:
		return fmt.Sprintf("Who asks at warehouse.http_listen sees tables and views as they were: the process for it could not be renewed, and is tried again. %v", s.failure)
	case n >= child.TooOften:
		return fmt.Sprintf("The process that answers at warehouse.http_listen has ended %d times within ten minutes, and is started again each time. The log says under whose statements. The last reason: %v", n, s.ends.Last)
	}
	return ""
}

// supervise runs the program while somebody asks, until Close.
func (s *Supervisor) supervise() {
	for {
		select {
		case <-s.stopped.Done():
			return
		case <-s.wanted:
			select {
			case <-s.renew: // what starts now is new
			default:
			}
			s.keep(s.begin())
		}
	}
}

// keep keeps a program running, and another when it ends, until nobody asks. One that ends
// again and again waits for longer.
func (s *Supervisor) keep(p *process) {
	look := time.NewTicker(s.idle / 10)
	defer look.Stop()
	for begun := time.Now(); p != nil; {
		select {
		case <-s.stopped.Done():
			s.put(nil)
			p.Kill()
			return
		case <-look.C:
			if s.rest() {
				p.Kill()
				return
			}
		case <-s.renew:
			if turn := s.renewals.Reserve(); turn.Delay() > 0 {
				time.AfterFunc(turn.Delay(), s.stale)
				turn.Cancel()
				continue
			}
			p, begun = s.renewed(p), time.Now()
		case <-p.Ended():
			s.put(nil)
			s.blame(p)
			pause := s.ended(time.Since(begun), p.Err())
			s.o.Log.Info("reader: the process is started again", "in", pause)
			if !lifecycle.Pause(s.stopped, pause) {
				return
			}
			p, begun = s.begin(), time.Now()
		}
	}
}

// rest reports whether nobody has asked for long. From then on the next request has the
// program started.
func (s *Supervisor) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.current.asked) > 0 || time.Since(s.asked) < s.idle {
		return false
	}
	s.current, s.resting, s.failure = nil, make(chan struct{}), nil // the next start has its own
	s.o.Log.Debug("reader: nobody asks; the process ends")
	return true
}

// ended notes an end, or a start that failed. It returns the pause before the next start.
func (s *Supervisor) ended(ran time.Duration, why error) (pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause = s.ends.Add(ran, why)
	s.again = time.Now().Add(pause)
	return pause
}

// begin starts the program, until it answers or the supervisor is closed: then it returns nil.
func (s *Supervisor) begin() *process {
	for {
		p, err := s.start()
		if err == nil {
			s.put(p)
			return p
		}
		if s.stopped.Err() != nil {
			return nil
		}
		pause := s.ended(0, err)
		s.failed(err)
		s.o.Log.Error("reader: it could not be started; trying again", "error", err, "in", pause)
		if !lifecycle.Pause(s.stopped, pause) {
			return nil
		}
	}
}

// renewed has another program take the place of one, which ends with its last request. At most
// two run: the one that is still leaving is ended.
func (s *Supervisor) renewed(p *process) *process {
	if s.leaving != nil {
		s.leaving.Kill()
	}
	next, err := s.start()
	if err != nil {
		if s.stopped.Err() == nil {
			s.failed(err)
			s.o.Log.Warn("reader: it could not be renewed; tables and views are as before", "error", err)
			s.stale()
		}
		return p
	}
	s.put(next)
	s.leaving = p
	s.running.Go(func() {
		idle := make(chan struct{})
		go func() { p.requests.Wait(); close(idle) }()
		select {
		case <-idle:
		case <-p.Ended():
		case <-s.stopped.Done():
		}
		p.Kill()
	})
	return next
}

func (s *Supervisor) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.wake()
}

// wake has those go on who wait for a program since none ran. The caller holds mu.
func (s *Supervisor) wake() {
	if s.resting != nil {
		close(s.resting)
		s.resting = nil
	}
	select {
	case <-s.wanted: // of who asked meanwhile
	default:
	}
}

// stale has the program renewed.
func (s *Supervisor) stale() {
	select {
	case s.renew <- struct{}{}:
	default: // it is about to be
	}
}

func (s *Supervisor) put(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = p
	if p != nil {
		s.failure = nil
		s.wake()
	}
}

// start starts a program in a scratch folder of its own, and waits until it answers.
func (s *Supervisor) start() (*process, error) {
	s.started++
	scratch := filepath.Join(s.dir, strconv.Itoa(s.started))
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	p, err := s.startIn(scratch)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the reader: %w", err), os.RemoveAll(scratch))
	}
	go func() {
		<-p.Ended()
		s.o.Log.Debug("reader: the process ended", "error", p.Err())
		_ = os.RemoveAll(scratch) // what stays goes with the folder around it
	}()
	return p, nil
}

func (s *Supervisor) startIn(scratch string) (*process, error) {
	orders := s.o.Orders
	orders.Role, orders.Mirror.Scratch = Role, scratch
	path := filepath.Join(scratch, "socket")
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	file, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{
		asked:     map[*asking]bool{},
		transport: transportTo(func(ctx context.Context, _ string) (net.Conn, error) { return socket.Dial(ctx, path) }),
	}
	p.Process, err = child.Start(s.stopped, child.Options{
		Orders: orders, Memory: orders.Mirror.Memory, Files: []*os.File{file}, Log: s.o.Log, // Files: see socketFile
		Says: func(line string) { s.said(p, line) },
	})
	return p, err
}

// said takes what a program prints.
func (s *Supervisor) said(p *process, line string) {
	why, ends := strings.CutPrefix(line, lineEnd)
	switch {
	case ends:
		s.o.Log.Warn("reader: the process is ended", "why", why)
		s.blame(p) // now: it may take a while to end
	case line == lineStale:
		s.stale()
	}
}

// blame counts the end of a program against who has asked it for the longest.
func (s *Supervisor) blame(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var longest *asking
	for a := range p.asked {
		if longest == nil || a.since.Before(longest.since) {
			longest = a
		}
	}
	if longest == nil || p.blamed {
		return
	}
	p.blamed = true
	s.strikes[longest.from] = append(s.strikes[longest.from], time.Now())
	s.o.Log.Warn("reader: the process ended under a statement", "from", longest.from.String(), "after", time.Since(longest.since).Round(time.Millisecond).String())
}

// banned is how long an address has still to wait.
func (s *Supervisor) banned(from netip.Prefix) time.Duration {
	recent := slices.DeleteFunc(s.strikes[from], func(at time.Time) bool { return time.Since(at) > strikeTime })
	if len(recent) == 0 {
		delete(s.strikes, from)
		return 0
	}
	s.strikes[from] = recent
	if len(recent) < mostStrikes {
		return 0
	}
	return banTime - time.Since(recent[len(recent)-1])
}

// take notes a request with the program that is to answer it, once it was started; nil: it is
// not answered, but refused for a while.
func (s *Supervisor) take(ctx context.Context, a *asking) (p *process, wait time.Duration, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.banned(a.from); wait > 0 {
		return nil, wait, "Statements of this address have ended the reading process several times within a minute"
	}
	s.asked = time.Now()
	if resting := s.resting; resting != nil {
		select {
		case s.wanted <- struct{}{}:
		default: // somebody else asked
		}
		s.mu.Unlock()
		select {
		case <-resting:
		case <-time.After(startWait):
		case <-ctx.Done():
		case <-s.stopped.Done():
		}
		s.mu.Lock()
	}
	if s.current == nil {
		return nil, max(time.Second, time.Until(s.again)), "The reading process is being started again"
	}
	s.current.asked[a] = true
	s.current.requests.Add(1)
	return s.current, 0, ""
}

// ServeHTTP hands a request on. Who may ask has been checked.
func (s *Supervisor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &asking{from: inbound.AddressOf(r.RemoteAddr), since: time.Now()}
	p, wait, why := s.take(r.Context(), a)
	if p == nil {
		refuseFor(w, wait, why)
		return
	}
	done := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(p.asked, a)
		p.requests.Done()
		s.asked = time.Now()
	}
	answered := false
	defer func() {
		// A statement whose client has left may not stop, and one that was not answered may be
		// what the program ended of.
		if !answered || r.Context().Err() != nil {
			time.AfterFunc(leftTime, done)
			return
		}
		done()
	}()
	answered = forward(p.transport, w, r)
}
