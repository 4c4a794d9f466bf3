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
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/phrase"
	"github.com/larder-sync/larder/syncer"
)

func demoCommand(g *globals) *cobra.Command {
	o := demo.Options{Version: version}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole of Larder on invented restaurants",
		Long: `Starts the sandbox with a few invented restaurants, the embedded engine, the
daemon and the status page, all in this process. A week of stock, prices, menus
and sold-out products goes by first, in seconds. Then it shows the backfill with
its forecast, says where to look and which query to try, and keeps running:
orders come in and show up, as many as at that hour in a restaurant. Nothing
outside its folder is touched; the folder is emptied at the next start. Its
configuration takes --set, but for sources and the place of its data; LARDER_
variables do not change it.`,
		Example: `  larder demo
  larder demo --once                     stop after the first full sync
  larder demo --restaurants 5 --days 365 --requests-per-minute 120
  larder demo --set web.listen=127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for name, n := range map[string]int{"restaurants": o.Restaurants, "days": o.Days, "orders-per-day": o.OrdersADay, "requests-per-minute": o.PerMinute} {
				if n < 1 {
					return exit.UsageError(fmt.Errorf("--%s %d; allowed: 1 or more", name, n))
				}
			}
			if g.config != "" {
				return exit.UsageError(errors.New("--config: the demo writes a configuration of its own; --set changes it, and larder run takes yours"))
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
	o.Set = g.overrides()
	settings, err := demo.Settings(o.Set)
	if err != nil {
		return err
	}
	level := "warn" // beside bars, unless it was asked for
	if slices.ContainsFunc(o.Set, func(s string) bool { return strings.HasPrefix(s, "log.level=") }) {
		level = settings.Log.Level
	}
	show := newProgress(cmd.Context(), g, syncer.Selection{})
	defer show.end()
	o.Confined = g.confined
	if o.Logger, err = g.logger(show.lines(), settings.Log.Format, level); err != nil {
		return err
	}
	o.Past = func(days int) {
		show.note(fmt.Sprintf("Larder looks at stock, prices and what was sold out on %s first; then it fills the rest.", phrase.Plural(days, "past day")))
	}
	o.Progress = show.update
	o.Ready = func(i demo.Info) {
		show.end()
		printDemo(g.out, i, o.Once)
	}
	return demo.Run(cmd.Context(), o)
}

const demoQuery = "SELECT business_day, count() AS orders, sum(totals_net_sales) AS net_sales FROM sales_orders GROUP BY 1 ORDER BY 1 DESC LIMIT 7"

func printDemo(w io.Writer, i demo.Info, once bool) {
	var rows, requests, limited uint64
	for _, s := range i.Status.Sources {
		requests += s.Requests
		limited += s.RateLimited
		for _, st := range s.Streams {
			rows += st.Written
		}
	}
	fmt.Fprintf(w, "\nMirrored %s of %s with %s in %s; %s %s 429.\n", phrase.Plural(rows, "row"), phrase.Plural(len(i.Status.Sources), "restaurant"),
		phrase.Plural(requests, "request"), i.Took.Round(100*time.Millisecond), phrase.Plural(limited, "answer"), phrase.Verb(limited, "was", "were"))
	printDemoProof(w, i.Proof)
	if once {
		return
	}
	fmt.Fprintln(w)
	if i.PageURL != "" {
		fmt.Fprintf(w, "  Status page      %s\n", i.PageURL)
	}
	if i.QueryURL != "" {
		fmt.Fprintf(w, "  ClickHouse HTTP  %s  (Grafana, BI tools, curl; read-only)\n", i.QueryURL)
	}
	fmt.Fprintf(w, "  The sandbox API  %s\n", i.APIURL)
	fmt.Fprintf(w, "\nA first query, from another terminal:\n\n  %s sql --config %s \\\n    '%s'\n", self(), near(i.Config), demoQuery)
	fmt.Fprintf(w, "\nNew orders keep coming in. Ctrl-C stops.\n")
}

// printDemoProof prints what came of comparing every day with the service's totals.
func printDemoProof(w io.Writer, r syncer.ReconcileReport) {
	if len(r.Sources) == 0 {
		return
	}
	var equal, moving uint64
	for _, s := range r.Sources {
		equal += s.Proven + s.Healed + s.Explained
		moving += s.Unsettled
	}
	drift := r.Drift()
	fmt.Fprintf(w, "Compared every day with the service's own totals, overall, by location and by product: %s%sequal, %s%s",
		phrase.Plural(equal, "comparison"), phrase.Verb(equal, " is ", " are "), phrase.Count(drift), phrase.Verb(drift, " differs", " differ"))
	if moving > 0 {
		fmt.Fprintf(w, ", %s moved meanwhile", phrase.Count(moving))
	}
	if n := r.Unproven(); n > 0 {
		fmt.Fprintf(w, ", %s could not be compared", phrase.Count(n))
	}
	fmt.Fprintln(w, ".")
}

// self is how to call this program from here.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		return "larder"
	}
	if path := near(exe); strings.ContainsRune(path, filepath.Separator) {
		return path
	}
	return "." + string(filepath.Separator) + filepath.Base(exe)
}

// near is a path as seen from here, when that is shorter.
func near(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && len(short) < len(path) {
		return short
	}
	return path
}
