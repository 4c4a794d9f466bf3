package syncer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/list"
	"github.com/larder-sync/larder/syncer/status"
)

// tester is a test, or a case of a property.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
	Cleanup(func())
	Context() context.Context
	Output() io.Writer
}

// world is a service, a warehouse and a syncer between them, inside a bubble.
type world struct {
	t         tester
	box       *sandbox.Sandbox
	handler   http.Handler
	transport *http.Transport
	store     *memsink.Store
	flush     time.Duration
	schedule  Schedule
	edit      func(*Source)
	tune      func(*Options)
	verbose   bool
	beatTime  time.Duration
	process   string // shares the warehouse under this name; empty: has it for itself

	sink   *memsink.Sink
	syncer *Syncer
	opened atomic.Pointer[Syncer] // syncer, for who looks on meanwhile
	stop   context.CancelFunc
	done   chan error
}

// playedInShort are the tests that have called inShort.
var playedInShort sync.Map

// inShort keeps a test in the short run, which is the race detector's: several processes,
// passes or configurations meet in it. It is called before the bubble.
func inShort(t *testing.T) {
	name, _, _ := strings.Cut(t.Name(), "/")
	playedInShort.Store(name, true)
}

// notInShort skips a test in the short run, unless it has called inShort: TestSimulation runs
// the goroutines of one daemon and its service.
func notInShort(t *testing.T) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	if _, played := playedInShort.Load(name); testing.Short() && !played {
		t.Skip("one daemon and its service: TestSimulation runs their goroutines")
	}
}

// inWorld runs a test against a sandbox in a synctest bubble.
func inWorld(t *testing.T, opts sandbox.Options, test func(t *testing.T, w *world)) {
	t.Helper()
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		opts.Inspect = apicheck.Inspect(t)
		box, err := sandbox.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, box.Handler())
		w.box = box
		test(t, w)
	})
}

// inScript runs a test against a handler of its own.
func inScript(t *testing.T, h http.Handler, test func(t *testing.T, w *world)) {
	t.Helper()
	notInShort(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, h)
		test(t, w)
	})
}

func newWorld(t tester, h http.Handler) *world {
	w := &world{t: t, handler: h, store: memsink.NewStore()}
	l := newMemListener()
	srv := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	}()
	w.transport = api.NewTransport(api.Timeouts{})
	w.transport.DialContext = l.dial
	w.transport.Proxy = nil
	w.transport.ForceAttemptHTTP2 = false
	t.Cleanup(func() {
		w.close()
		_ = srv.Close() // nothing can be done about it at the end of a test
	})
	return w
}

// open makes a syncer over the store, as a new process would.
func (w *world) open(sources ...Source) *Syncer {
	w.t.Helper()
	if len(sources) == 0 {
		sources = w.sources()
	}
	if w.edit != nil {
		for i := range sources {
			w.edit(&sources[i])
		}
	}
	w.sink = memsink.Open(w.store, memsink.Options{FlushInterval: w.flush, BeatTime: w.beatTime})
	var log *slog.Logger
	if w.verbose {
		log = slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	opts := Options{
		Exclusive: w.process == "", Process: sinks.Process{ID: w.process, Name: "host " + w.process},
		Sources: sources, Sink: w.sink, Schedule: w.schedule, Logger: log, FlushInterval: w.flush,
		API: api.Options{Transport: w.transport, Jitter: func() float64 { return 0.5 }},
	}
	if w.tune != nil {
		w.tune(&opts)
	}
	y, err := New(opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.syncer = y
	w.opened.Store(y)
	return y
}

// sources are the main keys of the sandbox's restaurants.
func (w *world) sources() []Source {
	var all []Source
	for _, k := range w.box.Keys() {
		if k.Role == sandbox.RoleMain {
			all = append(all, sourceOf(fmt.Sprintf("r%d", k.Business), k.Value))
		}
	}
	return all
}

func sourceOf(name, key string) Source {
	return Source{Name: name, BaseURL: "http://api.test/v1", Key: func() string { return key }}
}

// alive moves the sandbox's world with time until the returned function is called.
func (w *world) alive() (freeze func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(3 * time.Second):
				w.box.Tick(time.Now())
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// run starts the daemon.
func (w *world) run(sources ...Source) {
	y := w.open(sources...)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.stop, w.done = cancel, make(chan error, 1)
	go func() { w.done <- y.Run(ctx) }()
}

// crash ends the daemon as kill -9 does: rows of the first n commits that were
// not durable survive, no checkpoint of theirs.
func (w *world) crash(n int) {
	w.sink.Crash(n)
	w.halt()
}

// halt ends the daemon in good order.
func (w *world) halt() {
	if w.stop == nil {
		return
	}
	w.stop()
	if err := <-w.done; err != nil {
		w.t.Errorf("run: %v", err)
	}
	w.stop = nil
	if err := w.sink.Close(context.Background()); err != nil {
		w.t.Errorf("close: %v", err)
	}
}

func (w *world) close() {
	w.halt()
	if w.sink != nil {
		_ = w.sink.Close(context.Background()) // memsink's Close returns nil
	}
	w.transport.CloseIdleConnections()
}

// once makes one pass and fails the test when anything goes wrong.
func (w *world) once(sel Selection) Report {
	w.t.Helper()
	r := w.tryOnce(sel)
	if err := r.Err(); err != nil {
		w.t.Fatalf("pass: %v", err)
	}
	return r
}

func (w *world) tryOnce(sel Selection) Report {
	w.t.Helper()
	if w.syncer == nil {
		w.open()
	}
	r, err := w.syncer.RunOnce(w.t.Context(), sel, nil)
	if err != nil {
		w.t.Fatalf("pass: %v", err)
	}
	return r
}

// until waits in simulated time for a condition.
func (w *world) until(what string, limit time.Duration, cond func() bool) {
	w.t.Helper()
	for waited := time.Duration(0); !cond(); waited += 100 * time.Millisecond {
		if waited > limit {
			w.t.Fatalf("%s: not within %s\n%s", what, limit, w.describe())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *world) describe() string {
	text, err := json.MarshalIndent(w.syncer.Status(), "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// stream is the status of a stream of the first source.
func (w *world) stream(name string) status.StreamStatus {
	w.t.Helper()
	for _, st := range w.syncer.Status().Sources[0].Streams {
		if st.Name == name {
			return st
		}
	}
	w.t.Fatalf("no stream %s", name)
	return status.StreamStatus{}
}

// list is a list of the first source itself.
func (w *world) list(name string) *list.List {
	w.t.Helper()
	for _, st := range w.syncer.served()[0].lists {
		if st.Def.Name == name {
			return st
		}
	}
	w.t.Fatalf("no list %s", name)
	return nil
}

// filled is true when every backfill is done.
func (w *world) filled() bool {
	for _, s := range w.syncer.Status().Sources {
		if s.State != status.StateRunning {
			return false
		}
		for _, st := range s.Streams {
			if st.State != status.StateRunning && st.State != status.StateOff {
				return false
			}
		}
	}
	return true
}
