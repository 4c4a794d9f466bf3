package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/demo"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer"
)

func demoCommand(g *globals) *cobra.Command {
	o := demo.Options{Version: version}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole of Larder on invented restaurants",
		Long: `Starts the sandbox with a few invented restaurants, the embedded engine, the daemon and
the status page. Past days of stock, prices and menus are mirrored first. Then it shows the
backfill, prints where to look and which query to try, and keeps running: orders come in
and show up, as many as at that hour in a restaurant. Nothing outside its folder is
touched; the folder is emptied at the next start. Its configuration takes --set, but for
sources and the place of its data; LARDER_ variables do not change it.`,
		Example: `  larder demo
  larder demo --once                     stop after the first full sync
  larder demo --restaurants 5 --days 365 --requests-per-minute 120
  larder demo --set web.listen=127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for name, n := range map[string]int{"restaurants": o.Restaurants, "days": o.Days, "orders-per-day": o.OrdersADay, "requests-per-minute": o.PerMinute} {
				if n < 1 {
					return lifecycle.UsageError(fmt.Errorf("--%s %d; allowed: 1 or more", name, n))
				}
			}
			if g.config != "" {
				return lifecycle.UsageError(errors.New("--config: the demo writes a configuration of its own; --set changes it, and larder run takes yours"))
			}
			return runDemo(cmd, g, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Dir, "dir", "larder-demo", "`folder` for data, configuration and keys")
	f.IntVar(&o.Restaurants, "restaurants", 2, "`number` of restaurants, with two locations each")
	f.IntVar(&o.Days, "days", 90, "days of history")
	f.IntVar(&o.OrdersADay, "orders-per-day", 180, "orders a day and restaurant")
	f.IntVar(&o.PerMinute, "requests-per-minute", 900, "limit of each key; the real service allows 120, and 30 for totals")
	f.Int64Var(&o.Seed, "seed", 1, "another `seed` makes other restaurants")
	f.BoolVar(&o.Once, "once", false, "stop after the first full sync")
	return cmd
}

func runDemo(cmd *cobra.Command, g *globals, o demo.Options) error {
	o.Set = g.set
	settings, err := demo.Settings(o.Set)
	if err != nil {
		return err
	}
	show := g.newProgress(syncer.Selection{})
	defer show.end()
	level := settings.Log.Level
	if show.bars && !slices.ContainsFunc(o.Set, func(s string) bool { return strings.HasPrefix(s, "log.level=") }) {
		level = "warn" // the bars show the rest
	}
	if o.Logger, err = g.logger(show.above(g.err), settings.Log.Format, level); err != nil {
		return err
	}
	note := func(format string, args ...any) {
		if g.inJSON(nil) {
			g.log.Info(fmt.Sprintf(format, args...))
		} else {
			_, _ = io.WriteString(show.above(g.err), wrap(fmt.Sprintf(format, args...), "", widthOf(g.err)))
		}
	}
	o.Past = func(days int) {
		note("The service shows stock, prices, menus and sold-out products only as they are now. So that they have a history, Larder first mirrors them as they were on %s. The sales of %s follow.",
			text.Plural(days, "past day"), text.Plural(o.Days, "day"))
	}
	o.Progress = show.update
	o.Ready = func(i demo.Info) {
		show.end()
		printDemo(&printer{out: g.out}, i, filepath.Join(o.Dir, filepath.Base(i.Config)), o.Once)
	}
	if err := warehouse.Confinable(); err != nil {
		note("On this machine %v: whoever asks the demo's database over HTTP can read every file that you can. It listens on this machine alone (http_unconfined in its larder.yaml).", err)
	}
	note("Starting %s, a database and Larder. This takes some seconds.", text.Plural(o.Restaurants, "invented restaurant"))
	return demo.Run(cmd.Context(), o)
}

const demoQuery = "SELECT business_day, count() AS orders, sum(totals_net_sales) AS net_sales FROM sales_orders GROUP BY 1 ORDER BY 1 DESC LIMIT 7"

func printDemo(p *printer, i demo.Info, config string, once bool) {
	var rows, requests, limited uint64
	for _, s := range i.Status.Sources {
		requests += s.Requests
		limited += s.RateLimited
		for _, st := range s.Streams {
			rows += st.Written
		}
	}
	p.printf("\n")
	p.sentence("Larder has mirrored %s of %s in %s, with %s. The service refused %s of them as too many (429).", text.Plural(rows, "row"), text.Plural(len(i.Status.Sources), "restaurant"),
		i.Took.Round(100*time.Millisecond), text.Plural(requests, "request"), text.Count(limited))
	if len(i.Proof.Sources) > 0 {
		p.sentence("Each day's sales were compared with the service's own totals, for the whole restaurant, by location and by product:")
		p.reconciled(i.Proof, nil)
	}
	if once {
		return
	}
	p.printf("\n")
	if i.PageURL != "" {
		p.printf("  Status page      %s\n", i.PageURL)
	}
	if i.QueryURL != "" {
		p.printf("  ClickHouse HTTP  %s  (Grafana, BI tools; read-only)\n", i.QueryURL)
	}
	p.printf("  Invented API     %s\n", i.APIURL)
	p.printf("\nA first query, from another terminal:\n\n  %s sql --config %s \\\n    '%s'\n", os.Args[0], config, demoQuery)
	p.printf("\nNew orders keep coming in. Ctrl-C stops.\n")
}
