package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/demo"
	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/logging"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
)

func sandboxCommand(g *globals) *cobra.Command {
	var o sandbox.Options
	var listen, webhookURL string
	var online float64
	var faultTexts, readings []string
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
switches ordering off ({"on": false}), and GET /admin/webhooks tells what was sent.

Faults:
` + wrapped(faults.Kinds()) + `
Faults on webhooks:
` + wrapped(faults.WebhookKinds()) + `
Readings, where the API's description leaves something open:
` + wrapped(readingNames()),
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
				if err := setReading(&o.Readings, r); err != nil {
					return exit.UsageError(fmt.Errorf("--reading %q: %w", r, err))
				}
			}
			if cmd.Flags().Changed("online-orders") && !o.Live {
				return exit.UsageError(errors.New("--online-orders: guests come with --live only; add it, or order by POST /v1/orders"))
			}
			if o.Live {
				o.OnlineOrders = online
			}
			log, err := g.logger(g.err, cmp.Or(g.logFormat, logging.Text), "info")
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

// sandboxFlags are those of the world and of the limits.
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

// wrapped lists names in lines of a terminal's width.
func wrapped(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if width == 0 || width+1+len(name) > 80 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(" " + name)
		width += 1 + len(name)
	}
	return b.String()[1:]
}

// parseFault reads kind[=probability][,field=value...].
func parseFault(s string) (faults.Fault, error) {
	head, rest, _ := strings.Cut(s, ",")
	kind, probability, given := strings.Cut(head, "=")
	f := faults.Fault{Kind: kind, Probability: 1}
	var err error
	if given {
		if f.Probability, err = strconv.ParseFloat(probability, 64); err != nil {
			return f, fmt.Errorf("probability %q; allowed: 0 to 1", probability)
		}
	}
	if rest == "" {
		return f, nil
	}
	for field := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "count":
			f.Count, err = strconv.Atoi(value)
		case "skip":
			f.Skip, err = strconv.Atoi(value)
		case "retry_after":
			f.RetryAfter, err = strconv.Atoi(value)
		case "status":
			f.Status, err = strconv.Atoi(value)
		case "delay":
			f.Delay, err = time.ParseDuration(value)
		case "route":
			f.Route = value
		default:
			return f, fmt.Errorf("field %q; allowed: count, skip, route, delay, retry_after, status", name)
		}
		if err != nil {
			return f, fmt.Errorf("%s %q: %w", name, value, err)
		}
	}
	return f, nil
}

type reading struct {
	name string
	set  func(r *sandbox.Readings, value string) error
}

func yes(field func(*sandbox.Readings) *bool) func(*sandbox.Readings, string) error {
	return func(r *sandbox.Readings, value string) (err error) {
		*field(r) = true
		if value != "" {
			*field(r), err = strconv.ParseBool(value)
		}
		return err
	}
}

func lasting(field func(*sandbox.Readings) *time.Duration) func(*sandbox.Readings, string) error {
	return func(r *sandbox.Readings, value string) (err error) {
		*field(r), err = time.ParseDuration(value)
		return err
	}
}

func number(field func(*sandbox.Readings) *int) func(*sandbox.Readings, string) error {
	return func(r *sandbox.Readings, value string) (err error) {
		*field(r), err = strconv.Atoi(value)
		return err
	}
}

var readingTable = []reading{
	{"range-by-change", yes(func(r *sandbox.Readings) *bool { return &r.RangeByChange })},
	{"never-paid-tombstones", yes(func(r *sandbox.Readings) *bool { return &r.NeverPaidTombstones })},
	{"null-updated-at", number(func(r *sandbox.Readings) *int { return &r.NullUpdatedAt })},
	{"short-pages", number(func(r *sandbox.Readings) *int { return &r.ShortPages })},
	{"empty-pages", number(func(r *sandbox.Readings) *int { return &r.EmptyPages })},
	{"null-tombstones", yes(func(r *sandbox.Readings) *bool { return &r.NullTombstones })},
	{"stamp-delay", lasting(func(r *sandbox.Readings) *time.Duration { return &r.StampDelay })},
	{"stamp-precision", lasting(func(r *sandbox.Readings) *time.Duration { return &r.StampPrecision })},
	{"long-floats", yes(func(r *sandbox.Readings) *bool { return &r.LongFloats })},
	{"shared-ids", yes(func(r *sandbox.Readings) *bool { return &r.SharedIDs })},
	{"strange-ids", yes(func(r *sandbox.Readings) *bool { return &r.StrangeIDs })},
	{"inactive-rows-hidden", yes(func(r *sandbox.Readings) *bool { return &r.InactiveRowsHidden })},
	{"new-map-keys", yes(func(r *sandbox.Readings) *bool { return &r.NewMapKeys })},
	{"tightest-by-limit", yes(func(r *sandbox.Readings) *bool { return &r.TightestByLimit })},
	{"loose-range", yes(func(r *sandbox.Readings) *bool { return &r.LooseRange })},
	{"removed-refunds", yes(func(r *sandbox.Readings) *bool { return &r.RemovedRefunds })},
	{"gross-per-product", yes(func(r *sandbox.Readings) *bool { return &r.GrossPerProduct })},
	{"ordering-off", yes(func(r *sandbox.Readings) *bool { return &r.OrderingOff })},
}

func readingNames() []string {
	var names []string
	for _, r := range readingTable {
		names = append(names, r.name)
	}
	return names
}

func setReading(r *sandbox.Readings, s string) error {
	name, value, _ := strings.Cut(s, "=")
	for _, known := range readingTable {
		if known.name == name {
			return known.set(r, value)
		}
	}
	return fmt.Errorf("unknown; known are %s", strings.Join(readingNames(), ", "))
}
