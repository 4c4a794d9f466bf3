package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/syncer"
)

// Reload is what a daemon needs to read its configuration anew. The zero value is
// never to do so.
type Reload struct {
	Request config.Request   // as the present configuration was loaded
	Level   *slog.LevelVar   // of the log
	Hangup  <-chan os.Signal // each asks for a reload, whether or not the file has changed
}

// reloader reads the configuration anew, when it is asked to and when the file
// changes. What is good is applied; what is bad is refused as a whole, and the
// daemon goes on as it was.
type reloader struct {
	Reload
	daemon *Daemon
	log    *slog.Logger

	outcomes  *prometheus.CounterVec
	good      prometheus.Gauge
	succeeded prometheus.Gauge

	tried config.Digest // of the file, when it was last read

	mu      sync.Mutex
	problem string // why the last one was refused; empty: it was not
}

const (
	reloadDone    = "success"
	reloadRefused = "refused"
)

func newReloader(d *Daemon, r Reload) *reloader {
	l := &reloader{
		Reload: r, daemon: d, log: d.app.Log, tried: d.app.Config.Digest,
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "larder_config_reloads_total", Help: "Times that the configuration was read anew, by result: success, or refused.",
		}, []string{"result"}),
		good: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "larder_config_last_reload_successful", Help: "1 when the configuration was good when it was last read, 0 when it was refused and the one before is in use.",
		}),
		succeeded: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "larder_config_last_reload_success_timestamp_seconds", Help: "When a good configuration was last read.",
		}),
	}
	l.outcomes.WithLabelValues(reloadDone)
	l.outcomes.WithLabelValues(reloadRefused)
	l.good.Set(1)
	l.succeeded.SetToCurrentTime()
	d.registry.MustRegister(l.outcomes, l.good, l.succeeded)
	return l
}

// run reloads until ctx ends.
func (r *reloader) run(ctx context.Context) {
	watch, look := config.Watch{File: r.daemon.app.Config.File}, time.NewTicker(config.WatchEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.Hangup:
			r.reload("SIGHUP")
		case <-look.C:
			if watch.File != "" && watch.Changed(r.tried) {
				r.reload("the file has changed")
			}
		}
	}
}

// reload reads the configuration and applies it, or says why not.
func (r *reloader) reload(reason string) {
	q := r.Request // for the file that is in use, or for one that is looked for as at the start
	q.File = cmp.Or(r.daemon.app.Config.File, q.File)
	r.tried = config.DigestOf(r.daemon.app.Config.File)
	err := r.daemon.reconfigure(q, reason, r.Level)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		text := inOneLine(err)
		r.log.Error("the configuration is refused, the one before stays in use", "reason", reason, "error", text)
		r.problem = fmt.Sprintf("The configuration read at %s is refused, the one before stays in use: %s", time.Now().UTC().Format("2006-01-02 15:04:05 UTC"), text)
		r.good.Set(0)
		r.outcomes.WithLabelValues(reloadRefused).Inc()
		return
	}
	r.problem = ""
	r.good.Set(1)
	r.succeeded.SetToCurrentTime()
	r.outcomes.WithLabelValues(reloadDone).Inc()
}

// refusal says why the last configuration was refused, empty when it was not.
func (r *reloader) refusal() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

// reconfigure takes over what can change in a running daemon, and logs what waits for the next start
// and warnings that are new. On an error nothing has changed.
func (d *Daemon) reconfigure(q config.Request, reason string, level *slog.LevelVar) error {
	next, err := config.Load(q)
	if err != nil {
		return err
	}
	d.mu.Lock()
	before := d.current // what was reloaded since the start is in it
	d.mu.Unlock()
	after := *d.app
	after.Config = before.Config.WithReloaded(next)
	sources, err := after.sources(before.keys)
	if err != nil {
		return err
	}
	log := d.app.Log.With("reason", reason)
	if err := d.apply(log, &after, sources); err != nil {
		return err
	}
	for _, w := range next.Warnings {
		if !slices.Contains(before.Config.Warnings, w) {
			log.Warn("configuration: " + w)
		}
	}
	known := before.Config.Exposed()
	for _, e := range next.Exposed() {
		if !slices.Contains(known, e) {
			log.Warn("configuration: "+e.String(), "next", e.Mend)
		}
	}
	if waiting := d.app.Config.AtNextStart(next); len(waiting) > 0 {
		log.Warn("what else has changed takes effect at the next start", "changes", strings.Join(waiting, "; "))
	}
	if level != nil && next.Log.Level != before.Config.Log.Level {
		log.Info("level of the log", "from", before.Config.Log.Level, "to", next.Log.Level)
		return level.UnmarshalText([]byte(next.Log.Level))
	}
	return nil
}

// apply gives the daemon the sources and the schedule of a configuration, at once or as soon as
// there is a syncer.
func (d *Daemon) apply(log *slog.Logger, a *App, sources []syncer.Source) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	applied, text := syncer.Applied{}, "configuration reloaded, it is applied when the warehouse is there"
	if d.syncer != nil {
		var err error
		text = "configuration reloaded"
		if applied, err = d.syncer.Apply(sources, syncer.Schedule(a.Config.Schedule)); err != nil {
			return err
		}
	}
	d.current, d.sources = a, sources
	log.Info(text, "sources", len(sources), "added", applied.Added, "removed", applied.Removed, "changed", applied.Changed, "schedule_changed", applied.Schedule)
	return nil
}

// example is the one that an error shows below its text.
var example = regexp.MustCompile(`, as in\n(\n    .*)+`)

// inOneLine is all problems of a configuration in one line.
func inOneLine(err error) string {
	text := example.ReplaceAllString(err.Error(), "")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", ";")), " ")
}
