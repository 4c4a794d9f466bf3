package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine/exception"
)

// maxConns is how many statements of the daemon and the folder's owner can be
// under way at once; more wait.
const maxConns = 64

// maxIdle is how many connections are kept open for the next statement, at most
// half as many as there are places.
const maxIdle = 16

// ErrClosed is what a statement ends with that begins after Close.
var ErrClosed = errors.New("the engine is closed")

// Pool keeps connections, each with the settings it was opened with: settings
// are given when a connection is opened (0.3 ms), never changed on one that
// others will use.
type Pool struct {
	engine   *Engine
	args     []string      // of every connection
	patience time.Duration // for a place; 0 is for ever
	slots    chan struct{} // statements under way
	closing  chan struct{}

	mu   sync.Mutex
	idle []*Conn // the last used is last
}

func (e *Engine) newPool(args []string, places int, patience time.Duration) *Pool {
	return &Pool{engine: e, args: args, patience: patience, slots: make(chan struct{}, places), closing: make(chan struct{})}
}

// Readers makes the pool of those who read, with settings over those of the engine: so many
// statements at once, and how long another waits for its place. It ends with the process.
func (e *Engine) Readers(settings map[string]string, places int, patience time.Duration) *Pool {
	return e.newPool(slices.Concat(e.args, settingArgs(settings)), places, patience)
}

// Use calls f with a connection to a database that nobody else uses meanwhile, with settings
// over those of the pool. Errors of the engine are an *exception.Exception.
func (p *Pool) Use(ctx context.Context, database string, settings map[string]string, f func(*Conn) error) error {
	if err := p.place(ctx); err != nil {
		return err
	}
	defer func() { <-p.slots }()
	runtime.LockOSThread() // see Conn
	defer runtime.UnlockOSThread()
	c, err := p.obtain(settings, database)
	if err != nil {
		return explained(err, p.engine.path, p.engine.spare)
	}
	// A statement that failed stays with its connection, locks and part of its
	// answer included, until the next one there: end the connection instead.
	// Cleared only when f comes back, so that a panic ends it too.
	failed := true
	defer func() { p.release(c, failed) }()
	err = f(c)
	failed = err != nil
	return explained(err, p.engine.path, p.engine.spare)
}

// place waits for the place of one statement, which Use gives back.
func (p *Pool) place(ctx context.Context) error {
	var enough <-chan time.Time
	if p.patience > 0 {
		timer := time.NewTimer(p.patience)
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-p.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-enough:
		return exception.Refuse(exception.TooManyQueries, "TOO_MANY_SIMULTANEOUS_QUERIES",
			"Too many simultaneous queries: %d are under way, the most that readers may have at once, and none has ended within %s. Try again later", cap(p.slots), p.patience)
	}
}

func (p *Pool) obtain(settings map[string]string, database string) (*Conn, error) {
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
func (p *Pool) take(settings map[string]string, database string) (*Conn, error) {
	given := settingArgs(settings)
	key := fmt.Sprintf("%q", given)
	p.mu.Lock()
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

	mark := rand.Text()
	c, err := p.engine.connect(slices.Concat(p.args, []string{"--" + markSetting + "=" + mark}, given))
	if errors.Is(err, errConnect) && len(settings) > 0 && p.connects() {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "One of the settings has a value that the engine does not take: %s", strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it may have no memory left, ask again", err)
	}
	c.key, c.mark = key, mark
	return c, nil
}

// connects is true when a connection can be opened without settings: the engine does not
// say whether a setting or the memory was why another could not.
func (p *Pool) connects() bool {
	c, err := p.engine.connect(p.args)
	if err == nil {
		c.close()
	}
	return err == nil
}

func (p *Pool) release(c *Conn, failed bool) {
	if failed || c.spoiled {
		c.close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, c)
	if len(p.idle) > min(maxIdle, cap(p.slots)/2) {
		p.idle[0].close()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}

// close waits until all statements have ended, takes every place for ever, and ends the
// connections.
func (p *Pool) close() {
	close(p.closing)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	for _, c := range p.idle {
		c.close()
	}
}
