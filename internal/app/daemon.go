package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/internal/web"
	"github.com/larder-sync/larder/internal/webhooks"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
)

// Daemon is `larder run` under way.
type Daemon struct {
	app         *App
	registry    *prometheus.Registry
	life        lifecycle.Cleanups
	reloader    *reloader // nil: the configuration is not read anew
	manager     *manager  // of services, that has started this one
	route       *warehouse.Route
	page        *web.Server        // nil: web.listen is off
	webhooks    *inbound.Listener  // nil: webhooks.listen is off
	receiver    *webhooks.Receiver // its handler
	queryURL    string
	endCommands func(context.Context) error // nil: another daemon takes them
	held        heldRows
	started     time.Time
	before      Before // nil: nothing is done then

	mu      sync.Mutex
	current *App            // as app, with the sources and schedule that are in use
	sources []syncer.Source // of current
	syncer  *syncer.Syncer  // nil until the warehouse has been reached
	problem string          // of the warehouse, in words; empty: none
	ready   chan struct{}   // closed when syncer is there
}

// Run is the daemon. It returns nil when ctx ended and everything stopped.
func (a *App) Run(ctx context.Context, r Reload) error {
	d := a.newDaemon()
	d.reloader = newReloader(d, r)
	if err := d.open(ctx); err != nil {
		return err
	}
	return d.Serve(ctx)
}

// Before is what is done with the warehouse before a daemon mirrors into it.
type Before func(ctx context.Context, sources []syncer.Source, sink *clickhouse.Sink) error

// Open makes and opens a daemon that does not read its configuration anew. Its Serve
// mirrors, after what before does, which may be nil.
func (a *App) Open(ctx context.Context, before Before) (*Daemon, error) {
	d := a.newDaemon()
	d.before = before
	return d, d.open(ctx)
}

func (a *App) newDaemon() *Daemon {
	d := &Daemon{
		app: a, current: a, life: lifecycle.Cleanups{Log: a.Log},
		started: time.Now(), ready: make(chan struct{}), manager: &manager{log: a.Log}, route: &warehouse.Route{}, // until it is known
	}
	d.registry = d.newRegistry()
	return d
}

// open creates what can fail at once, from the outside in; on an error everything
// created so far is gone again.
func (d *Daemon) open(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, d.life.Close())
		}
	}()
	if d.sources, err = d.app.sources(nil); err != nil {
		return err
	}
	for _, e := range d.app.Config.Exposed() {
		d.app.Log.Warn("configuration: "+e.String(), "next", e.Mend)
	}
	if err := d.app.folderReplaced(ctx); err != nil {
		return err
	}
	if d.route, err = d.app.Reach(ctx, &d.life); err != nil {
		return err
	}
	if err := d.bindPage(ctx); err != nil {
		return d.beside(ctx, err)
	}
	if err := d.bindWebhooks(ctx); err != nil {
		return d.beside(ctx, err)
	}
	if !d.app.Config.Warehouse.DSN.Embedded() {
		return nil
	}
	if d.queryURL, err = d.app.ServeReaders(ctx, &d.life, d.route); err != nil {
		return d.beside(ctx, err)
	}
	d.life.Add("commands", 5*time.Second, func(ctx context.Context) error {
		if d.endCommands == nil {
			return nil
		}
		return d.endCommands(ctx)
	})
	switch err := d.takeCommands(ctx); {
	case errors.Is(err, errTaken):
		d.app.Log.Warn("another daemon is running on this data folder; each source is served by one of them", "reason", err)
	case err != nil:
		return lifecycle.WarehouseError(err)
	}
	return nil
}

// beside adds to an address that is taken that a daemon is running already.
func (d *Daemon) beside(ctx context.Context, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) || !d.app.served(ctx) {
		return err
	}
	return lifecycle.WarehouseError(fmt.Errorf("a daemon already runs on the data folder %s: larder status shows what it does; "+
		"stop it first, or give this one other addresses, and it stands by (%s)", d.app.Config.Warehouse.DSN.Dir(), err.Error()))
}

func (d *Daemon) bindPage(ctx context.Context) error {
	c := &d.app.Config.Web
	if c.Listen == "" {
		return nil
	}
	password, err := c.ReadPassword()
	if err != nil {
		return d.app.Config.NoPassword(err)
	}
	d.page, err = web.New(ctx, web.Options{
		Listen: c.Listen, User: c.User, Password: password,
		Status: d.Status, Gatherer: d.registry, Logger: d.app.Log,
		About: d.about,
	})
	if err != nil {
		return err
	}
	d.life.Add("status page", 5*time.Second, d.page.Close)
	return nil
}

// Serve serves until ctx ends or something fails that cannot be mended by waiting.
func (d *Daemon) Serve(ctx context.Context) (err error) {
	var listening sync.WaitGroup
	defer listening.Wait() // what has been closed ends by itself
	defer func() { err = errors.Join(err, d.life.Close()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stops := sync.OnceFunc(d.manager.stops)
	defer stops()
	context.AfterFunc(ctx, stops)
	listen := func(serve func() error) {
		listening.Go(func() {
			if err := serve(); err != nil {
				cancel(err)
			}
		})
	}
	if d.page != nil {
		d.app.Log.Info("status page", "url", d.page.URL())
		listen(d.page.Serve)
	}
	if d.webhooks != nil {
		d.app.Log.Info("webhooks", "address", d.webhooks.Addr().String())
		listen(d.webhooks.Serve)
	}
	var beside sync.WaitGroup
	loop := func(what string, f func(context.Context)) {
		beside.Go(func() { lifecycle.Loop(ctx, d.app.Log, what, f) })
	}
	loop("the watchdog", func(ctx context.Context) {
		d.manager.watched(ctx, func() { d.Status() }) // which takes every lock there is
	})
	loop("the files of keys", d.rereadKeys)
	if d.reloader != nil {
		loop("the configuration", d.reloader.run)
	}
	err = d.sync(ctx, loop)
	cancelled := context.Cause(ctx)
	cancel(nil)
	beside.Wait()
	if cancelled != nil {
		err = cancelled
	}
	if errors.Is(err, context.Canceled) {
		d.app.Log.Info("stopping")
		return nil
	}
	return err
}

// sync reaches the warehouse and mirrors into it until ctx ends. loop begins a loop beside the others.
func (d *Daemon) sync(ctx context.Context, loop func(what string, f func(context.Context))) error {
	sink, err := d.app.OpenSink(ctx, &d.life, d.route, d.registry)
	if err != nil {
		return err
	}
	err = d.app.Retry(ctx, sink.Migrate, warehouse.Forever, func(down error) {
		d.app.LogDown(down)
		d.setProblem(fmt.Sprintf("Waiting for the warehouse: %v", down))
	})
	if err != nil {
		return err
	}
	d.setProblem("")
	if err := d.app.Damages(d.route).Settle(ctx, sink); err != nil {
		return lifecycle.WarehouseError(err)
	}
	if d.before != nil {
		if err := d.before(ctx, d.sources, sink); err != nil {
			return err
		}
	}
	d.mu.Lock()
	y, err := d.current.newSyncer(&d.life, d.sources, sink, d.registry, d.warehouse) // of the configuration in use
	d.syncer = y
	d.mu.Unlock()
	if err != nil {
		return err
	}
	close(d.ready)
	loop("the watch of the warehouse", func(ctx context.Context) { d.watch(ctx, y, sink) })
	loop("the count of rows", func(ctx context.Context) { d.held.run(ctx, d.app.Log, sink.Counts, y.Written) })
	d.manager.ready()
	d.app.Log.Info("mirroring", "sources", len(y.Status().Sources), "warehouse", d.app.Config.Warehouse.DSN)
	if err := y.Run(ctx); err != nil && ctx.Err() == nil {
		return lifecycle.WarehouseError(err)
	}
	return nil
}

// watch keeps the page and /readyz honest about the warehouse, and takes the commands once another
// daemon that took them has ended.
func (d *Daemon) watch(ctx context.Context, y *syncer.Syncer, sink *clickhouse.Sink) {
	dropped := map[time.Time]bool{}
	for lifecycle.Pause(ctx, warehouse.WatchEvery) {
		if err := d.app.Damages(d.route).DropCheckpoints(ctx, sink, dropped); err != nil && ctx.Err() == nil {
			d.app.Log.Error("drop the checkpoints that are left; tried again", "error", err)
		}
		if err := d.app.Damages(d.route).Repaired(y.Status); err != nil && ctx.Err() == nil {
			d.app.Log.Error("note which damages are over; tried again", "error", err)
		}
		problem := d.app.WarehouseProblem(ctx, d.route, sink)
		switch {
		case ctx.Err() != nil:
			return
		case problem != nil:
			d.setProblem(warehouse.Waiting(problem))
		default:
			d.setProblem("")
			if d.app.Config.Warehouse.DSN.Embedded() && d.endCommands == nil && d.takeCommands(ctx) == nil {
				d.app.Log.Info("the other daemon on this data folder has ended; commands make their passes through this one")
			}
		}
	}
}

// rereadKeys finds a key or secret that cannot be read, also where none is used for long.
func (d *Daemon) rereadKeys(ctx context.Context) {
	for lifecycle.Pause(ctx, credentials.KeyInterval) {
		d.mu.Lock()
		keys := d.current.keys
		d.mu.Unlock()
		for _, k := range keys {
			k.Reread()
		}
	}
}
