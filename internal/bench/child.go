package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// childCommand makes this program serve a sandbox, so that the service's own CPU
// is counted apart from Larder's.
const childCommand = "serve-sandbox"

// childInfo is what the child prints when it listens.
type childInfo struct {
	BaseURL string        `json:"base_url"`
	Keys    []sandbox.Key `json:"keys"`
}

// counters are what the child answers at /bench.
type counters struct {
	FirstOrders time.Time     `json:"first_orders"` // first request for orders, sold or placed online
	Stats       sandbox.Stats `json:"stats"`
}

func serveChild(args []string) error {
	var opts sandbox.Options
	var before past
	var clock atomic.Int64 // where it stands still, in microseconds; 0: it runs
	flags := flag.NewFlagSet(childCommand, flag.ContinueOnError)
	flags.Int64Var(&opts.Seed, "seed", 1, "")
	flags.IntVar(&opts.Businesses, "businesses", 1, "")
	flags.IntVar(&opts.LocationsPer, "locations", 0, "")
	flags.IntVar(&opts.ProductsPer, "products", 0, "")
	flags.IntVar(&opts.Orders, "orders", 2000, "")
	flags.IntVar(&opts.Days, "days", 365, "")
	flags.BoolVar(&opts.NoLimits, "no-limits", false, "")
	flags.BoolVar(&opts.Live, "live", false, "")
	flags.Float64Var(&opts.Pace, "pace", 1, "")
	flags.StringVar(&opts.Algorithm, "algorithm", sandbox.AlgorithmFixed, "")
	flags.IntVar(&before.days, "guests-for", 0, "")
	flags.Float64Var(&before.perDay, "guests", 0, "")
	flags.IntVar(&before.accepted, "accepted", 0, "")
	pad := flags.Int("pad", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opts.Now = func() time.Time {
		if at := clock.Load(); at != 0 {
			return time.UnixMicro(at)
		}
		return time.Now()
	}
	before.options(&opts)
	s, err := sandbox.New(opts)
	if err != nil {
		return err
	}
	if err := before.play(s, opts.Epoch, &clock); err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	info := childInfo{BaseURL: fmt.Sprintf("http://%s/v1", ln.Addr()), Keys: s.Keys()}
	if err := json.NewEncoder(os.Stdout).Encode(info); err != nil {
		return err
	}
	return sandbox.ServeThrough(context.Background(), ln, s, benchHandler(s, padded(s.Handler(), *pad*1e6)))
}

// benchHandler is the sandbox with counters at /bench, processes told apart below /as/, and /bench/freeze that
// stops the world so that it can be compared. The service's clock goes on: its minutes
// would else have no end, nor would what was used of a limit come back.
func benchHandler(s *sandbox.Sandbox, api http.Handler) http.Handler {
	var first atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bench", func(w http.ResponseWriter, _ *http.Request) {
		c := counters{Stats: s.Stats()}
		if us := first.Load(); us != 0 {
			c.FirstOrders = time.UnixMicro(us)
		}
		if err := json.NewEncoder(w).Encode(c); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	a := &askers{byKey: map[string]*asked{}}
	mux.HandleFunc("GET /bench/askers", func(w http.ResponseWriter, _ *http.Request) {
		if err := json.NewEncoder(w).Encode(a.noted()); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	mux.Handle("/as/", a.through(api))
	mux.HandleFunc("POST /bench/freeze", func(http.ResponseWriter, *http.Request) { s.StopAt(time.Now()) })
	mux.HandleFunc("POST /bench/reset", func(http.ResponseWriter, *http.Request) { s.ResetStats() })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/sales/orders" || r.URL.Path == "/v1/orders" {
			first.CompareAndSwap(0, time.Now().UnixMicro())
		}
		api.ServeHTTP(w, r)
	})
	return mux
}
