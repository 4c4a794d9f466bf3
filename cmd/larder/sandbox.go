package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/demo"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/text"
)

func sandboxCommand(g *globals) *cobra.Command {
	var o sandbox.Options
	var listen, webhookURL string
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a working copy of the API with invented restaurants",
		Long: `Serves the API, limits and errors included, with restaurants that are invented but
believable, and prints a key of each kind. The same seed makes the same world. With
--live it moves: tables are served, guests order online through the keys, and the
restaurants answer and prepare what is ordered. --webhook-url gets the events of what is
ordered through the key main, signed; of a second restaurant, the same with -2 behind it,
and so on. Faults strike on demand, from --fault or by POST /admin/faults. The world
changes by POST /admin/change (the answer to {} names the actions). POST /admin/orders
moves online orders, as in {"action": "accept", "ids": ["onl_..."], "ready_in": 1800},
POST /admin/ordering switches ordering off ({"on": false}), and GET /admin/webhooks lists
what was sent. GET /openapi.yaml and /openapi.json describe the API.

Faults:
` + listed(faults.Kinds()) + `Faults on webhooks:
` + listed(faults.WebhookKinds()) + `Readings, where the API's description leaves something open:
` + strings.TrimSuffix(listed(namesOf(&o.Readings)), "\n"),
		Example: `  larder sandbox --live
  larder sandbox --live --online-orders 500 --webhook-url http://127.0.0.1:9470/webhooks/sandbox
  larder sandbox --restaurants 10 --orders 100000 --days 365 --no-limits
  larder sandbox --fault server_error=0.01 --fault latency=0.2,delay=300ms,route=/sales/orders
  larder sandbox --reading strange-ids --reading stamp-precision=1s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.config != "" || cmd.Flags().Changed("set") {
				return lifecycle.UsageError(errors.New("the sandbox reads no configuration: leave --config and --set out; its flags say what it is like"))
			}
			if cmd.Flags().Changed("online-orders") && !o.Live {
				return lifecycle.UsageError(errors.New("--online-orders: guests come with --live only; add it, or order by POST /v1/orders"))
			}
			if !o.Live {
				o.OnlineOrders = 0
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
	f.Float64Var(&o.OnlineOrders, "online-orders", 40, "orders a day and restaurant that guests place online, with --live")
	f.StringVar(&webhookURL, "webhook-url", "", "`address` that gets the events of the key main's online orders")
	f.Func("fault", "a `fault`: kind[=probability][,field=value...], fields count, skip, route, delay, retry_after, status; may be repeated", func(text string) error {
		fault, err := parseFault(text)
		o.Faults = append(o.Faults, fault)
		return err
	})
	f.Func("reading", "a `reading`: name[=value]; may be repeated", func(text string) error { return set(&o.Readings, text) })
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

// parseFault reads kind[=probability][,field=value...].
func parseFault(text string) (faults.Fault, error) {
	fields := strings.Split(text, ",")
	kind, probability, given := strings.Cut(fields[0], "=")
	f := faults.Fault{Kind: kind, Probability: 1}
	if fields = fields[1:]; given {
		fields = append(fields, "probability="+probability)
	}
	for _, field := range fields {
		if err := set(&f, field); err != nil {
			return f, err
		}
	}
	return f, nil
}

// set sets the field of a struct that a text names, as name=value. A switch needs no value.
func set(in any, text string) error {
	name, value, given := strings.Cut(text, "=")
	names := namesOf(in)
	at := slices.Index(names, strings.ReplaceAll(name, "_", "-"))
	if at < 0 {
		return fmt.Errorf("%q is unknown; known are %s", name, strings.Join(names, ", "))
	}
	field := reflect.ValueOf(in).Elem().Field(at)
	if !given && field.Kind() == reflect.Bool {
		value = "true"
	}
	var err error
	switch field := field.Addr().Interface().(type) {
	case *bool:
		*field, err = strconv.ParseBool(value)
	case *int:
		*field, err = strconv.Atoi(value)
	case *float64:
		*field, err = strconv.ParseFloat(value, 64)
	case *time.Duration:
		*field, err = time.ParseDuration(value)
	case *string:
		*field = value
	}
	if err != nil || value == "" {
		return fmt.Errorf("%s %q; allowed: %s", name, value, field.Type())
	}
	return nil
}

var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)

// namesOf are the fields of a struct, as short-pages.
func namesOf(in any) (names []string) {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(in).Elem()) {
		names = append(names, strings.ToLower(wordEnd.ReplaceAllString(field.Name, "$1-$2")))
	}
	return names
}

// printSandbox prints where the API is, which keys it takes, and how to mirror it.
func printSandbox(w io.Writer, address string, keys []sandbox.Key) error {
	p := &printer{out: w}
	p.printf("The API is at %s\n", address)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range keys {
		k := &keys[i]
		if i == 0 || k.Business != keys[i-1].Business {
			fmt.Fprintf(t, "\n%s\n", k.BusinessName)
		}
		rights := strings.ReplaceAll(strings.Join(k.Scopes, ","), ":read", "")
		if !k.AllLocations {
			rights += fmt.Sprintf("; %d location", len(k.LocationIDs))
		}
		if k.State != sandbox.KeyActive {
			rights = k.State + " by the restaurant"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", k.Role, k.Value, rights)
		if k.WebhookURL != "" {
			fmt.Fprintf(t, "    signs with\t%s\tevents of its orders, to %s\n", k.WebhookSecret, k.WebhookURL)
		}
	}
	p.failed(t.Flush())
	if len(keys) == 0 {
		return p.err
	}
	p.printf(`
Ask it:  curl -H 'Authorization: Bearer %[1]s' %[2]s/me

Mirror it: put that key, main, into a file

    (umask 077 && echo %[1]s > sandbox.key)

and this into larder.yaml:

sources:
  - name: sandbox
    base_url: %[2]s
    key_file: sandbox.key
warehouse: {dsn: "embedded:./larder-data"}

Then

    %[3]s check
    %[3]s run
`, keys[0].Value, address, os.Args[0])
	return p.err
}
