package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// memoryLimits are the containers that Larder is tried in, in MiB.
var memoryLimits = []int64{512, 2048}

const (
	memoryOrders  = 200_000
	hungryReaders = 24
	// hungryFor is how long the readers go on, at least, whatever the backfill does.
	hungryFor = 90 * time.Second
)

// memoryBench runs the daemon in containers whose memory is limited, with a backfill and
// hungry readers at once. It must live, and lose nothing.
func memoryBench(ctx context.Context, r *report) error {
	for _, limit := range memoryLimits {
		if err := inContainer(ctx, r, limit<<20); err != nil {
			return fmt.Errorf("in %d MiB: %w", limit, err)
		}
	}
	return nil
}

func inContainer(ctx context.Context, r *report, limit int64) (err error) {
	g, err := newGroup(limit)
	if err != nil {
		return err
	}
	defer func() {
		if removed := g.remove(); err == nil {
			err = removed
		}
	}()
	b := bed{sandbox: []string{"-orders", strconv.Itoa(memoryOrders), "-no-limits", "-live", "-pace", "50"}, more: oftenYAML}
	return b.made(ctx, func(s *service, d *daemon) error {
		d.group = g
		if err := d.start(ctx); err != nil {
			return err
		}
		if err := measureMemory(ctx, r, limit, s, d); err != nil {
			d.kill()
			return err
		}
		d.stop()
		d.group = nil // comparing whole tables is not what is measured
		if err := d.start(ctx); err != nil {
			return err
		}
		defer d.stop()
		return compareAll(ctx, r, s, d)
	})
}

func measureMemory(ctx context.Context, r *report, limit int64, s *service, d *daemon) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var hungry hunger
	hungry.start(reading, d, hungryReaders)
	began, anonymous := time.Now(), int64(0)
	var filled time.Duration
	err := until(ctx, 15*time.Minute, 200*time.Millisecond, func() (bool, error) {
		if n, err := d.group.killed(); err != nil || n > 0 {
			return false, fmt.Errorf("the kernel ended the daemon (%d), %w", n, err)
		}
		if n, err := d.group.anonymous(); err == nil {
			anonymous = max(anonymous, n)
		}
		if filled == 0 {
			if !backfillDone(ctx, d) {
				return false, nil
			}
			filled = time.Since(began)
		}
		return time.Since(began) > hungryFor, nil
	})
	if err != nil {
		return err
	}
	stop()
	hungry.reading.Wait()
	retries, err := d.metric(ctx, "larder_sink_flush_retries_total")
	if err != nil {
		return err
	}
	if err := s.post(ctx, "/bench/freeze", ""); err != nil {
		return err
	}
	if err := wait(ctx, 20*time.Second); err != nil { // several walks of everything
		return err
	}
	r.row("container", "%d MiB", limit>>20)
	r.row("the kernel's kills; highest without the page cache", "0; %d MiB", anonymous>>20)
	r.row("backfill of 200,000 orders beside them", "%.0f s", filled.Seconds())
	r.row("flushes tried again", "%.0f", retries)
	r.row("answers to hungry readers: whole; refused for memory; busy; other", "%d; %d; %d; %d", hungry.whole.Load(), hungry.refused.Load(), hungry.busy.Load(), hungry.other.Load())
	r.row("plain queries beside them: whole; other; slowest", "%d; %d; %.1f s", hungry.plain.Load(), hungry.plainFailed.Load(), time.Duration(hungry.slowest.Load()).Seconds())
	if last := hungry.last.Load(); last != nil {
		fmt.Fprintln(os.Stderr, "an answer that was none of these:", *last)
	}
	return nil
}

// backfillDone is ordersDone for a daemon whose flushes may be tried again.
func backfillDone(ctx context.Context, d *daemon) bool {
	status, err := d.status(ctx)
	if err != nil {
		return false // the daemon is starting
	}
	for _, source := range status.Sources {
		for _, stream := range source.Streams {
			if stream.Name == "sales_orders" {
				return stream.State == "running" && stream.Progress == nil && stream.Rows != nil && *stream.Rows > 0
			}
		}
	}
	return false
}

func compareAll(ctx context.Context, r *report, s *service, d *daemon) error {
	if err := until(ctx, time.Minute, 200*time.Millisecond, func() (bool, error) {
		_, err := d.number(ctx, "SELECT count() FROM larder.sales_orders")
		return err == nil, nil
	}); err != nil {
		return err
	}
	if err := wait(ctx, 20*time.Second); err != nil {
		return err
	}
	return r.compared(ctx, s, d)
}

// hungryQueries each want all the memory that they can get.
var hungryQueries = []string{
	"SELECT count() FROM (SELECT number, count() FROM numbers_mt(30000000) GROUP BY number)",
	"SELECT max(s) FROM (SELECT toString(n.number) || toString(tuple(o.*)) AS s FROM larder.sales_orders AS o, numbers(50) AS n ORDER BY s DESC LIMIT 1000000)",
	"SELECT count() FROM numbers(3000000) AS a JOIN numbers(5000000) AS b ON a.number = b.number",
	"SELECT count() FROM larder.sales_orders AS a CROSS JOIN larder.sales_orders AS b WHERE a.number > b.number",
	"SELECT groupArray(toString(tuple(o.*))) FROM larder.sales_orders AS o, numbers(20) AS n",
	"SELECT uniqExact(o.id, o.totals_net_sales, n.number) FROM larder.sales_orders AS o, numbers(100) AS n",
	"SELECT * FROM numbers(40000000) FORMAT Pretty",
	"SELECT arrayMap(x -> toString(x), range(20000000))",
}

// plainQuery is one of a dashboard.
const plainQuery = "SELECT business_day, sum(totals_net_sales) FROM larder.sales_orders GROUP BY business_day ORDER BY business_day DESC LIMIT 30"

// hunger counts the answers to readers.
type hunger struct {
	reading                     sync.WaitGroup
	whole, refused, busy, other atomic.Int64
	plain, plainFailed, slowest atomic.Int64
	last                        atomic.Pointer[string]
}

func (h *hunger) start(ctx context.Context, d *daemon, readers int) {
	for i := range readers {
		h.reading.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				h.count(ctx, d, hungryQueries[n%len(hungryQueries)], n%2 == 0)
			}
		})
	}
	h.reading.Go(func() {
		for wait(ctx, time.Second) == nil {
			began := time.Now()
			_, err := d.query(ctx, plainQuery)
			switch took := int64(time.Since(began)); {
			case ctx.Err() != nil:
			case err != nil:
				h.plainFailed.Add(1)
			default:
				h.plain.Add(1)
				h.slowest.Store(max(h.slowest.Load(), took))
			}
		}
	})
}

// count asks one query, as a whole or streamed, and counts how it ended.
func (h *hunger) count(ctx context.Context, d *daemon, sql string, whole bool) {
	address := "http://" + d.sql + "/?query=" + url.QueryEscape(sql)
	if whole {
		address += "&wait_end_of_query=1"
	}
	tail, err := readAll(ctx, address)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		_ = wait(ctx, 100*time.Millisecond) // it is starting: the caller looks at ctx
	case strings.Contains(tail, "MEMORY_LIMIT_EXCEEDED"):
		h.refused.Add(1)
	case strings.Contains(tail, "TOO_MANY_SIMULTANEOUS_QUERIES"):
		h.busy.Add(1)
	case strings.Contains(tail, "DB::Exception"):
		h.other.Add(1)
		h.last.Store(&tail)
	default:
		h.whole.Add(1)
	}
}

// readAll reads an answer to its end and returns the last of it, where an exception
// stands.
func readAll(ctx context.Context, address string) (tail string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	last := make([]byte, 0, 4096)
	buffer := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buffer)
		last = append(last, buffer[:n]...)
		last = last[max(0, len(last)-2048):]
		if err == io.EOF {
			return string(last), nil
		}
		if err != nil {
			return string(last), nil //nolint:nilerr // cut short behind its first data, by an exception
		}
	}
}
