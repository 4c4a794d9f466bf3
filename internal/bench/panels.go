package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/dashboards"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/server"
)

const (
	panelRounds  = 40
	boardRounds  = 20
	panelsAtOnce = 6 // what a browser asks of one host at a time
	// nobody is a restaurant without a row: what a panel takes for it is spent before any
	// row is read.
	nobody = "biz_nobody"
)

// ownersBoards are the dashboards that owners open.
var ownersBoards = []string{"sales", "products", "stock", "cash-up"}

// board is a dashboard and the range it opens with.
type board struct {
	name     string
	model    dashboards.Model
	from, to time.Time
}

// panels times every query of the owners' dashboards through the way in that Grafana
// takes, as the dashboards send it when they are opened, each for a random restaurant; and
// each dashboard as a whole.
func panels(f filling) func(context.Context, *report) error {
	return func(ctx context.Context, r *report) error { return measurePanels(ctx, r, f) }
}

func measurePanels(ctx context.Context, r *report, f filling) error {
	dir, err := os.MkdirTemp("", "larder-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	engine, _, conn, err := openWarehouse(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	if err := f.fillForPanels(ctx, conn); err != nil {
		return err
	}
	reading, end, err := readingConn(ctx, engine)
	if err != nil {
		return err
	}
	defer end()
	boards, err := openBoards(time.Now())
	if err != nil {
		return err
	}
	// As filled stays as filled, and what is measured is no merge.
	if err := ofTables(ctx, conn, "SYSTEM STOP MERGES %s"); err != nil {
		return err
	}
	bench := panelBench{filling: f, conn: reading, writer: conn, boards: boards}
	if err := bench.timeBoards(ctx, r, "as filled"); err != nil {
		return err
	}
	if err := ofTables(ctx, conn, "SYSTEM START MERGES %s", "OPTIMIZE TABLE %s FINAL"); err != nil {
		return err
	}
	return bench.timeBoards(ctx, r, "merged")
}

// panelBench is what panels are timed on.
type panelBench struct {
	filling filling
	conn    driver.Conn // of a reader
	writer  driver.Conn
	boards  []board
}

// fillForPanels fills every table that panels read.
func (f filling) fillForPanels(ctx context.Context, conn driver.Conn) error {
	began := time.Now()
	if err := f.fillOrders(ctx, conn, "now64(6)"); err != nil {
		return err
	}
	if err := f.fillTables(ctx, conn); err != nil {
		return err
	}
	fmt.Printf("filled in %s\n", time.Since(began).Round(time.Second))
	return nil
}

// ofTables has statements run of every table that panels read.
func ofTables(ctx context.Context, conn driver.Conn, statements ...string) error {
	for _, table := range []string{"sales_orders", "stock_history", "product_history", "products", "ingredients", "sales_daily", "proofs"} {
		for _, sql := range statements {
			if err := conn.Exec(ctx, fmt.Sprintf(sql, "larder_raw."+table)); err != nil {
				return fmt.Errorf("%s: %w", fmt.Sprintf(sql, table), err)
			}
		}
	}
	return nil
}

// readingConn is a client of the way in for readers (warehouse.http_listen).
func readingConn(ctx context.Context, of *server.Server) (conn driver.Conn, end func(), err error) {
	supervisor, err := reader.Start(reader.Options{
		Log:    slog.Default(),
		Orders: reader.Orders{Mirror: engine.MirrorOptions{Writer: of.Path(), Databases: []string{"larder"}, Hidden: []string{"larder_raw"}, Memory: 2 << 30}, Zone: schema.Zone},
	})
	if err != nil {
		return nil, nil, err
	}
	front, err := server.ListenReaders(ctx, "127.0.0.1:0", "", "", supervisor, slog.Default())
	if err != nil {
		return nil, nil, errors.Join(err, supervisor.Close())
	}
	go front.Serve() //nolint:errcheck // it ends with the measurement
	conn, err = ch.Open(&ch.Options{Protocol: ch.HTTP, Addr: []string{front.Addr().String()}, MaxOpenConns: panelsAtOnce, MaxIdleConns: panelsAtOnce, ReadTimeout: 10 * time.Minute})
	return conn, func() { _ = errors.Join(front.Close(ctx), supervisor.Close()) }, err
}

// openBoards reads the dashboards as Grafana does when a person opens them.
func openBoards(now time.Time) ([]board, error) {
	var all []board
	for _, name := range ownersBoards {
		text, err := fs.ReadFile(dashboards.Files(), "en/"+name+".json")
		if err != nil {
			return nil, err
		}
		b := board{name: name}
		if err := json.Unmarshal(text, &b.model); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", name, err)
		}
		if b.from, err = instantOf(b.model.Time.From, now); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", name, err)
		}
		if b.to, err = instantOf(b.model.Time.To, now); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", name, err)
		}
		b.to = b.to.AddDate(0, 0, 1).Add(-time.Second) // the end of that day
		all = append(all, b)
	}
	return all, nil
}

var rangeOfDays = regexp.MustCompile(`^now(?:-(\d+)d)?/d$`)

// instantOf is where a day of a dashboard's range begins.
func instantOf(text string, now time.Time) (time.Time, error) {
	m := rangeOfDays.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, fmt.Errorf("the range %q is not one of days", text)
	}
	zone, err := time.LoadLocation(schema.Zone)
	if err != nil {
		return time.Time{}, err
	}
	back, _ := strconv.Atoi(m[1]) // none: today
	now = now.In(zone)
	return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, zone), nil
}

// of is a query as the dashboard sends it for a restaurant.
func (b board) of(sql, restaurant string) (string, error) {
	return dashboards.Choice{From: b.from, To: b.to, Restaurants: []string{restaurant}}.Expand(sql)
}

// variables are the queries that a dashboard asks before its panels.
func (b board) variables() []string {
	var all []string
	for _, v := range b.model.Templating.List {
		if sql, ok := v.Query.(string); ok && v.Type == "query" {
			all = append(all, sql)
		}
	}
	return all
}

func (b panelBench) timeBoards(ctx context.Context, r *report, state string) error {
	var parts uint64
	if err := b.writer.QueryRow(ctx, "SELECT count() FROM system.parts WHERE database = 'larder_raw' AND table = 'sales_orders' AND active").Scan(&parts); err != nil {
		return err
	}
	fmt.Printf("\n%s, %d parts of orders, load %s. Each panel: least, p50, p95; of the processor's time p50, p95; ratio of that p50 to that of the reference beside it; p50 of the processor's time for a restaurant without rows\n\n", state, parts, load())
	r.rows = 0
	random := rand.New(rand.NewPCG(1, 2))
	for _, board := range b.boards {
		for _, p := range board.model.Panels {
			t, err := b.timePanel(ctx, board, p.Targets[0].RawSQL, random)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", board.name, p.Title, err)
			}
			r.row(board.name+": "+p.Title, "%s", t)
		}
		var took []time.Duration
		for range boardRounds {
			t, err := board.open(ctx, b.conn, b.filling.restaurant(random))
			if err != nil {
				return err
			}
			took = append(took, t)
		}
		r.row(fmt.Sprintf("**%s, whole**", board.name), "%.0f / %.0f / %.0f ms", ms(slices.Min(took)), ms(percentile(took, 50)), ms(percentile(took, 95)))
	}
	fmt.Printf("\nload %s\n", load())
	return nil
}

// restaurant is a random one.
func (f filling) restaurant(random *rand.Rand) string {
	return fmt.Sprintf("biz_%03d", random.IntN(f.shops))
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// timing is what one panel took, and a query that stays the same beside it.
type timing struct{ panel, reference, nobodys spent }

// spent is the time that passed, and the processor's.
type spent struct{ clock, cpu []time.Duration }

func (t timing) String() string {
	return fmt.Sprintf("%.0f / %.0f / %.0f ms; %.0f / %.0f ms; %.1f; %.0f ms", ms(slices.Min(t.panel.clock)), ms(percentile(t.panel.clock, 50)), ms(percentile(t.panel.clock, 95)),
		ms(percentile(t.panel.cpu, 50)), ms(percentile(t.panel.cpu, 95)),
		ms(percentile(t.panel.cpu, 50))/ms(percentile(t.reference.cpu, 50)), ms(percentile(t.nobodys.cpu, 50)))
}

// reference is what other figures are compared with, on a machine that others use.
const reference = `SELECT business_day, sum(totals_net_sales) FROM sales_orders
WHERE business_id = ${restaurant:singlequote} AND business_day > toDate32(now('Europe/Bucharest')) - 90 GROUP BY business_day ORDER BY business_day`

func (b panelBench) timePanel(ctx context.Context, of board, sql string, random *rand.Rand) (timing, error) {
	var t timing
	processes := family(os.Getpid()) // the engine is one
	for i := range queriesWarmup + panelRounds {
		whose := b.filling.restaurant(random)
		for _, one := range []struct {
			sql, whose string
			into       *spent
		}{{reference, whose, &t.reference}, {sql, whose, &t.panel}, {sql, nobody, &t.nobodys}} {
			before, err := cpu(processes)
			if err != nil {
				return t, err
			}
			took, err := of.ask(ctx, b.conn, one.sql, one.whose)
			if err != nil {
				return t, err
			}
			after, err := cpu(processes)
			if err != nil {
				return t, err
			}
			if i >= queriesWarmup {
				one.into.clock, one.into.cpu = append(one.into.clock, took), append(one.into.cpu, after-before)
			}
		}
	}
	return t, nil
}

func (b board) ask(ctx context.Context, conn driver.Conn, sql, whose string) (time.Duration, error) {
	sql, err := b.of(sql, whose)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = count(ctx, conn, sql)
	return time.Since(began), err
}

// open asks all that a dashboard asks when it is opened: its variables one after the
// other, since each may depend on the one before, and then its panels, several at once.
func (b board) open(ctx context.Context, conn driver.Conn, whose string) (time.Duration, error) {
	began := time.Now()
	for _, sql := range b.variables() {
		if _, err := b.ask(ctx, conn, sql, whose); err != nil {
			return 0, err
		}
	}
	errs := make([]error, len(b.model.Panels))
	var all sync.WaitGroup
	places := make(chan struct{}, panelsAtOnce)
	for i, p := range b.model.Panels {
		places <- struct{}{}
		all.Go(func() {
			_, errs[i] = b.ask(ctx, conn, p.Targets[0].RawSQL, whose)
			<-places
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			return 0, fmt.Errorf("%s, %s: %w", b.name, b.model.Panels[i].Title, err)
		}
	}
	return time.Since(began), nil
}

// load is what the system says of the last minute and the last five.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:2], " ")
}
