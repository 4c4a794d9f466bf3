package reader

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// Options say which program to start, and for what.
type Options struct {
	Command []string // the program and its first arguments
	Orders  Orders   // but for Scratch
	Log     *slog.Logger
}

const (
	startTime   = 30 * time.Second       // in which the program has to answer
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
	cmd     *exec.Cmd
	scratch string
	stdin   io.Closer
	proxy   *httputil.ReverseProxy
	ended   chan struct{}
	blamed  bool // somebody was, for its end
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
	orders.Scratch = scratch
	text, err := json.Marshal(orders)
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(scratch, "socket")
	listener, err := server.ListenSocket(socket)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	file, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{scratch: scratch, ended: make(chan struct{}), proxy: proxyTo(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return server.DialSocket(ctx, socket)
	})}
	p.cmd = exec.Command(s.o.Command[0], append(slices.Clone(s.o.Command[1:]), string(text))...) //nolint:gosec,noctx // this program; it is ended by its input
	p.cmd.Env = environment()
	p.cmd.ExtraFiles = []*os.File{file} // see socketFile
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var reason tail
	p.cmd.Stderr = &reason
	p.stdin = stdin
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // PR_SET_PDEATHSIG is about the thread that starts the program
		defer runtime.UnlockOSThread()
		endWithUs(p.cmd)
		if err := p.cmd.Start(); err != nil {
			begun <- err
			return
		}
		begun <- nil
		<-p.ended
	}()
	if err := <-begun; err != nil {
		return nil, fmt.Errorf("start the reader: %w", err)
	}
	ready := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			why, ends := strings.CutPrefix(lines.Text(), lineEnd)
			switch {
			case ends:
				s.o.Log.Warn("reader: the process is ended", "why", why)
				s.blame(p) // now: it may take a while to end
			case lines.Text() == lineReady:
				close(ready)
			case lines.Text() == lineStale:
				s.stale()
			}
		}
		err := p.cmd.Wait()
		s.o.Log.Debug("reader: the process ended", "error", err)
		_ = os.RemoveAll(scratch) // what stays goes with the folder around it
		close(p.ended)
	}()
	select {
	case <-ready:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("start the reader: it ended: %s", reason.String())
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(startTime):
		err = fmt.Errorf("start the reader: no answer within %s", startTime)
	}
	p.kill()
	return nil, err
}

// environment is what the program gets of ours: where the engine is, and how its memory
// is kept.
func environment() []string {
	env := []string{} // not nil, which stands for all of ours
	for _, name := range []string{embedded.LibraryEnv, "JE_MALLOC_CONF", "GOMAXPROCS", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tail keeps the end of what a program says of its failure.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-2<<10):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

func (p *process) kill() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill() // it has ended otherwise
	<-p.ended
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
			p.kill()
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
		case <-p.ended:
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
		case <-p.ended:
			return
		case <-s.stopped.Done():
			p.kill()
			return
		}
	}
	p.kill()
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
// (warehouse.http_unconfined). They may only read, but everything that Larder's user may.
func Unconfined(dial func(ctx context.Context, address string) (net.Conn, error), database, zone string) http.Handler {
	proxy := proxyTo(func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) })
	rewrite := proxy.Rewrite
	proxy.Rewrite = func(r *httputil.ProxyRequest) {
		rewrite(r)
		r.Out.Header.Set(server.ReadsHeader, "1")
		asked, rest := url.Values{}, []string{}
		for pair := range strings.SplitSeq(without(r.Out.URL.RawQuery, "readonly"), "&") { // it is 2, whatever is asked
			asked.Set(nameIn(pair), "")
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

// without is a query string without some of its parameters. All else is as it came: a
// semicolon belongs to the SQL.
func without(query string, names ...string) string {
	var rest []string
	for pair := range strings.SplitSeq(query, "&") {
		if !slices.Contains(names, nameIn(pair)) {
			rest = append(rest, pair)
		}
	}
	return strings.Join(rest, "&")
}

// nameIn is the name of a parameter, empty when the server cannot read it either.
func nameIn(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return ""
	}
	return name
}

// proxyTo hands requests on, without the password that they came with.
func proxyTo(dial dialler) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "reader", "reader"
			r.Out.URL.RawQuery = without(r.In.URL.RawQuery, "user", "password")
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
