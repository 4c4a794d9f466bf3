package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/larder-sync/larder/sinks/engine/program"
)

// engineCommand makes this program an engine, as it does larder.
const engineCommand = "engine"

// scenario is one measurement; it prints a line of its own for each figure.
type scenario struct {
	name  string
	about string
	run   func(ctx context.Context, r *report) error
}

var theFleet fleet

var scenarios = []scenario{
	{"backfill", "200,000 orders from an unlimited sandbox: speed, CPU, heap", backfill},
	{"start", "a daemon with a filled warehouse: memory, and the time until it is ready", start},
	{"fleet", "1,000 restaurants: first mirror, rest, changes, restart, kill -9", theFleet.run},
	{"shards", "four processes share 1,000 restaurants, one is killed and another joins: who asks when", shards},
	{"pace", "use of the documented limits under each way to count a minute", pace},
	{"quiet", "requests, inserts and parts while nothing changes", quiet},
	{"menus", "menus of 500 products that stay as they are: requests, inserts, CPU", menus},
	{"online", "50,000 online orders at the documented limits: use of their pages", online},
	{"moves", "from a restaurant's move of an online order to its row in order_events", moves},
	{"webhooks", "200 webhooks a second for a minute, half of them forged", hooks},
	{"freshness", "from a change in the service to its being visible", freshness},
	{"kill", "kill -9 at 30 random instants of a sync that is under way", kill},
	{"resync", "a full resync of a million orders beside incremental walks", resync},
	{"verify", "every one of a million orders compared with the API: time and memory", verify},
	{"heal", "damage of every kind in the warehouse, found and healed by larder reconcile", heal},
	{"memory", "the daemon in small containers, with a backfill and hungry readers at once", memoryBench},
	{"large", "nine lists that answer 60 MB each at once: memory", large},
	{"queries", "dashboard queries on 10 million orders of 100 restaurants", queries},
	{"panels", "every panel of the owners' dashboards, and each dashboard, on as many orders with random ids", panels(queryFilling)},
	{"panels-by-time", "the same with ids that follow time", panels(queryByTime)},
	{"panels-tenth", "panels with a tenth of the restaurants, and of the orders", panels(queryFilling.tenth())},
	{"panels-by-time-tenth", "panels-by-time with a tenth of the restaurants, and of the orders", panels(queryByTime.tenth())},
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == engineCommand {
		exit(program.Main(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(serveChild(os.Args[2:]))
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&theFleet.sources, "sources", 1000, "restaurants of fleet and shards")
	flags.StringVar(&theFleet.phases, "phases", "rest,15,30,restart,kill", "of fleet: rest, restart, kill, or changes a second; in this order")
	flags.DurationVar(&theFleet.rest, "rest", 5*time.Minute, "length of a phase of fleet")
	_ = flags.Parse(os.Args[1:]) // it exits with an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(runAll(ctx, flags.Args()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runAll runs the named scenarios, all of them without a name.
func runAll(ctx context.Context, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name }) {
			return fmt.Errorf("no scenario %q: there are %s", name, strings.Join(scenarioNames(), ", "))
		}
	}
	for _, s := range scenarios {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		fmt.Printf("\n## %s: %s\n\n", s.name, s.about)
		began := time.Now()
		if err := s.run(ctx, &report{}); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("(%s)\n", time.Since(began).Round(time.Second))
	}
	return nil
}

func scenarioNames() []string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// report prints figures as rows of a table.
type report struct{ rows int }

func (r *report) row(what, format string, args ...any) {
	if r.rows == 0 {
		fmt.Println("| figure | value |\n|---|---|")
	}
	r.rows++
	fmt.Printf("| %s | %s |\n", what, fmt.Sprintf(format, args...))
}
