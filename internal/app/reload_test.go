package app

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/text"
)

// stage is a daemon that has not reached its warehouse, with the file it reads.
type stage struct {
	t   *testing.T
	dir string
	log bytes.Buffer
	d   *Daemon
	r   *reloader
}

func newStage(t *testing.T, yaml string) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir()}
	for _, name := range []string{"a", "b", "c"} {
		s.put(name, "svc_live_secret_"+name)
	}
	s.put("larder.yaml", yaml)
	q := config.Request{File: filepath.Join(s.dir, "larder.yaml"), Set: []string{"web.listen="}}
	cfg, err := config.Load(q)
	if err != nil {
		t.Fatal(err)
	}
	level, err := text.LogLevel(cfg.Log.Level)
	if err != nil {
		t.Fatal(err)
	}
	log, err := text.NewLogger(&s.log, "text", level)
	if err != nil {
		t.Fatal(err)
	}
	s.d = New(cfg, log, "test").newDaemon()
	if s.d.sources, err = s.d.app.sources(nil); err != nil {
		t.Fatal(err)
	}
	s.r = newReloader(s.d, Reload{Request: q, Level: level})
	s.d.reloader = s.r
	return s
}

func (s *stage) put(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// reload reads a configuration, and returns what is logged of it.
func (s *stage) reload(yaml string) string {
	s.t.Helper()
	s.put("larder.yaml", yaml)
	s.log.Reset()
	s.r.reload("SIGHUP")
	text := s.log.String()
	if strings.Contains(text, "svc_live_secret") || strings.Contains(text, "hunter") {
		s.t.Errorf("the log shows a secret:\n%s", text)
	}
	return text
}

func (s *stage) names() string {
	var names []string
	for i := range s.d.sources {
		names = append(names, fmt.Sprintf("%s.%d", s.d.sources[i].Name, s.d.sources[i].Revision))
	}
	return strings.Join(names, " ")
}

func sourcesOf(keys ...string) string {
	var b strings.Builder
	b.WriteString("sources:\n")
	for _, k := range keys {
		name, file, other := strings.Cut(k, "=")
		if !other {
			file = name
		}
		fmt.Fprintf(&b, "  - {name: %s, base_url: 'https://host/v1', key_file: %s}\n", name, file)
	}
	return b.String()
}

func TestReloadTakesOverSourcesScheduleAndLevel(t *testing.T) {
	s := newStage(t, sourcesOf("a", "b"))
	first := s.d.sources[0].Key
	s.put("a", "svc_live_secret_unread") // the file of a source that stays is not read for it
	if text := s.reload(sourcesOf("c", "a", "b=c") + "schedule: {incremental: '@every 1m'}\nlog: {level: debug}\n"); !strings.Contains(text, "it is applied when the warehouse is there") {
		t.Errorf("before the warehouse has been reached it is logged:\n%s", text)
	}
	if got := s.names(); got != "c.0 a.0 b.1" {
		t.Errorf("sources = %s", got)
	}
	if first() != "svc_live_secret_a" || s.d.sources[1].Key() != first() || s.d.sources[2].Key() != "svc_live_secret_c" {
		t.Error("the keys are not those of the sources")
	}
	if got := s.d.current.Config.Schedule.Incremental; got != "@every 1m" || s.d.app.Config.Schedule.Incremental != "@every 30s" {
		t.Errorf("schedule = %s", got)
	}
	if s.r.Level.Level() != slog.LevelDebug {
		t.Errorf("level = %s", s.r.Level.Level())
	}
	s.reload(sourcesOf("b"))
	if got := s.names(); got != "b.2" || s.r.Level.Level() != slog.LevelInfo {
		t.Errorf("sources = %s, level %s", got, s.r.Level.Level())
	}
	if n := len(s.d.Status().Sources); n != 1 {
		t.Errorf("status of %d sources", n)
	}
	if got := testutil.ToFloat64(s.r.outcomes.WithLabelValues(reloadDone)); got != 2 {
		t.Errorf("%v reloads", got)
	}
}

// Keys of a whole fleet become unreadable at once when what they lie in goes.
func TestAStatusNamesFewOfManyUnreadableKeyFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := sourcesOf("a")
		for i := range 30 {
			config += fmt.Sprintf("  - {name: b%02d, base_url: 'https://host/v1', key_file: b}\n", i)
		}
		s := newStage(t, config)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.d.rereadKeys(ctx)
		s.put("b", "API_KEY=svc_live_secret_new")
		time.Sleep(2 * credentials.KeyInterval)
		if w := s.d.Status().Warnings; len(w) != 11 || !strings.HasPrefix(w[0], "source b00: key_file: file ") || w[10] != "and 20 more" {
			t.Errorf("warnings = %q", w)
		}
	})
}

// A key file, or a secret of webhooks, that is replaced by one that is none is shown, without
// what it holds, although no request needs it.
func TestAStatusNamesAKeyFileThatBecameUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, sourcesOf("a")+"  - {name: b, base_url: 'https://host/v1', key_file: b, webhook: {secret_file: c}}\nwebhooks: {listen: '127.0.0.1:0'}\n")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.d.rereadKeys(ctx)
		for _, c := range []struct{ file, want string }{
			{"a", "source a: key_file: file "}, {"c", "source b: webhook.secret_file: file "},
		} {
			if w := s.d.Status().Warnings; len(w) != 0 {
				t.Errorf("warnings = %q", w)
			}
			s.put(c.file, "API_KEY=svc_live_secret_new")
			time.Sleep(2 * credentials.KeyInterval)
			w := s.d.Status().Warnings
			if len(w) != 1 || !strings.HasPrefix(w[0], c.want) || !strings.Contains(w[0], "/"+c.file+" begins with a name and =") || strings.Contains(w[0], "secret_new") {
				t.Errorf("warnings = %q", w)
			}
			if key := s.d.sources[0].Key(); key != "svc_live_secret_a" {
				t.Errorf("the key in use is %q", key)
			}
			s.put(c.file, "svc_live_secret_"+c.file)
			time.Sleep(2 * credentials.KeyInterval)
		}
		if w := s.d.Status().Warnings; len(w) != 0 {
			t.Errorf("warnings = %q", w)
		}
	})
}

func TestReloadNamesWhatWaitsForTheNextStart(t *testing.T) {
	remote := "warehouse: {dsn: 'https://u:hunter1@h:8443/db', flush_rows: %d}\nshard: {index: 0, count: %d}\n"
	s := newStage(t, sourcesOf("a")+fmt.Sprintf(remote, 10, 1))
	text := s.reload(sourcesOf("a", "b") + strings.Replace(fmt.Sprintf(remote, 20, 2), "hunter1", "hunter2", 1) + "web: {listen: '127.0.0.1:1'}\n")
	for _, want := range []string{
		"takes effect at the next start", "warehouse.flush_rows: 10 -> 20", "shard.count: 1 -> 2",
		"warehouse.dsn: https://u:***@h:8443/db -> the same with another password",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "web.listen") {
		t.Errorf("a flag is stronger than the file:\n%s", text)
	}
	if n := strings.Count(text, "level=WARN"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, text)
	}
	if s.names() != "a.0 b.0" || s.d.current.Config.Shard.Count != 1 || s.d.current.Config.Warehouse.FlushRows != 10 {
		t.Errorf("sources %s, in use %+v", s.names(), s.d.current.Config.Warehouse)
	}
}

func TestReloadRefusesAsAWhole(t *testing.T) {
	good := sourcesOf("a", "b")
	s := newStage(t, good)
	for yaml, want := range map[string]string{
		sourcesOf("a") + "schedule: {incremental: soon}\nlog: {level: debug}\n": `schedule.incremental: got \"soon\"`,
		sourcesOf("a", "none"):             "source none: ",
		sourcesOf("a") + "log: {level: x}": `log.level: got \"x\"`,
		"":                                 "sources: at least one is needed\"",
		"- x":                              "not a mapping",
		sourcesOf("a") + "x: 1\ny: 2\n":    "unknown key; known here: sources, warehouse, schedule, web, metrics, webhooks, log, shard; line 4: y: unknown",
	} {
		text := s.reload(yaml)
		if !strings.Contains(text, "level=ERROR") || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("want one line with %q:\n%s", want, text)
		}
		if s.names() != "a.0 b.0" || s.r.Level.Level() != slog.LevelInfo {
			t.Fatalf("after a refusal: sources %s", s.names())
		}
		if p := s.d.Status().Problems; len(p) != 1 || !strings.Contains(p[0], "is refused") {
			t.Errorf("problems = %q", p)
		}
	}
	if testutil.ToFloat64(s.r.good) != 0 || testutil.ToFloat64(s.r.outcomes.WithLabelValues(reloadRefused)) != 6 {
		t.Error("the metrics do not tell of six refusals")
	}
	if err := os.Remove(filepath.Join(s.dir, "larder.yaml")); err != nil {
		t.Fatal(err)
	}
	s.log.Reset()
	if s.r.reload("SIGHUP"); !strings.Contains(s.log.String(), "no such file") {
		t.Errorf("without the file:\n%s", s.log.String())
	}
	s.reload(good)
	if s.d.reloader.refusal() != "" || testutil.ToFloat64(s.r.good) != 1 {
		t.Errorf("after a good one: %s", s.d.reloader.refusal())
	}
}
