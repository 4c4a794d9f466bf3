package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer/status"
)

// daemon is `larder run` on a data folder of its own; it can be killed and
// started again.
type daemon struct {
	dir, config, web, sql  string
	baseURL, keyFile, more string
	others                 string // YAML, the sources behind the first
	streams                string // YAML list; empty for all
	hooks                  string // address where it takes webhooks; empty when it takes none
	group                  *group // that it runs in; nil for none
	cmd                    *exec.Cmd
}

// newDaemon writes the configuration for the restaurants of a service, which are one unless
// it was asked for more; more is more YAML.
func newDaemon(dir string, s *service, more string) (*daemon, error) {
	d := &daemon{dir: dir, config: filepath.Join(dir, "larder.yaml"), keyFile: filepath.Join(dir, "key"), baseURL: s.BaseURL, more: more, streams: "[]"}
	var err error
	if d.web, err = freeAddress(); err != nil {
		return nil, err
	}
	if d.sql, err = freeAddress(); err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.keyFile, []byte(mainKey(s).Value), 0o600); err != nil {
		return nil, err
	}
	for i, key := range mainKeys(s)[1:] {
		d.others += fmt.Sprintf("  - {name: other%d, base_url: %q, key: %q}\n", i, d.baseURL, key.Value)
	}
	return d, d.write()
}

// write writes the configuration.
func (d *daemon) write() error {
	source, more := "", d.more
	if d.hooks != "" {
		source = fmt.Sprintf(", webhook: {secret_file: %q}", d.secretFile())
		more += fmt.Sprintf("webhooks: {listen: %q}\n", d.hooks)
	}
	text := fmt.Sprintf("sources:\n  - {name: bench, base_url: %q, key_file: %q, streams: %s%s}\n%swarehouse:\n  dsn: %q\n  http_listen: %q\nweb: {listen: %q}\n%s",
		d.baseURL, d.keyFile, d.streams, source, d.others, "embedded:"+filepath.Join(d.dir, "data"), d.sql, d.web, more)
	return os.WriteFile(d.config, []byte(text), 0o600)
}

// takeWebhooks has the daemon take the webhooks of its key from its next start on.
func (d *daemon) takeWebhooks(s *service) error {
	var err error
	if d.hooks, err = freeAddress(); err != nil {
		return err
	}
	return os.WriteFile(d.secretFile(), []byte(mainKey(s).WebhookSecret), 0o600)
}

func (d *daemon) secretFile() string { return filepath.Join(d.dir, "secret") }

// hookURL is where the webhooks of its source are sent.
func (d *daemon) hookURL() string { return "http://" + d.hooks + "/webhooks/bench" }

func mainKey(s *service) sandbox.Key { return mainKeys(s)[0] }

// mainKeys are those of the restaurants, one each.
func mainKeys(s *service) []sandbox.Key {
	return slices.DeleteFunc(slices.Clone(s.Keys), func(k sandbox.Key) bool { return k.Role != sandbox.RoleMain })
}

func freeAddress() (string, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

func (d *daemon) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	d.cmd = exec.CommandContext(ctx, "bin/larder", "run", "--config", d.config)
	if d.group != nil { // the shell enters the group, and becomes the daemon
		d.cmd = exec.CommandContext(ctx, "sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(d.group.dir, "cgroup.procs"),
			"bin/larder", "run", "--config", d.config)
	}
	d.cmd.Stdout, d.cmd.Stderr = log, log
	return d.cmd.Start()
}

func (d *daemon) signal(sig syscall.Signal) {
	_ = d.cmd.Process.Signal(sig) // it may have ended already
	_ = d.cmd.Wait()              // ended by a signal: its exit status says nothing
}

func (d *daemon) kill() { d.signal(syscall.SIGKILL) }
func (d *daemon) stop() { d.signal(syscall.SIGTERM) }

// cpu is what the daemon and its engine have used so far, engines that have ended included.
func (d *daemon) cpu() (time.Duration, error) {
	const tick = time.Second / 100 // USER_HZ
	var ticks int64
	for _, pid := range family(d.cmd.Process.Pid) {
		fields, err := statOf(pid)
		if err != nil {
			return 0, err
		}
		for _, used := range fields[11:15] { // its own, and its children's that have ended
			n, err := strconv.ParseInt(used, 10, 64)
			if err != nil {
				return 0, err
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, nil
}

func (d *daemon) status(ctx context.Context) (status.Status, error) {
	var s status.Status
	err := getJSON(ctx, "http://"+d.web+"/status.json?all=1", &s)
	return s, err
}

// ready reports whether it is up and at work.
func (d *daemon) ready(ctx context.Context) bool {
	return ask(ctx, http.MethodGet, "http://"+d.web+"/readyz", "", func(io.Reader) error { return nil }) == nil
}

// query returns the rows of a query that a reader asks.
func (d *daemon) query(ctx context.Context, sql string) ([][]string, error) {
	return rowsOf(ctx, http.DefaultClient, d.sql, sql)
}

// stored returns the rows of a query that the daemon's user asks: readers do not see what is
// stored, nor its parts.
func (d *daemon) stored(ctx context.Context, sql string) ([][]string, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return server.DialHeld(filepath.Join(d.dir, "data"))(ctx, "")
	}}
	defer transport.CloseIdleConnections()
	return rowsOf(ctx, &http.Client{Transport: transport}, "engine", sql)
}

// rowsOf are the rows of a query, and their values.
func rowsOf(ctx context.Context, client *http.Client, host, sql string) ([][]string, error) {
	address := "http://" + host + "/?default_format=TabSeparated&query=" + url.QueryEscape(sql)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("query: %s: %s", resp.Status, body)
	}
	var rows [][]string
	for line := range strings.Lines(string(body)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows, nil
}

// number is the result of a query with one number.
func (d *daemon) number(ctx context.Context, sql string) (int, error) {
	rows, err := d.query(ctx, sql)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return strconv.Atoi(rows[0][0])
}

// metric reads one sample without labels of /metrics, 0 when it is not there.
func (d *daemon) metric(ctx context.Context, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.web+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(rest, 64)
		}
	}
	return 0, lines.Err()
}

// until asks every interval until done, or the time is up.
func until(ctx context.Context, limit, interval time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s", limit))
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if ok, err := done(); err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}
