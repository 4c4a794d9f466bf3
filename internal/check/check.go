package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/backup"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
)

// Finding is one line of a check.
type Finding struct {
	Mark   string // ✓, ✗, or ! for what is no failure and is to be looked at
	Text   string
	Advice string // what to do; empty when there is nothing
	Code   int    // of a failure
}

func good(format string, args ...any) Finding {
	return Finding{Mark: "✓", Text: fmt.Sprintf(format, args...)}
}

func warn(advice, format string, args ...any) Finding {
	return Finding{Mark: "!", Text: fmt.Sprintf(format, args...), Advice: advice}
}

func bad(code int, advice, format string, args ...any) Finding {
	return Finding{Mark: "✗", Text: fmt.Sprintf(format, args...), Advice: advice, Code: code}
}

// Checker makes the findings of one check.
type Checker struct {
	Warehouse *warehouse.Opener
	API       api.Options // template of the clients
	Sources   credentials.Reader
	Daemon    func(context.Context) (status.Status, error) // the one of this configuration, when it runs
	Replaced  func(context.Context) error                  // that daemon has lost its data folder
}

// Run tries everything that `larder run` needs and reports each finding. It
// returns an error of its exit code when one is bad.
func (c Checker) Run(ctx context.Context, report func(Finding)) error {
	code := lifecycle.ExitDone
	each := func(f Finding) {
		if ctx.Err() != nil { // what was cut short is no finding
			return
		}
		report(f)
		code = max(code, f.Code)
	}
	configured := c.Warehouse.Config
	each(good("configuration: %s, %s", cmp.Or(configured.File, "environment and flags"), text.Plural(len(configured.Sources), "source")))
	for _, w := range configured.Warnings {
		each(warn("", "configuration: %s", w))
	}
	for _, e := range configured.Exposed() {
		each(warn(e.Mend, "configuration, but unwise: %s", e))
	}
	for _, f := range c.CheckSources(ctx) {
		each(f)
	}
	replaced := c.Replaced(ctx)
	if replaced != nil {
		each(bad(lifecycle.ExitCode(replaced), "", "warehouse: %v", replaced))
	} else if err := c.checkWarehouse(ctx, each); err != nil {
		each(bad(lifecycle.ExitCode(err), "", "%v", err))
	}
	if _, err := configured.Web.ReadPassword(); err != nil {
		each(bad(lifecycle.ExitUsage, "", "web.password_file: %v", err))
	}
	if replaced == nil { // else the process that has lost it listens, and is to be stopped for that
		c.checkPorts(ctx, each)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if code != lifecycle.ExitDone {
		return &lifecycle.ExitError{Err: errors.New("a check failed"), Code: code, Printed: true}
	}
	return nil
}

// checksAtOnce bounds the keys that are asked about at the same time.
const checksAtOnce = 8

// CheckSources asks about every key, some at a time, and answers in order.
func (c Checker) CheckSources(ctx context.Context) (all []Finding) {
	sources := c.Warehouse.Config.Sources
	found := make([][]Finding, len(sources))
	var asking errgroup.Group
	asking.SetLimit(checksAtOnce)
	for i := range sources {
		asking.Go(func() error {
			found[i] = c.checkSource(ctx, &sources[i])
			return nil
		})
	}
	_ = asking.Wait() // none of them returns an error
	for i := range sources {
		for _, f := range found[i] {
			f.Text = "source " + sources[i].Name + ": " + f.Text
			all = append(all, f)
		}
	}
	return all
}

// checkSource asks with a source's key, and with the next one where that is refused: in
// the middle of a rotation either may be the one that works.
func (c Checker) checkSource(ctx context.Context, s *config.Source) (found []Finding) {
	key, err := s.ReadKey()
	if err != nil {
		return []Finding{bad(lifecycle.ExitUsage, "", "%v", err)}
	}
	next, err := s.ReadNextKey()
	if err != nil {
		found = append(found, bad(lifecycle.ExitUsage, "Correct or remove next_key_file.", "next key: %v", err))
	}
	if _, err := c.Sources.WebhookSecrets(s); err != nil {
		found = append(found, bad(lifecycle.ExitUsage, "", "%v", err))
	}
	if s.PersonalData == string(personal.Pseudonymise) {
		if _, _, err := c.Sources.Pseudonyms(); err != nil { // where there is no key yet, the daemon makes it
			found = append(found, bad(lifecycle.ExitUsage, "", "warehouse.personal_data_key_file: %v", err))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	me, client, err := c.fetchMe(ctx, s, key)
	if api.IsUnauthorized(err) && next != (config.Secret{}) {
		if other, its, failed := c.fetchMe(ctx, s, next); failed == nil {
			me, client, err = other, its, nil
			found = append(found, warn("Put it in key_file's place.", "the API refuses the key (401); the next key works"))
		}
	}
	if client == nil {
		return append(found, bad(lifecycle.ExitUsage, "", "%v", err))
	}
	proxy := client.Proxy()
	if err != nil {
		return append(found, refusal(err, proxy))
	}
	if proxy != "" {
		found = append(found, good("through the proxy %s", proxy))
	}
	found = append(found, KeyFindings(s, me)...)
	if s.Webhook.SecretFile != "" && c.Warehouse.Config.Webhooks.Listen != "" { // else the configuration's warnings say what is missing
		found = append(found, c.checkWebhook(ctx, s, client, me.Scopes))
	}
	return found
}

// fetchMe asks what the API says of a key, with the client that is returned, nil for none.
func (c Checker) fetchMe(ctx context.Context, s *config.Source, key config.Secret) (types.Me, *api.Client, error) {
	o := c.API
	o.BaseURL, o.Key, o.RetryMax = s.BaseURL, key.Reveal, 1
	client, err := api.New(o)
	if err != nil {
		return types.Me{}, nil, lifecycle.UsageError(err)
	}
	me, err := client.Me(ctx)
	return me.Value, client, err
}

// refusal is the finding of a /me that failed, in the words that a pass has for it.
func refusal(err error, proxy string) Finding {
	trouble := stream.Diagnose(err)
	if errors.Is(err, context.DeadlineExceeded) { // the limit for the whole check of a source: the service hangs
		trouble.State = status.StateUnreachable
	}
	f := status.FailureIn(trouble.State, err)
	switch {
	case api.IsProxyLogin(err): // it names what to do
		f.Code, f.Hint = lifecycle.ExitUsage, ""
	case api.IsRateLimited(err):
		f.Hint = "Someone else uses the key or this address. Try again later."
	case proxy != "" && trouble.State == status.StateUnreachable:
		f.Hint = "Check the proxy " + proxy + ", base_url and the network."
	}
	return bad(f.Code, f.Hint, "%s", trouble.Detail)
}

// KeyFindings are the findings of a key that /me has answered: what it may read.
func KeyFindings(s *config.Source, me types.Me) []Finding {
	all := []Finding{good("%s, %s key %q, %s a minute (%s for totals, %s for the restaurant)",
		me.Business.Name, me.App.Mode, me.App.Name, text.Plural(me.RateLimits.PerMinute, "request"), text.Count(me.RateLimits.HeavyPerMinute), text.Count(me.RateLimits.BusinessPerMinute))}
	streams := credentials.StreamsOf(s, me.Scopes)
	on, off := credentials.ByScope(streams)
	err := credentials.CheckScopes(s, streams)
	switch {
	case err != nil && len(s.Streams) > 0:
		all = append(all, bad(lifecycle.ExitAPI, "Ask the restaurant to grant the scopes, or take the streams out of the configuration.", "%v", err))
	case err != nil:
		all = append(all, bad(lifecycle.ExitAPI, "Ask the restaurant to grant the scopes.", "%v", err))
	case len(off) > 0:
		all = append(all, good("streams on: %s; off for lack of scope: %s", strings.Join(on, ", "), strings.Join(off, ", ")))
	default:
		all = append(all, good("streams on: %s", strings.Join(on, ", ")))
	}
	for _, l := range s.Locations {
		if !slices.Contains(me.LocationIDs, l) {
			all = append(all, bad(lifecycle.ExitUsage, "Correct or remove it. The key may use: "+strings.Join(me.LocationIDs, ", "),
				"location %q is not among the key's active locations", l))
		}
	}
	return all
}

// checkWarehouse tries the warehouse, with its engine where it is embedded.
func (c Checker) checkWarehouse(ctx context.Context, report func(Finding)) error {
	dsn := c.Warehouse.Config.Warehouse.DSN
	if !dsn.Embedded() {
		return c.CheckTables(ctx, report)
	}
	library, err := engine.FindLibrary()
	if err != nil {
		return lifecycle.WarehouseError(fmt.Errorf("engine: %w", err))
	}
	report(good("engine: %s", library))
	plan, err := c.Warehouse.Memory()
	if err != nil {
		return lifecycle.UsageError(err)
	}
	report(good("memory: the engine may use %s", plan))
	if _, err := os.Stat(dsn.Dir()); errors.Is(err, os.ErrNotExist) {
		report(checkParent(dsn.Dir()))
		return nil
	}
	dir := filepath.Join(dsn.Dir(), engine.BackupFolder)
	switch left, err := backup.Left(dir); {
	case err != nil:
		report(warn("If another user has made it, remove it.", "warehouse: no backup can be written: %v", err))
	case left: // of one that was killed
		report(warn("The next larder backup removes it.", "warehouse: a backup did not finish, and has left %s in %s", config.Size(backup.Size(dir)), dir))
	}
	return c.CheckTables(ctx, report)
}

// CheckTables opens the warehouse and looks at its tables.
func (c Checker) CheckTables(ctx context.Context, report func(Finding)) (err error) {
	l := &lifecycle.Cleanups{Log: c.Warehouse.Log}
	defer func() {
		if failed := l.Close(); failed != nil {
			err = errors.Join(err, lifecycle.WarehouseError(fmt.Errorf("warehouse: %w", failed)))
		}
	}()
	w, err := c.Warehouse.Reach(ctx, l)
	if err != nil {
		return lifecycle.WarehouseError(fmt.Errorf("warehouse: %w", err))
	}
	sink, err := c.Warehouse.OpenSink(ctx, l, w, nil)
	if err != nil {
		return fmt.Errorf("warehouse: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var info clickhouse.Info
	if err := c.Warehouse.Retry(ctx, func(context.Context) (err error) { info, err = sink.Check(limited); return err }, 0, nil); err != nil {
		return err
	}
	note := "tables are in place"
	if !info.Migrated {
		note = "tables will be created or brought up to date at the start"
	}
	if _, err := c.Daemon(ctx); err == nil {
		note += "; a daemon is running on it"
	}
	report(good("warehouse: %s, ClickHouse %s, database %s, %s", c.Warehouse.Config.Warehouse.DSN, info.Version, info.Database, note))
	if !info.Migrated {
		return nil
	}
	return c.checkPersonal(limited, sink, report)
}

// checkParent finds out whether a data folder that is not there could be made.
func checkParent(dir string) Finding {
	above := filepath.Dir(dir)
	for _, err := os.Stat(above); err != nil && above != filepath.Dir(above); _, err = os.Stat(above) {
		above = filepath.Dir(above)
	}
	probe, err := os.MkdirTemp(above, ".larder-check-")
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		return bad(lifecycle.ExitWarehouse, "Make it a folder that this user can write, or name another one in warehouse.dsn.", "warehouse: %s cannot be created: %v", dir, err)
	}
	return good("warehouse: %s is created at the start", dir)
}

// checkPorts finds out whether the addresses to listen on are free, or our
// daemon's.
func (c Checker) checkPorts(ctx context.Context, report func(Finding)) {
	configured := c.Warehouse.Config
	addresses := []struct{ what, setting, address string }{
		{"status page", "web.listen", configured.Web.Listen}, {"webhooks", "webhooks.listen", configured.Webhooks.Listen},
	}
	if configured.Warehouse.DSN.Embedded() {
		if err := c.Warehouse.ReadersConfined(); err != nil {
			report(bad(lifecycle.ExitUsage, "", "%v", err))
		}
		addresses = append(addresses, struct{ what, setting, address string }{"ClickHouse HTTP", "warehouse.http_listen", configured.Warehouse.HTTPListen})
	}
	for _, at := range addresses {
		if at.address == "" {
			continue
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", at.address)
		if err == nil {
			err = l.Close()
		}
		if err == nil {
			report(good("%s: http://%s is free", at.what, at.address))
			continue
		}
		if errors.Is(err, syscall.EADDRINUSE) {
			if _, failed := c.Daemon(ctx); failed == nil {
				report(good("%s: http://%s, a daemon is running", at.what, at.address))
				continue
			}
		}
		report(bad(lifecycle.ExitUsage, "", "%v", &inbound.ListenError{Setting: at.setting, Addr: at.address, Err: err}))
	}
}
