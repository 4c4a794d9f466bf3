package check

import (
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
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/syncer/status"
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
}

// Run tries everything that `larder run` needs and reports each finding. It
// returns an error of its exit code when one is bad.
func (c Checker) Run(ctx context.Context, report func(Finding)) error {
	code := exit.Done
	each := func(f Finding) {
		if ctx.Err() != nil { // what was cut short is no finding
			return
		}
		report(f)
		code = max(code, f.Code)
	}
	c.checkConfiguration(each)
	for _, f := range c.CheckSources(ctx) {
		each(f)
	}
	c.checkWarehouse(ctx, each)
	c.checkPassword(each)
	c.checkPorts(ctx, each)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if code != exit.Done {
		return &exit.Error{Err: errors.New("a check failed"), Code: code, Printed: true}
	}
	return nil
}

func (c Checker) checkConfiguration(report func(Finding)) {
	file := c.Warehouse.Config.File
	if file == "" {
		file = "environment and flags"
	}
	report(good("configuration: %s, %s", file, text.Plural(len(c.Warehouse.Config.Sources), "source")))
	for _, w := range c.Warehouse.Config.Warnings {
		report(warn("", "configuration: %s", w))
	}
	for _, e := range c.Warehouse.Config.Exposed() {
		report(warn(e.Mend, "configuration, but unwise: %s", e))
	}
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
		return []Finding{bad(exit.Usage, "", "%v", err)}
	}
	next, err := s.ReadNextKey()
	if err != nil {
		found = append(found, bad(exit.Usage, "Correct or remove next_key_file.", "next key: %v", err))
	}
	found = append(found, c.checkSecrets(s)...)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	me, proxy, err := c.fetchMe(ctx, s, key)
	if api.IsUnauthorized(err) && next != (config.Secret{}) {
		if other, _, failed := c.fetchMe(ctx, s, next); failed == nil {
			me, err, key = other, nil, next
			found = append(found, warn("Put it in key_file's place.", "the API refuses the key (401); the next key works"))
		}
	}
	if err != nil {
		return append(found, refusal(s, err, proxy))
	}
	if proxy != "" {
		found = append(found, good("through the proxy %s", proxy))
	}
	found = append(found, KeyFindings(s, *me)...)
	if s.Webhook.SecretFile != "" && c.Warehouse.Config.Webhooks.Listen != "" { // else the configuration's warnings say what is missing
		found = append(found, c.checkWebhook(ctx, s, key, me))
	}
	return found
}

// checkSecrets finds what is wrong with the secrets that a source has beside its keys.
func (c Checker) checkSecrets(s *config.Source) (found []Finding) {
	note := func(setting string, err error) {
		if err != nil {
			found = append(found, bad(exit.Usage, "", "%v", &config.SecretError{Setting: setting, Err: err}))
		}
	}
	if s.Webhook.SecretFile != "" {
		_, err := s.Webhook.Read()
		note("webhook.secret_file", err)
		_, err = s.Webhook.ReadNext()
		note("webhook.next_secret_file", err)
	}
	if s.PersonalData != string(personal.Pseudonymise) {
		return found
	}
	w := &c.Warehouse.Config.Warehouse
	key, err := w.ReadPersonalKey()
	if errors.Is(err, os.ErrNotExist) && w.PersonalDataKeyFile == "" {
		return found // the daemon makes it
	}
	if err == nil {
		_, err = personal.New(personal.Pseudonymise, []byte(key.Reveal()))
	}
	note("warehouse.personal_data_key_file", err)
	return found
}

// fetchMe asks what the API says of a key, through the proxy that is returned, empty for none.
func (c Checker) fetchMe(ctx context.Context, s *config.Source, key config.Secret) (*types.Me, string, error) {
	client, err := c.clientFor(s, key)
	if err != nil {
		return nil, "", exit.UsageError(err)
	}
	me, err := client.Me(ctx)
	if err != nil {
		return nil, client.Proxy(), err
	}
	return &me.Value, client.Proxy(), nil
}

// clientFor asks with one key.
func (c Checker) clientFor(s *config.Source, key config.Secret) (*api.Client, error) {
	o := c.API
	o.BaseURL, o.Key, o.RetryMax = s.BaseURL, key.Reveal, 1
	return api.New(o)
}

// refusal is the finding of a /me that failed.
func refusal(s *config.Source, err error, proxy string) Finding {
	switch {
	case exit.Code(err) == exit.Usage: // it was not asked
		return bad(exit.Usage, "", "%v", err)
	case api.IsUnauthorized(err):
		return bad(exit.API, "The key is wrong or was deleted. Ask the restaurant for a new one.", "the API refuses the key (401)")
	case api.IsKeyDisabled(err):
		return bad(exit.API, "Ask the restaurant to enable it.", "the restaurant has disabled the key")
	case api.IsNoEndpoint(err):
		return bad(exit.Usage, "base_url must be as the service gives it, /v1 included.", "%s is not the API", s.BaseURL)
	case api.IsRateLimited(err):
		return bad(exit.Problem, "Someone else uses the key or this address. Try again later.", "%v", err)
	case api.IsProxyLogin(err): // it names what to do
		return bad(exit.Usage, "", "%v", err)
	case proxy != "":
		return bad(exit.Problem, "Check the proxy "+proxy+", base_url and the network.", "%v", err)
	default:
		return bad(exit.Problem, "Check base_url and the network.", "%v", err)
	}
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
		all = append(all, bad(exit.API, "Ask the restaurant to grant the scopes, or take the streams out of the configuration.", "%v", err))
	case err != nil:
		all = append(all, bad(exit.API, "Ask the restaurant to grant the scopes.", "%v", err))
	case len(off) > 0:
		all = append(all, good("streams on: %s; off for lack of scope: %s", strings.Join(on, ", "), strings.Join(off, ", ")))
	default:
		all = append(all, good("streams on: %s", strings.Join(on, ", ")))
	}
	for _, l := range s.Locations {
		if !slices.Contains(me.LocationIDs, l) {
			all = append(all, bad(exit.Usage, "Correct or remove it. The key may use: "+strings.Join(me.LocationIDs, ", "),
				"location %q is not among the key's active locations", l))
		}
	}
	return all
}

// checkWarehouse tries the warehouse.
func (c Checker) checkWarehouse(ctx context.Context, report func(Finding)) {
	if c.Warehouse.Config.Warehouse.DSN.Embedded() {
		if !c.checkEngine(report) {
			return
		}
		if _, err := os.Stat(c.Warehouse.Config.Warehouse.DSN.Dir()); errors.Is(err, os.ErrNotExist) {
			report(c.checkParent())
			return
		}
		c.checkBackup(report)
	}
	c.CheckTables(ctx, report)
}

// checkBackup warns of a backup that was killed: what is left of it takes space.
func (c Checker) checkBackup(report func(Finding)) {
	dir := filepath.Join(c.Warehouse.Config.Warehouse.DSN.Dir(), engine.BackupFolder)
	switch left, err := backup.Left(dir); {
	case err != nil:
		report(warn("If another user has made it, remove it.", "warehouse: no backup can be written: %v", err))
	case left:
		report(warn("The next larder backup removes it.", "warehouse: a backup did not finish, and has left %s in %s", config.Size(backup.Size(dir)), dir))
	}
}

// checkEngine finds the embedded engine, and the memory for it.
func (c Checker) checkEngine(report func(Finding)) bool {
	library, err := engine.FindLibrary()
	if err != nil {
		report(bad(exit.Warehouse, "", "engine: %v", err))
		return false
	}
	report(good("engine: %s", library))
	plan, err := c.Warehouse.Memory()
	if err != nil {
		report(bad(exit.Usage, "", "%v", err))
		return false
	}
	report(good("memory: the engine may use %s", plan))
	return true
}

// CheckTables opens the warehouse and looks at its tables.
func (c Checker) CheckTables(ctx context.Context, report func(Finding)) {
	l := &lifecycle.Cleanups{Log: c.Warehouse.Log}
	defer func() {
		if err := l.Close(); err != nil {
			report(bad(exit.Warehouse, "", "warehouse: %v", err))
		}
	}()
	w, err := c.Warehouse.Reach(ctx, l)
	if err != nil {
		report(bad(exit.Warehouse, "", "warehouse: %v", err))
		return
	}
	sink, err := c.Warehouse.OpenSink(ctx, l, w, nil)
	if err != nil {
		report(bad(exit.Code(err), "", "warehouse: %v", err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	info, err := sink.Check(ctx)
	if err = c.Warehouse.Unreachable(err); exit.Code(err) == exit.Warehouse {
		report(bad(exit.Warehouse, "", "%v", err))
		return
	}
	if err != nil {
		report(bad(exit.Warehouse, "", "warehouse %s: %v", c.Warehouse.Config.Warehouse.DSN, err))
		return
	}
	note := "tables are in place"
	if !info.Migrated {
		note = "tables will be created or brought up to date at the start"
	}
	if _, err := c.Daemon(ctx); err == nil {
		note += "; a daemon is running on it"
	}
	report(good("warehouse: %s, ClickHouse %s, database %s, %s", c.Warehouse.Config.Warehouse.DSN, info.Version, info.Database, note))
	if info.Migrated {
		c.checkPersonal(ctx, sink, report)
	}
}

// checkParent finds out whether a data folder that is not there could be made.
func (c Checker) checkParent() Finding {
	dir := c.Warehouse.Config.Warehouse.DSN.Dir()
	probe, err := os.MkdirTemp(existingParent(dir), ".larder-check-")
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		return bad(exit.Warehouse, "Make it a folder that this user can write, or name another one in warehouse.dsn.", "warehouse: %s cannot be created: %v", dir, err)
	}
	return good("warehouse: %s is created at the start", dir)
}

func (c Checker) checkPassword(report func(Finding)) {
	if _, err := c.Warehouse.Config.Web.ReadPassword(); err != nil {
		report(bad(exit.Usage, "", "web.password_file: %v", err))
	}
}

// checkPorts finds out whether the addresses to listen on are free, or our
// daemon's.
func (c Checker) checkPorts(ctx context.Context, report func(Finding)) {
	running := func() bool { _, err := c.Daemon(ctx); return err == nil }
	if c.Warehouse.Config.Warehouse.DSN.Embedded() {
		if err := c.Warehouse.ReadersConfined(); err != nil {
			report(bad(exit.Usage, "", "%v", err))
		}
		checkPort(ctx, report, "ClickHouse HTTP", "warehouse.http_listen", c.Warehouse.Config.Warehouse.HTTPListen, running)
	}
	checkPort(ctx, report, "status page", "web.listen", c.Warehouse.Config.Web.Listen, running)
	checkPort(ctx, report, "webhooks", "webhooks.listen", c.Warehouse.Config.Webhooks.Listen, running)
}

func checkPort(ctx context.Context, report func(Finding), what, option, address string, ours func() bool) {
	if address == "" {
		return
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		if err := l.Close(); err != nil {
			report(bad(exit.Problem, "", "%s: %v", what, err))
			return
		}
		report(good("%s: http://%s is free", what, address))
	case errors.Is(err, syscall.EADDRINUSE) && ours():
		report(good("%s: http://%s, a daemon is running", what, address))
	case errors.Is(err, syscall.EADDRINUSE):
		report(bad(exit.Usage, "Stop that process, or set "+option+" to another address.", "%s: %s is taken by another process", what, address))
	default:
		report(bad(exit.Usage, "Set "+option+" to an address of this machine.", "%s: %v", what, err))
	}
}

// existingParent is the nearest folder above path that exists.
func existingParent(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}
