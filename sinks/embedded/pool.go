package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/embedded/exception"
)

// maxConns is how many statements of the daemon and the folder's owner can be
// under way at once; more wait.
const maxConns = 64

// maxIdle is how many connections are kept open for the next statement, at most
// half as many as there are places.
const maxIdle = 16

// ErrClosed is what a statement ends with that begins after Close.
var ErrClosed = errors.New("the engine is closed")

// PoolOptions say what the connections of a pool have in common.
type PoolOptions struct {
	Who      string            // may have its places; named in the error of a wait in vain
	Settings map[string]string // over those of the engine
	Places   int               // how many statements can be under way at once
	Marked   bool              // each connection has a mark of its own, see cancellable
	Grace    time.Duration     // how long Close waits for a statement that does not end; 0 is for ever
}

// Pool keeps connections, each with the settings it was opened with: settings
// are given when a connection is opened (0.3 ms), never changed on one that
// others will use.
type Pool struct {
	engine *Engine
	o      PoolOptions
	args   []string // of every connection
	slots  chan struct{}
	gate   gate // statements under way

	mu     sync.Mutex
	idle   []*conn // the last used is last
	closed bool
}

func (e *Engine) newPool(o PoolOptions) *Pool {
	settings := maps.Clone(e.settings)
	maps.Copy(settings, o.Settings)
	return &Pool{engine: e, o: o, args: slices.Concat(e.args, settingArgs(settings)), slots: make(chan struct{}, o.Places)}
}

// NewPool makes a pool beside the engine's own. Close ends it.
func (e *Engine) NewPool(o PoolOptions) *Pool {
	p := e.newPool(o)
	e.poolsMu.Lock()
	defer e.poolsMu.Unlock()
	e.pools = append(e.pools, p)
	return p
}

// Session is what a statement wants of its connection.
type Session struct {
	Database string
	Settings map[string]string // over those of the pool
	Patience time.Duration     // for a place; 0 is for ever
}

// Use calls f with a connection that nobody else uses meanwhile. Errors of the engine
// are an *exception.Exception.
func (p *Pool) Use(ctx context.Context, s Session, f func(*Conn) error) error {
	if !p.gate.enter() {
		return ErrClosed
	}
	defer p.gate.leave()
	c, err := p.lease(ctx, s)
	if err != nil {
		return err
	}
	defer p.release(c)
	// A statement that failed stays with its connection, locks and part of its
	// answer included, until the next one there: end the connection instead.
	// Cleared only when f comes back, so that a panic ends it too.
	failed := true
	defer func() { c.spoiled = c.spoiled || failed }()
	err = f(&Conn{engine: p.engine, conn: c})
	failed = err != nil
	return explained(err, p.engine.path)
}

// lease returns a connection for a session, waiting for a place until ctx or the
// session's patience ends. Give it back with release.
func (p *Pool) lease(ctx context.Context, s Session) (*conn, error) {
	if err := p.place(ctx, s.Patience); err != nil {
		return nil, err
	}
	c, err := p.obtain(s.Settings, s.Database)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

func (p *Pool) place(ctx context.Context, patience time.Duration) error {
	var enough <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-enough:
		return exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES",
			"Too many simultaneous queries: %d are under way, the most that %s may have at once, and none has ended within %s. Try again later", cap(p.slots), p.o.Who, patience)
	}
}

func (p *Pool) obtain(settings map[string]string, database string) (*conn, error) {
	c, err := p.take(settings, database)
	if err != nil {
		return nil, err
	}
	if err := c.use(database); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// take finds an idle connection with these settings, one that uses the database
// already if there is one, or opens another.
func (p *Pool) take(settings map[string]string, database string) (*conn, error) {
	key := settingsKey(settings)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	found := -1
	for i, c := range p.idle {
		if c.key == key && (found < 0 || c.database == database) {
			found = i
		}
	}
	if found >= 0 {
		c := p.idle[found]
		p.idle = slices.Delete(p.idle, found, found+1)
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()

	args, mark := slices.Clone(p.args), ""
	if p.o.Marked {
		mark = "larder-" + rand.Text()
		args = append(args, "--"+markSetting+"="+mark)
	}
	c, err := openConn(p.engine.lib, append(args, settingArgs(settings)...))
	if errors.Is(err, errConnect) && len(settings) > 0 {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "One of the settings has a value that the engine does not take: %s", strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
	}
	if err != nil {
		return nil, err
	}
	c.key, c.mark = key, mark
	return c, nil
}

func (p *Pool) release(c *conn) {
	defer func() { <-p.slots }()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.spoiled {
		c.close()
		return
	}
	p.idle = append(p.idle, c)
	if len(p.idle) > min(maxIdle, cap(p.slots)/2) {
		p.idle[0].close()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

// close ends the idle connections and those given back later.
func (p *Pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}

// settingsKey is the same for the same settings.
func settingsKey(settings map[string]string) string {
	if len(settings) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", settingArgs(settings))
}
