package warehouse

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// ServeReaders serves the reading interface of an embedded warehouse (warehouse.http_listen)
// until l ends it, and returns its URL, empty when it is off. Statements are run by a process
// of their own, which can do nothing but read.
func (a *Opener) ServeReaders(ctx context.Context, l *lifecycle.Cleanups, w *Route) (string, error) {
	c := &a.Config.Warehouse
	if !c.DSN.Embedded() || c.HTTPListen == "" {
		return "", nil
	}
	password, err := c.ReadPassword()
	if err != nil {
		return "", lifecycle.UsageError(fmt.Errorf("warehouse.password_file: %w", err))
	}
	if err := a.ReadersConfined(); err != nil {
		return "", lifecycle.UsageError(err)
	}
	var statements http.Handler
	if err := Confinable(); err != nil {
		a.Log.Warn("warehouse.http_unconfined: those who ask may read every file that Larder may", "address", c.HTTPListen, "reason", err)
		statements = reader.Unconfined(w.engine.Dial, c.Database, schema.Zone)
	} else {
		plan, err := a.Memory()
		if err != nil {
			return "", err
		}
		w.reader, err = reader.Start(reader.Options{
			Log: a.Log,
			Orders: reader.Orders{Zone: schema.Zone, Mirror: engine.MirrorOptions{
				Writer: w.engine.Folder(), Databases: []string{c.Database}, Hidden: []string{c.Database + "_raw"}, Memory: plan.reader,
			}},
		})
		if err != nil {
			return "", lifecycle.WarehouseError(err)
		}
		l.Add("the reader", 5*time.Second, func(context.Context) error { return w.reader.Close() })
		statements = w.reader
	}
	readers, err := server.ListenReaders(ctx, c.HTTPListen, "default", password.Reveal(), statements, a.Log)
	if err != nil {
		return "", lifecycle.UsageError(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- readers.Serve() }()
	l.Add("the reading interface", 5*time.Second, func(ctx context.Context) error {
		if err := readers.Close(ctx); err != nil {
			return err
		}
		return <-ended
	})
	return "http://" + readers.Addr().String(), nil
}

// Confinable is why the kernel cannot confine who asks the reading interface; nil: it can.
func Confinable() error { return engine.Confinable() }

// ReadersConfined is why the reading interface is not served: the kernel cannot confine who
// asks there, and nobody has said that it is well.
func (a *Opener) ReadersConfined() error {
	c := &a.Config.Warehouse
	err := Confinable()
	if err == nil || c.HTTPListen == "" || c.HTTPUnconfined {
		return nil
	}
	return fmt.Errorf("warehouse.http_listen: %w, which keeps those who ask there from this machine's files: "+
		"switch it off (http_listen: \"\"), or set warehouse.http_unconfined: true when all who reach %s may read every file that Larder may", err, c.HTTPListen)
}
