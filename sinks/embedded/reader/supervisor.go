package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded/child"
	"github.com/larder-sync/larder/sinks/embedded/server"
	"github.com/larder-sync/larder/sinks/embedded/socket"
)

// Options say what the program is started for.
type Options struct {
	Orders Orders // but for Role and Scratch
	Log    *slog.Logger
}

const (
	firstPause  = 200 * time.Millisecond // before it is started again, doubled each time
	longPause   = time.Minute
	soundTime   = time.Minute // after which a program that ended counts as sound
	mostStrikes = 3           // of one address within soundTime
	banTime     = time.Minute
	leftTime    = 10 * time.Second // in which a statement whose client has left is still its client's
)

// Supervisor keeps one reader running and hands requests to it.
type Supervisor struct {
	o       Options
	dir     string   // of the scratch folders
	lock    *os.File // says that dir is in use
	stop    context.CancelFunc
	stopped context.Context
	running sync.WaitGroup

	mu      sync.Mutex
	current *process // nil while there is none
	started int
	asked   map[*asking]bool
	strikes map[netip.Prefix][]time.Time

	renew chan struct{} // tells that another program should take the place of the one that runs
	ready chan struct{} // closed when the first answers
}

// asking is a request under way.
type asking struct {
	from  netip.Prefix
	since time.Time
	by    *process
}

// process is a program that answers.
type process struct {
	*child.Process
	proxy  *httputil.ReverseProxy
	blamed bool // somebody was, for its end
}

// Start starts the program and keeps it running, until Close.
func Start(o Options) (*Supervisor, error) {
	dir, lock, err := scratchIn(o.Orders.Writer)
	if err != nil {
		return nil, fmt.Errorf("make a folder for the reader: %w", err)
	}
	s := &Supervisor{
		o: o, dir: dir, lock: lock, asked: map[*asking]bool{}, strikes: map[netip.Prefix][]time.Time{},
		renew: make(chan struct{}, 1), ready: make(chan struct{}),
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.supervise)
	return s, nil
}

// Ready is closed when the program has answered for the first time.
func (s *Supervisor) Ready() <-chan struct{} { return s.ready }

// Close ends the program.
func (s *Supervisor) Close() error {
	s.stop()
	s.running.Wait()
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// scratchIn makes a folder for the scratch folders of a supervisor, in the data folder: what a
// statement writes aside is on the disk that has room for it. It is locked as long as the
// supervisor lives. Those that are not, of processes that were killed, are removed.
func scratchIn(data string) (dir string, lock *os.File, err error) {
	all := filepath.Join(data, "readers")
	if err := os.MkdirAll(all, 0o700); err != nil {
		return "", nil, err
	}
	turn, err := locked(all, unix.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer turn.Close()
	left, err := os.ReadDir(all)
	if err != nil {
		return "", nil, err
	}
	for _, entry := range left {
		path := filepath.Join(all, entry.Name())
		if lock, err := locked(path, unix.LOCK_EX|unix.LOCK_NB); err == nil {
			if err := errors.Join(os.RemoveAll(path), lock.Close()); err != nil {
				return "", nil, err
			}
		}
	}
	if dir, err = os.MkdirTemp(all, ""); err != nil {
		return "", nil, err
	}
	lock, err = locked(dir, unix.LOCK_EX)
	return dir, lock, err
}

// locked opens a folder and locks it until it is closed.
func locked(path string, how int) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// start starts a program and waits until it answers.
func (s *Supervisor) start(ctx context.Context) (*process, error) {
	s.mu.Lock()
	s.started++
	scratch := filepath.Join(s.dir, strconv.Itoa(s.started))
	s.mu.Unlock()
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return nil, err
	}
	orders := s.o.Orders
	orders.Role = Role
	orders.Scratch = scratch
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
	p := &process{proxy: proxyTo(func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx, path) })}
	p.Process, err = child.Start(ctx, child.Options{
		Orders: orders, Memory: orders.Memory, Files: []*os.File{file}, Log: s.o.Log, // Files: see socketFile
		Says: func(line string) { s.said(p, line) },
	})
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

// supervise starts the program, and again when it ends, until Close.
func (s *Supervisor) supervise() {
	pause := firstPause
	p := s.again(&pause)
	if p == nil {
		return
	}
	close(s.ready)
	for since := time.Now(); ; {
		select {
		case <-s.stopped.Done():
			s.put(nil)
			p.Kill()
			return
		case <-s.renew:
			next, err := s.start(s.stopped)
			if s.stopped.Err() != nil {
				continue
			}
			if err != nil {
				s.o.Log.Warn("reader: it could not be renewed; tables and views are as before", "error", err, "again in", soundTime)
				time.AfterFunc(soundTime, s.stale)
				continue
			}
			s.put(next)
			old := p
			s.running.Go(func() { s.retire(old) })
			p, since = next, time.Now()
			continue
		case <-p.Ended():
		}
		s.put(nil)
		s.blame(p)
		if time.Since(since) > soundTime {
			pause = firstPause
		}
		s.o.Log.Info("reader: the process is started again")
		if p = s.again(&pause); p == nil {
			return
		}
		since = time.Now()
	}
}

// again starts the program again, until it answers or the supervisor is closed.
func (s *Supervisor) again(pause *time.Duration) *process {
	for {
		next, err := s.start(s.stopped)
		if err == nil {
			s.put(next)
			return next
		}
		if s.stopped.Err() != nil {
			return nil
		}
		s.o.Log.Error("reader: it could not be started; trying again", "error", err, "in", *pause)
		select {
		case <-s.stopped.Done():
			return nil
		case <-time.After(*pause):
		}
		*pause = min(2**pause, longPause)
	}
}

// stale has another program take the place of the one that runs, which ends with its last
// request.
func (s *Supervisor) stale() {
	select {
	case s.renew <- struct{}{}:
	default: // it is about to
	}
}

// retire ends a program whose place another has taken, when its requests have ended.
func (s *Supervisor) retire(p *process) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for s.busy(p) {
		select {
		case <-tick.C:
		case <-p.Ended():
			return
		case <-s.stopped.Done():
			p.Kill()
			return
		}
	}
	p.Kill()
}

func (s *Supervisor) busy(p *process) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.asked {
		if a.by == p {
			return true
		}
	}
	return false
}

func (s *Supervisor) put(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = p
}

// blame counts the end of a program against who has asked it for the longest.
func (s *Supervisor) blame(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var longest *asking
	for a := range s.asked {
		if a.by == p && (longest == nil || a.since.Before(longest.since)) {
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
	recent := slices.DeleteFunc(s.strikes[from], func(at time.Time) bool { return time.Since(at) > soundTime })
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

// ServeHTTP hands a request on. Who may ask has been checked.
func (s *Supervisor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &asking{from: inbound.AddressOf(r.RemoteAddr), since: time.Now()}
	s.mu.Lock()
	a.by = s.current
	wait := s.banned(a.from)
	if a.by != nil && wait <= 0 {
		s.asked[a] = true
	}
	s.mu.Unlock()
	switch {
	case wait > 0:
		refuse(w, wait, "Statements of this address have ended the reading process several times within a minute")
		return
	case a.by == nil:
		refuse(w, time.Second, "The reading process is being started again")
		return
	}
	done := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, a)
	}
	defer func() {
		if r.Context().Err() != nil { // who has left may have left a statement that does not stop
			time.AfterFunc(leftTime, done)
			return
		}
		done()
	}()
	a.by.proxy.ServeHTTP(w, r)
}

// codeTooManyQueries is ClickHouse's for a server that takes no statement now.
const codeTooManyQueries = 202

func refuse(w http.ResponseWriter, wait time.Duration, why string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=UTF-8")
	h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(codeTooManyQueries))
	h.Set("Retry-After", strconv.Itoa(max(1, int(wait.Seconds()))))
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, "Code: %d. DB::Exception: %s. Try again later. (TOO_MANY_SIMULTANEOUS_QUERIES)\n", codeTooManyQueries, why)
}

// dialler connects to who answers, whatever the address.
type dialler func(ctx context.Context, network, address string) (net.Conn, error)

// Unconfined hands requests to the writer, where the kernel cannot confine a reader
// (warehouse.http_unconfined). The engine lets them change nothing (readonly = 2). They read
// what Larder's user may read, and INTO OUTFILE makes files where that user may.
func Unconfined(dial func(ctx context.Context, address string) (net.Conn, error), database, zone string) http.Handler {
	proxy := proxyTo(func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) })
	rewrite := proxy.Rewrite
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		rewrite(r)
		asked, rest := url.Values{}, []string{}
		for pair := range strings.SplitSeq(r.In.URL.RawQuery, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if name, err := url.QueryUnescape(name); err == nil && name == "readonly" {
				continue // it is 2, whatever is asked
			} else if err == nil {
				asked.Set(name, "")
			}
			rest = append(rest, pair)
		}
		given := url.Values{"readonly": {"2"}}
		for name, value := range server.ReaderSettings(zone) {
			if !asked.Has(name) {
				given.Set(name, value)
			}
		}
		if !asked.Has("database") && r.In.Header.Get("X-ClickHouse-Database") == "" {
			given.Set("database", database)
		}
		r.Out.URL.RawQuery = strings.Join(append(rest, given.Encode()), "&")
	}
	return proxy
}

// proxyTo hands requests on, without the password that they came with.
func proxyTo(dial dialler) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "reader", "reader"
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came: a semicolon belongs to the SQL
			for _, name := range []string{"Authorization", "X-ClickHouse-User", "X-ClickHouse-Key", "Cookie"} {
				r.Out.Header.Del(name)
			}
		},
		FlushInterval: -1,
		Transport: &http.Transport{
			DialContext: dial, DisableCompression: true, MaxIdleConnsPerHost: 16,
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			refuse(w, time.Second, "The reading process ended under this statement")
		},
	}
}
