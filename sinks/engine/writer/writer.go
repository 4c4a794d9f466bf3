package writer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/child"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// Options say which data folder, and how its engine is started.
type Options struct {
	Folder    string
	Databases []string
	Memory    int64
	// Unconfined lets the engine read files outside of its folder, as a restore does.
	Unconfined bool
	Log        *slog.Logger
}

const (
	heldWait   = 15 * time.Second // for an engine that another process starts or ends
	shortPause = 5 * time.Second  // before it is started again, that is waited for
	lookEvery  = 5 * time.Second  // how often the program is asked whether it answers
	// longSilence is after how long without an answer the program is taken to hang.
	longSilence = 30 * time.Second
)

// Writer is the way to the engine of a data folder.
type Writer struct {
	o        Options
	folder   atomic.Pointer[engine.Folder] // nil until it was opened
	silence  time.Duration
	starting chan struct{} // holds one: who starts the program
	running  sync.WaitGroup
	life     context.Context // until Close
	stop     context.CancelFunc

	mu      sync.Mutex
	program *child.Process // nil when another process has started it, or none
	next    time.Time      // of the next start
	ends    child.Ends
}

// Open connects to the engine of a data folder, or starts it. Errors: those of
// [engine.FindLibrary], [engine.PrepareFolder] and [engine.Foreign], [engine.ErrHeld].
func Open(ctx context.Context, o Options) (*Writer, error) { return open(ctx, o, longSilence) }

func open(ctx context.Context, o Options, silence time.Duration) (*Writer, error) {
	path, err := engine.PrepareFolder(o.Folder)
	if err != nil {
		return nil, err
	}
	o.Folder = path
	w := &Writer{o: o, silence: silence, starting: make(chan struct{}, 1)}
	w.life, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err = w.reach(ctx); err == nil {
		var folder *engine.Folder
		folder, err = engine.WatchFolder(path)
		w.folder.Store(folder)
	}
	if err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// reach waits until the engine answers. One whose starter was killed still takes connections
// for a moment, and answers nothing.
func (w *Writer) reach(ctx context.Context) error {
	client := w.client()
	defer client.CloseIdleConnections()
	for began := time.Now(); ; {
		conn, err := w.dial(ctx)
		if err != nil {
			return err
		}
		_ = conn.Close() // nothing was said on it
		switch {
		case w.answers(ctx, client):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Since(began) > 2*w.silence:
			return silent(engine.HeldBy(w.o.Folder))
		}
		lifecycle.Pause(ctx, 20*time.Millisecond)
	}
}

func silent(held error) error {
	return fmt.Errorf("%w; it does not answer on its socket", held)
}

// Close ends the program, if this process has started it. It may be called more than once.
func (w *Writer) Close() error {
	w.end()
	if err := w.folder.Load().Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func (w *Writer) end() {
	w.stop()
	w.running.Wait()
}

// Folder is the data folder, absolute.
func (w *Writer) Folder() string { return w.o.Folder }

// Health is nil while the data folder is the one that was opened. Else nothing is stored.
func (w *Writer) Health() error {
	folder := w.folder.Load()
	if folder == nil {
		return nil
	}
	err, first := folder.Check()
	if first {
		w.o.Log.Error("embedded engine: " + err.Error())
	}
	return err
}

// Ends is how often the program has ended by itself.
func (w *Writer) Ends() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ends.Count
}

// Problem says that the program ends again and again; empty: it does not.
func (w *Writer) Problem() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.ends.Recent()
	if n < child.TooOften {
		return ""
	}
	return fmt.Sprintf("The embedded engine has ended %d times within ten minutes, and is started again each time. Rows wait meanwhile, and nothing is lost. The last reason: %v",
		n, w.ends.Last)
}

// Dial connects to the engine, with full rights, and starts it when nobody has. Its form is
// that of clickhouse.Options.DialContext; the address does not matter.
func (w *Writer) Dial(ctx context.Context, _ string) (net.Conn, error) {
	if err := w.Health(); err != nil {
		return nil, unreachable(err)
	}
	conn, err := w.dial(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	return conn, nil
}

// unreachable makes an error one of the network, as that of a server that is not there.
func unreachable(err error) error { return &net.OpError{Op: "dial", Net: "unix", Err: err} }

func (w *Writer) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, child.StartTime, errors.New("the embedded engine does not answer"))
	defer cancel()
	for began := time.Now(); ; {
		conn, err := server.DialHeld(w.o.Folder)(ctx, "")
		if err == nil {
			return conn, nil
		}
		err = w.start(ctx)
		if held := errors.Is(err, engine.ErrHeld); held && time.Since(began) > heldWait { // it is stuck
			return nil, silent(err)
		} else if err != nil && !held {
			return nil, err
		}
		if !lifecycle.Pause(ctx, 20*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
}

// start starts the program, unless it runs. A start that was begun is brought to its end, also
// when nobody waits for it any more: it can take longer than a statement may.
func (w *Writer) start(ctx context.Context) error {
	select {
	case w.starting <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	pause, err := w.due()
	if err != nil || pause < 0 {
		<-w.starting
		return err
	}
	started := make(chan error, 1)
	w.running.Go(func() {
		defer func() { <-w.starting }()
		started <- w.startAfter(pause)
	})
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *Writer) startAfter(pause time.Duration) error {
	if !lifecycle.Pause(w.life, pause) {
		return engine.ErrClosed
	}
	if err := w.Health(); err != nil {
		return err // another folder would be made in its place
	}
	if err := engine.Held(w.o.Folder); err != nil {
		return err // its engine starts, or ends
	}
	if err := engine.Foreign(w.o.Folder); err != nil {
		return err
	}
	begun := time.Now()
	program, err := child.Start(w.life, child.Options{
		Orders: Orders{Role: Role, Folder: w.o.Folder, Databases: w.o.Databases, Memory: w.o.Memory, Unconfined: w.o.Unconfined},
		Memory: w.o.Memory, Log: w.o.Log,
	})
	switch {
	case w.life.Err() != nil:
		if err == nil {
			program.Close()
		}
		return engine.ErrClosed
	case errors.Is(err, engine.ErrHeld):
		return engine.HeldBy(w.o.Folder)
	case err != nil:
		if w.ended(begun, err) > shortPause {
			return keepsEnding(err)
		}
		return fmt.Errorf("the embedded engine could not be started: %w", err)
	}
	w.mu.Lock()
	w.program = program
	w.mu.Unlock()
	w.running.Go(func() { w.run(program, begun) })
	return nil
}

// due is in how long the program is to be started; negative: it runs.
func (w *Writer) due() (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pause := time.Until(w.next)
	switch {
	case w.life.Err() != nil:
		return 0, engine.ErrClosed
	case w.program != nil:
		return -1, nil
	case pause > shortPause:
		return 0, keepsEnding(w.ends.Last)
	}
	return max(0, pause), nil
}

// keepsEnding is why nobody waits for the next start. It has no count and no clock: who logs
// what has changed would log it at each look.
func keepsEnding(last error) error {
	return fmt.Errorf("the embedded engine keeps ending, and is started again about once a minute: %w", last)
}

// run watches a program until it ends, or is to end. Another is started in its place at once,
// and not by who next needs it: that may be a command, with which it would end.
func (w *Writer) run(program *child.Process, begun time.Time) {
	w.watch(program)
	if w.life.Err() != nil {
		program.Close()
		return
	}
	pause := w.ended(begun, program.Err())
	w.o.Log.Error("the embedded engine has ended; it is started again", "reason", program.Err().Error(), "after", time.Since(begun).Round(time.Millisecond), "again in", pause)
	_ = w.start(w.life) // who next needs it hears why it could not be started
}

// ended notes that the program has ended, or could not be started, and when it may be started
// again: at once when it was sound.
func (w *Writer) ended(begun time.Time, why error) (pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.program = nil
	pause = w.ends.Add(time.Since(begun), why)
	w.next = time.Now().Add(pause)
	return pause
}

// watch returns when the program ends, or is to end. One that answers nothing for long is killed.
func (w *Writer) watch(program *child.Process) {
	client := w.client()
	defer client.CloseIdleConnections()
	for answered := time.Now(); ; {
		select {
		case <-program.Ended():
			return
		case <-w.life.Done():
			return
		case <-time.After(min(lookEvery, w.silence/4)):
		}
		if w.answers(w.life, client) {
			answered = time.Now()
		} else if time.Since(answered) > w.silence {
			w.o.Log.Error("the embedded engine does not answer any more; it is ended", "for", time.Since(answered).Round(time.Second))
			program.Kill()
		}
	}
}

// client asks the engine.
func (w *Writer) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return server.DialHeld(w.o.Folder)(ctx, "")
	}}}
}

// answers reports whether the engine runs a statement, however that goes and however many others
// are under way.
func (w *Writer) answers(ctx context.Context, client *http.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, w.silence)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine/ping", http.NoBody)
	if err != nil {
		return false
	}
	res, err := client.Do(r)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil
}

// Listens reports whether an engine has the data folder open, without starting one.
func Listens(ctx context.Context, folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := server.DialHeld(folder)(ctx, "")
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was said on it
	return true
}
