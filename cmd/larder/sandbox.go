package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/demo"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/text"
)

func sandboxCommand(g *globals) *cobra.Command {
	var o sandbox.Options
	var listen, webhookURL string
	var online float64
	var faultTexts, readings []string
	readingsByName := readingFlags(&o.Readings)
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a working copy of the API with invented restaurants",
		Long: `Serves the API, limits and errors included, with restaurants that are invented but
believable, and prints a key of each kind. The same seed makes the same world. With
--live it moves: tables are served, guests order online through the keys, and the
restaurants answer and prepare what is ordered. --webhook-url gets the events of what is
ordered through the key main, signed; of a second restaurant, the same with -2 behind it,
and so on. Faults strike on demand, from --fault or by POST /admin/faults. The
world changes by POST /admin/change, as in {"action": "purge", "stream": "products",
"count": 3}; the answer to {} names the actions. POST /admin/orders moves online orders,
as in {"action": "accept", "ids": ["onl_..."], "ready_in": 1800}, POST /admin/ordering
switches ordering off ({"on": false}), and GET /admin/webhooks lists what was sent.

Faults:
` + listed(faults.Kinds()) + `Faults on webhooks:
` + listed(faults.WebhookKinds()) + `Readings, where the API's description leaves something open:
` + strings.TrimSuffix(listed(namesOf(readingsByName)), "\n"),
		Example: `  larder sandbox --live
  larder sandbox --live --online-orders 500 --webhook-url http://127.0.0.1:9470/webhooks/bistro
  larder sandbox --restaurants 10 --orders 100000 --days 365 --no-limits
  larder sandbox --fault server_error=0.01 --fault latency=0.2,delay=300ms,route=/sales/orders
  larder sandbox --reading strange-ids --reading stamp-precision=1s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.config != "" || len(g.set) > 0 {
				return exit.UsageError(errors.New("the sandbox reads no configuration: leave --config and --set out; its flags say what it is like"))
			}
			for _, f := range faultTexts {
				fault, err := parseFault(f)
				if err != nil {
					return exit.UsageError(fmt.Errorf("--fault %q: %w", f, err))
				}
				o.Faults = append(o.Faults, fault)
			}
			for _, r := range readings {
				if err := set(readingsByName, r); err != nil {
					return exit.UsageError(fmt.Errorf("--reading %q: %w", r, err))
				}
			}
			if cmd.Flags().Changed("online-orders") && !o.Live {
				return exit.UsageError(errors.New("--online-orders: guests come with --live only; add it, or order by POST /v1/orders"))
			}
			if o.Live {
				o.OnlineOrders = online
			}
			log, err := g.logger(g.err, cmp.Or(g.logFormat, text.LogText), "info")
			if err != nil {
				return err
			}
			o.Logger = log
			return demo.Sandbox(cmd.Context(), listen, o, webhookURL, func(url string, keys []sandbox.Key) {
				if err := printSandbox(g.out, url, keys); err != nil {
					log.Error("print the keys", "err", err)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "`address` to listen on")
	f.Float64Var(&online, "online-orders", 40, "orders a day and restaurant that guests place online, with --live")
	f.StringVar(&webhookURL, "webhook-url", "", "`address` that gets the events of the key main's online orders")
	f.StringArrayVar(&faultTexts, "fault", nil, "a `fault`: kind[=probability][,field=value...], fields count, skip, route, delay, retry_after, status; may be repeated")
	f.StringArrayVar(&readings, "reading", nil, "a `reading`: name[=value]; may be repeated")
	sandboxFlags(cmd, &o)
	return cmd
}

// sandboxFlags adds the flags of the world and of the limits.
func sandboxFlags(cmd *cobra.Command, o *sandbox.Options) {
	f := cmd.Flags()
	f.IntVar(&o.Businesses, "restaurants", 1, "`number` of restaurants")
	f.IntVar(&o.LocationsPer, "locations", 2, "locations per restaurant")
	f.IntVar(&o.Orders, "orders", 2000, "orders per restaurant, over --days; -1 for none")
	f.IntVar(&o.Days, "days", 60, "days of history")
	f.Int64Var(&o.Seed, "seed", 1, "what the world is made from")
	f.BoolVar(&o.Live, "live", false, "orders, stock and online orders move as time passes")
	f.Float64Var(&o.Pace, "pace", 1, "how many times busier than in history a live world is")
	f.StringVar(&o.Algorithm, "algorithm", sandbox.AlgorithmFixed, "how a minute is counted: "+
		strings.Join([]string{sandbox.AlgorithmFixed, sandbox.AlgorithmFixedFirst, sandbox.AlgorithmSliding, sandbox.AlgorithmBucket}, ", "))
	f.IntVar(&o.Limits.PerMinute, "requests-per-minute", sandbox.DefaultLimits.PerMinute, "limit per key")
	f.IntVar(&o.Limits.BusinessPerMinute, "restaurant-requests-per-minute", sandbox.DefaultLimits.BusinessPerMinute, "limit per restaurant, all keys together")
	f.IntVar(&o.Limits.HeavyPerMinute, "heavy-requests-per-minute", sandbox.DefaultLimits.HeavyPerMinute, "limit of the sales totals, per key")
	f.IntVar(&o.Limits.OrdersPerMinute, "orders-per-minute", sandbox.DefaultLimits.OrdersPerMinute, "limit of orders placed, per key")
	f.BoolVar(&o.NoLimits, "no-limits", false, "no limits at all")
}

// listed is names in lines of a terminal's width.
func listed(names []string) string { return wrap(strings.Join(names, ", "), "  ", 80) }

// set gives a value to the flag of a name, which was written as name=value. A switch needs no
// value.
func set(flags *flag.FlagSet, text string) error {
	name, value, given := strings.Cut(text, "=")
	known := flags.Lookup(name)
	if known == nil {
		return fmt.Errorf("%q is unknown; known are %s", name, strings.Join(namesOf(flags), ", "))
	}
	if !given && known.DefValue == "false" {
		value = "true"
	}
	if known.Value.Set(value) == nil {
		return nil
	}
	allowed := "a whole number"
	switch known.Value.(flag.Getter).Get().(type) {
	case bool:
		allowed = "true or false"
	case time.Duration:
		allowed = "a duration such as 500ms or 3s"
	}
	return fmt.Errorf("%s %q; allowed: %s", name, value, allowed)
}

func namesOf(flags *flag.FlagSet) (names []string) {
	flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// parseFault reads kind[=probability][,field=value...].
func parseFault(s string) (faults.Fault, error) {
	head, rest, _ := strings.Cut(s, ",")
	kind, probability, given := strings.Cut(head, "=")
	f := faults.Fault{Kind: kind, Probability: 1}
	if given {
		var err error
		if f.Probability, err = strconv.ParseFloat(probability, 64); err != nil {
			return f, fmt.Errorf("probability %q; allowed: 0 to 1", probability)
		}
	}
	fields := flag.NewFlagSet("", flag.ContinueOnError)
	fields.IntVar(&f.Count, "count", 0, "")
	fields.IntVar(&f.Skip, "skip", 0, "")
	fields.IntVar(&f.RetryAfter, "retry_after", 0, "")
	fields.IntVar(&f.Status, "status", 0, "")
	fields.DurationVar(&f.Delay, "delay", 0, "")
	fields.StringVar(&f.Route, "route", "", "")
	if rest == "" {
		return f, nil
	}
	for field := range strings.SplitSeq(rest, ",") {
		if err := set(fields, field); err != nil {
			return f, err
		}
	}
	return f, nil
}

// readingFlags are the readings by their names.
func readingFlags(r *sandbox.Readings) *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.BoolVar(&r.RangeByChange, "range-by-change", false, "")
	f.BoolVar(&r.NeverPaidTombstones, "never-paid-tombstones", false, "")
	f.IntVar(&r.NullUpdatedAt, "null-updated-at", 0, "")
	f.IntVar(&r.ShortPages, "short-pages", 0, "")
	f.IntVar(&r.EmptyPages, "empty-pages", 0, "")
	f.BoolVar(&r.NullTombstones, "null-tombstones", false, "")
	f.DurationVar(&r.StampDelay, "stamp-delay", 0, "")
	f.DurationVar(&r.StampPrecision, "stamp-precision", 0, "")
	f.BoolVar(&r.LongFloats, "long-floats", false, "")
	f.BoolVar(&r.SharedIDs, "shared-ids", false, "")
	f.BoolVar(&r.StrangeIDs, "strange-ids", false, "")
	f.BoolVar(&r.InactiveRowsHidden, "inactive-rows-hidden", false, "")
	f.BoolVar(&r.NewMapKeys, "new-map-keys", false, "")
	f.BoolVar(&r.TightestByLimit, "tightest-by-limit", false, "")
	f.BoolVar(&r.LooseRange, "loose-range", false, "")
	f.BoolVar(&r.RemovedRefunds, "removed-refunds", false, "")
	f.BoolVar(&r.GrossPerProduct, "gross-per-product", false, "")
	f.BoolVar(&r.OrderingOff, "ordering-off", false, "")
	return f
}
