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

var errClosed = errors.New("the engine is closed")

// pool keeps connections, each with the settings it was opened with: settings
// are given when a connection is opened (0.3 ms), never changed on one that
// others will use.
type pool struct {
	lib      *native
	args     []string // of every connection
	slots    chan struct{}
	patience time.Duration // how long to wait for a place; 0 is for ever
	marks    bool          // each connection has a mark among its settings, see cancellable

	mu     sync.Mutex
	idle   []*conn // the last used is last
	closed bool
}

func newPool(lib *native, args []string, places int, patience time.Duration) *pool {
	return &pool{lib: lib, args: args, slots: make(chan struct{}, places), patience: patience}
}

// lease returns a connection with these settings that uses this database,
// waiting for a place until ctx or the pool's patience ends. Give it back with
// release.
func (p *pool) lease(ctx context.Context, settings map[string]string, database string) (*conn, error) {
	if err := p.place(ctx); err != nil {
		return nil, err
	}
	c, err := p.obtain(settings, database)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

func (p *pool) place(ctx context.Context) error {
	var enough <-chan time.Time
	if p.patience > 0 {
		timer := time.NewTimer(p.patience)
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
			"Too many simultaneous queries: %d are under way, the most that readers may have at once, and none has ended within %s. Try again later", cap(p.slots), p.patience)
	}
}

func (p *pool) obtain(settings map[string]string, database string) (*conn, error) {
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
func (p *pool) take(settings map[string]string, database string) (*conn, error) {
	key := settingsKey(settings)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
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
	if p.marks {
		mark = "larder-" + rand.Text()
		args = append(args, "--"+markSetting+"="+mark)
	}
	c, err := openConn(p.lib, append(args, settingArgs(settings)...))
	if errors.Is(err, errConnect) && len(settings) > 0 {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "One of the settings has a value that the engine does not take: %s", strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
	}
	if err != nil {
		return nil, err
	}
	c.key, c.mark = key, mark
	return c, nil
}

func (p *pool) release(c *conn) {
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
func (p *pool) close() {
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
