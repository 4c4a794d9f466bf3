package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/server"
	"github.com/larder-sync/larder/syncer/status"
)

const (
	shardProcesses = 4
	shardLimit     = time.Minute      // within which what a process has left is walked again
	shardRest      = 45 * time.Second // longer than from one walk to the next
	shardChanges   = 5                // orders placed a second
)

// askers notes which process sends requests with which key: each process has a base_url of its own.
type askers struct {
	mu    sync.Mutex
	byKey map[string]*asked
}

// asked is which processes have sent requests with a key, in turns.
type asked struct {
	Turns  []turn `json:"turns"`
	AtOnce int    `json:"at_once"` // requests of one process while another's was under way

	underWay map[string]int // by process
}

// turn is from the first request of a process to its last one before that of another process.
type turn struct {
	Process string    `json:"process"`
	Walked  time.Time `json:"walked"` // when it first asked for orders
	Last    time.Time `json:"last"`
}

// address is where a process finds the API.
func (s *service) address(process string) string { return s.root() + "/as/" + process + "/v1" }

// through serves the API below the addresses of the processes.
func (a *askers) through(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		process, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/as/"), "/")
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		a.note(key, process, path, 1)
		defer a.note(key, process, path, -1)
		http.StripPrefix("/as/"+process, api).ServeHTTP(w, r)
	})
}

// note counts a request that begins (1) or ends (-1).
func (a *askers) note(key, process, path string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKey[key] == nil {
		a.byKey[key] = &asked{underWay: map[string]int{}}
	}
	of := a.byKey[key]
	if of.underWay[process] += n; of.underWay[process] == 0 {
		delete(of.underWay, process)
	}
	if n < 0 {
		return
	}
	if len(of.underWay) > 1 {
		of.AtOnce++
	}
	now := time.Now()
	if len(of.Turns) == 0 || of.Turns[len(of.Turns)-1].Process != process {
		of.Turns = append(of.Turns, turn{Process: process})
	}
	last := &of.Turns[len(of.Turns)-1]
	if last.Last = now; path == "v1/sales/orders" && last.Walked.IsZero() {
		last.Walked = now
	}
}

// noted is a copy of what was noted so far.
func (a *askers) noted() map[string]asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[string]asked{}
	for key, of := range a.byKey {
		all[key] = asked{Turns: slices.Clone(of.Turns), AtOnce: of.AtOnce}
	}
	return all
}

// crew are processes that share the sources by themselves.
type crew struct {
	dir, warehouse string
	s              *service
	all            map[string]*daemon // by name
}

// shards has four processes share a server and a fleet, kills one, and has another join, while orders are placed.
func shards(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-businesses", strconv.Itoa(theFleet.sources), "-orders", "40", "-days", "30", "-products", "20"}}
	return b.made(ctx, func(s *service, d *daemon) error {
		warehouse, closed, err := serveWarehouse(ctx, filepath.Join(d.dir, "engine"))
		if err != nil {
			return err
		}
		defer closed()
		c := &crew{dir: d.dir, warehouse: warehouse, s: s, all: map[string]*daemon{}}
		defer c.stop()
		return c.measure(ctx, r)
	})
}

func (c *crew) measure(ctx context.Context, r *report) error {
	for i := range shardProcesses {
		if err := c.join(ctx, fmt.Sprintf("p%d", i+1)); err != nil {
			return err
		}
	}
	begun, err := c.settled(ctx)
	if err != nil {
		return err
	}
	r.row("4 begin: sources of each process", "%s", parts(begun))

	during, end := context.WithCancel(ctx)
	defer end()
	placed := make(chan int, 1)
	go func() {
		n, _ := theFleet.change(during, c.s, shardChanges, time.Hour) // it ends with an error: that of during
		placed <- n
	}()
	if err := wait(ctx, shardRest); err != nil {
		return err
	}
	c.all["p3"].kill()
	killed := time.Now()
	delete(c.all, "p3")
	if err := c.moved(ctx, r, "1 of 4 is killed", begun, killed); err != nil {
		return err
	}
	if begun, err = c.noted(ctx); err != nil {
		return err
	}
	joined := time.Now()
	if err := c.join(ctx, "p5"); err != nil {
		return err
	}
	if err := c.moved(ctx, r, "another one joins", begun, joined); err != nil {
		return err
	}
	end()
	r.row("orders placed meanwhile", "%d", <-placed)
	return c.compared(ctx, r)
}

// serveWarehouse serves an engine as a server that many processes use.
func serveWarehouse(ctx context.Context, path string) (address string, closed func(), err error) {
	e, err := server.Open(ctx, engine.Options{Path: path, Databases: []string{"larder", "larder_raw"}})
	if err != nil {
		return "", nil, err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(err, e.Close())
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) { return e.Dial(ctx, addr) }, MaxIdleConnsPerHost: 64}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// The engine may answer before the proxy has seen the end of the request.
		_ = http.NewResponseController(w).EnableFullDuplex() // of HTTP/1 always possible
		proxy.ServeHTTP(w, q)
	})}
	go func() { _ = srv.Serve(ln) }() // until it is closed
	return "http://" + ln.Addr().String(), func() {
		_ = srv.Close() // with the benchmark
		_ = e.Close()
	}, nil
}

// join starts a process.
func (c *crew) join(ctx context.Context, name string) error {
	d := &daemon{dir: filepath.Join(c.dir, name)}
	d.config = filepath.Join(d.dir, "larder.yaml")
	web, err := freeAddress()
	if err != nil {
		return err
	}
	d.web = web
	text := fmt.Sprintf("shard: auto\nwarehouse: {dsn: %q}\nweb: {listen: %q}\nsources:\n", c.warehouse, web)
	for i, key := range mainKeys(c.s) {
		text += fmt.Sprintf("  - {name: r%d, base_url: %q, key: %q}\n", i, c.s.address(name), key.Value)
	}
	if err := errors.Join(os.Mkdir(d.dir, 0o700), os.WriteFile(d.config, []byte(text), 0o600)); err != nil {
		return err
	}
	c.all[name] = d
	return d.start(ctx)
}

func (c *crew) stop() {
	for _, d := range c.all {
		d.stop()
	}
	clear(c.all)
}

// divided reports whether every process knows of the others, and serves its part and nothing else.
func (c *crew) divided(ctx context.Context) bool {
	running := 0
	for _, d := range c.all {
		now, err := d.status(ctx)
		if err != nil || now.Processes != len(c.all) {
			return false // it is starting
		}
		for _, s := range now.Sources {
			if s.State != status.StateRunning {
				return false
			}
			running++
		}
	}
	return running == theFleet.sources
}

func (c *crew) noted(ctx context.Context) (map[string]asked, error) {
	var all map[string]asked
	err := getJSON(ctx, c.s.root()+"/bench/askers", &all)
	return all, err
}

// settled waits until the sources are divided among the processes, and each has asked for the orders of its own.
func (c *crew) settled(ctx context.Context) (now map[string]asked, err error) {
	err = until(ctx, 20*time.Minute, time.Second/4, func() (bool, error) {
		if !c.divided(ctx) {
			return false, nil
		}
		now, err = c.noted(ctx)
		return len(now) == theFleet.sources && !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(a asked) bool {
			last := a.Turns[len(a.Turns)-1]
			return last.Walked.IsZero() || c.all[last.Process] == nil
		}), err
	})
	return now, err
}

// moved reports which sources others serve than before, and since when.
func (c *crew) moved(ctx context.Context, r *report, what string, before map[string]asked, began time.Time) error {
	now, err := c.settled(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	atOnce, twice, needless := 0, 0, 0
	var again, gaps []float64
	for key, a := range now {
		atOnce += a.AtOnce
		turns := a.Turns[len(before[key].Turns)-1:]
		if len(turns) == 1 {
			continue
		}
		last := turns[len(turns)-1]
		if len(turns) > 2 {
			twice++
		}
		if c.all[turns[0].Process] != nil && last.Process != "p5" {
			needless++
		}
		again = append(again, last.Walked.Sub(began).Seconds())
		gaps = append(gaps, last.Walked.Sub(turns[len(turns)-2].Last).Seconds())
	}
	r.row(what+": sources of each process", "%s", parts(now))
	r.row(what+": sources that moved; more than once; without need", "%d; %d; %d", len(again), twice, needless)
	r.row(what+": seconds until their orders are asked for again, p50, highest", "%.1f, %.1f", percentile(again, 50), percentile(again, 100))
	r.row(what+": seconds since the last request before, p50, highest", "%.1f, %.1f", percentile(gaps, 50), percentile(gaps, 100))
	r.row(what+": requests of one process while another's with the same key was under way", "%d", atOnce)
	switch {
	case len(again) == 0:
		return fmt.Errorf("%s: no source moved", what)
	case atOnce+twice+needless > 0:
		return fmt.Errorf("%s: a source was asked for by two processes, or moved without need", what)
	case percentile(again, 100) > shardLimit.Seconds():
		return fmt.Errorf("%s: a source was served by nobody for more than %s", what, shardLimit)
	}
	return nil
}

// parts are how many sources each process serves.
func parts(now map[string]asked) string {
	sizes := map[string]int{}
	for _, a := range now {
		sizes[a.Turns[len(a.Turns)-1].Process]++
	}
	var all []string
	for _, process := range slices.Sorted(maps.Keys(sizes)) {
		all = append(all, fmt.Sprintf("%s %d", process, sizes[process]))
	}
	return strings.Join(all, ", ")
}

// compared lets all be mirrored, ends the processes, and compares every row of the lists.
func (c *crew) compared(ctx context.Context, r *report) error {
	if err := wait(ctx, shardRest); err != nil {
		return err
	}
	counted, err := c.s.counters(ctx)
	if err != nil {
		return err
	}
	d := c.all["p5"]
	c.stop()
	var result verified
	if err := runVerify(ctx, d, &result, "--stream", "sales_orders", "--stream", "products", "--stream", "categories", "--stream", "ingredients"); err != nil {
		return err
	}
	limited := counted.Stats.RateLimited
	r.row("requests; pages behind a cursor asked for again; answers 429", "%d; %d; %d", counted.Stats.Requests, counted.Stats.DuplicatePages, limited)
	r.row("rows compared, differences", "%d, %d", result.Rows, result.Differences)
	if result.Differences+limited > 0 {
		return fmt.Errorf("%d rows differ from the service, %d answers were 429", result.Differences, limited)
	}
	return nil
}
