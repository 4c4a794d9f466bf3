package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
)

// Options say how large the demo is.
type Options struct {
	Dir         string // its data, configuration and keys; emptied at the start
	Restaurants int
	Days        int
	OrdersADay  int // per restaurant
	PerMinute   int // limit of requests per key
	Seed        int64
	Once        bool     // stop after the first full sync
	Set         []string // "key=value" of its configuration
	Version     string
	Logger      *slog.Logger
	// Past is called before the past days are mirrored.
	Past func(days int)
	// Progress is called about every second until the first full sync is done.
	Progress func(status.Status)
	// Ready is called once when that is done.
	Ready func(Info)

	began time.Time
	zone  *time.Location // of the restaurants
}

// Info says where to look.
type Info struct {
	Config   string // configuration that other commands can use meanwhile
	PageURL  string // empty: it is off
	QueryURL string // empty: it is off
	APIURL   string
	Took     time.Duration
	Status   status.Status
	Proof    syncer.ReconcileReport // every day so far, compared with the service's totals
}

// demoMark begins the configuration of a demo: a folder with it may be emptied.
const demoMark = "# Written by `larder demo`, which empties this folder when it starts.\n"

// Something must happen while one looks, in the middle of the night too: beside those who
// order at the restaurants' own hours, guests come, ever more rarely. So few change no
// day's figures.
const (
	firstGuest  = 5 * time.Second
	rarestGuest = 20 * time.Minute
)

// Run runs sandbox, daemon and page in this process, and the engine beside it, until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	l := &lifecycle.Cleanups{Log: o.Logger}
	defer func() { err = errors.Join(err, l.Close()) }()
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	if err := emptyDemo(o.Dir); err != nil {
		return err
	}
	o.began = time.Now()
	if o.zone, err = time.LoadLocation(sandbox.ZoneName); err != nil {
		return err
	}
	box, err := startDemoSandbox(ctx, l, o)
	if err != nil {
		return err
	}
	file, err := o.writeConfig(ctx, box)
	if err != nil {
		return err
	}
	cfg, err := config.Load(config.Request{File: file, Set: o.Set, WithoutEnvironment: true})
	if err != nil {
		return err
	}
	a := app.New(cfg, o.Logger, o.Version)
	d, err := a.Open(ctx, func(ctx context.Context, sources []syncer.Source, sink *clickhouse.Sink) error {
		return o.playPast(ctx, a, sources, sink)
	})
	if err != nil {
		return err
	}
	guests, leave := context.WithCancel(ctx)
	var ordering sync.WaitGroup
	ordering.Go(func() { o.order(guests, box) })
	defer ordering.Wait()
	defer leave()
	return o.follow(ctx, d, Info{Config: file, APIURL: box.url})
}

// demoOwn are the keys of the configuration that a demo decides itself: it touches
// nothing outside its folder.
var demoOwn = []string{"sources", "shard", "warehouse.dsn", "warehouse.database", "warehouse.cluster", "warehouse.password_file"}

// Settings reads what is set for a demo ("key=value"), before anything is touched.
func Settings(set []string) (*config.Config, error) {
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		for _, own := range demoOwn {
			if key == own || strings.HasPrefix(key, own+".") {
				return nil, lifecycle.UsageError(fmt.Errorf("--set %s: the demo has %s of its own; leave it out, or configure larder run", key, own))
			}
		}
	}
	cfg, err := config.Load(config.Request{File: os.DevNull, Set: set, WithoutSources: true, WithoutEnvironment: true})
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		for i := range wrong.Problems {
			wrong.Problems[i].File = "" // there is none yet
		}
	}
	return cfg, err
}

// order places an order now and then, in one restaurant after the other.
func (o Options) order(ctx context.Context, box *demoService) {
	wait := firstGuest
	for i := 0; lifecycle.Pause(ctx, wait); i++ {
		wait = min(wait*5/4, rarestGuest)
		r := box.Restaurant(i % o.Restaurants)
		locations := r.LocationIDs()
		if _, err := r.PlaceOrder(sandbox.OrderSpec{Location: locations[i/o.Restaurants%len(locations)]}); err != nil {
			o.Logger.Warn("a guest's online order was refused", "error", err)
		}
	}
}

// follow runs the daemon and tells how the first sync goes.
func (o Options) follow(ctx context.Context, d *app.Daemon, info Info) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		err := d.Serve(ctx)
		stop()
		ended <- err
	}()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for announced := false; ; {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if announced {
			continue
		}
		info.Status = d.Status()
		o.Progress(info.Status)
		if settled(info.Status) {
			announced = true
			info.Took = time.Since(o.began)
			info.QueryURL, info.PageURL = d.QueryURL(), d.PageURL()
			info.Proof = o.prove(ctx, d)
			o.Ready(info)
			if o.Once {
				stop()
			}
		}
	}
}

// proofWait is how long the first comparison may take: a day that differs at first
// sight is looked at again minutes later, and nobody waits for that here.
const proofWait = 30 * time.Second

// prove compares every day so far; the report is empty when that came to no end.
func (o Options) prove(ctx context.Context, d *app.Daemon) syncer.ReconcileReport {
	ctx, cancel := context.WithTimeout(ctx, proofWait)
	defer cancel()
	var report syncer.ReconcileReport
	passes, err := d.Syncer(ctx)
	if err == nil {
		report, err = passes.Reconcile(ctx, syncer.ReconcileRequest{}, nil)
	}
	if err != nil {
		o.Logger.Warn("not every day could be compared with the service's totals yet; larder reconcile does", "error", err)
		return syncer.ReconcileReport{}
	}
	return report
}

// settled is true when every stream that is on has been filled.
func settled(s status.Status) bool {
	for i := range s.Sources {
		src := &s.Sources[i]
		if src.State != status.StateRunning {
			return false
		}
		for j := range src.Streams {
			if st := &src.Streams[j]; st.State != status.StateOff && (st.State != status.StateRunning || st.LastSuccess.IsZero()) {
				return false
			}
		}
	}
	return len(s.Sources) > 0
}

// emptyDemo makes way for a new demo: the world is invented anew each time.
func emptyDemo(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return lifecycle.UsageError(fmt.Errorf("demo folder: %w", err))
	}
	mark, err := os.ReadFile(filepath.Join(dir, "larder.yaml"))
	if err != nil || !strings.HasPrefix(string(mark), demoMark) {
		return lifecycle.UsageError(fmt.Errorf("demo folder: %s is not empty and holds no demo; name another one with --dir", dir))
	}
	if warehouse.Listens(context.Background(), filepath.Join(dir, "data")) {
		return lifecycle.WarehouseError(fmt.Errorf("a demo is running in %s already; stop it, or name another folder with --dir", dir))
	}
	for _, name := range []string{"data", "keys"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return lifecycle.WarehouseError(fmt.Errorf("demo folder: %w", err))
		}
	}
	return nil
}

// demoService is the sandbox of a demo, listening.
type demoService struct {
	*sandbox.Sandbox
	url string
}

func startDemoSandbox(ctx context.Context, l *lifecycle.Cleanups, o Options) (*demoService, error) {
	world := o.world()
	world.Logger = o.Logger
	world.Limits = types.RateLimits{PerMinute: o.PerMinute, BusinessPerMinute: 5 * o.PerMinute, HeavyPerMinute: o.PerMinute}
	box, err := sandbox.New(world)
	if err != nil {
		return nil, lifecycle.UsageError(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- sandbox.Serve(serving, listener, box) }()
	l.Add("sandbox", 10*time.Second, func(context.Context) error { stop(); return <-served })
	return &demoService{box, sandboxURL(listener)}, nil
}

// writeConfig leaves a configuration that the other commands can use while the
// demo runs, with a file for each key.
func (o Options) writeConfig(ctx context.Context, box *demoService) (string, error) {
	keys := filepath.Join(o.Dir, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return "", lifecycle.WarehouseError(fmt.Errorf("demo folder: %w", err))
	}
	hooks := o.address(ctx, "webhooks.listen", "127.0.0.1:0")
	var b strings.Builder
	b.WriteString(demoMark + "sources:\n")
	for i := range o.Restaurants {
		k := box.Key(i, sandbox.RoleMain)
		name := sourceName(k.BusinessName, i)
		for file, secret := range map[string]string{name: k.Value, name + ".webhook": k.WebhookSecret} {
			if err := os.WriteFile(filepath.Join(keys, file), []byte(secret+"\n"), 0o600); err != nil {
				return "", lifecycle.WarehouseError(fmt.Errorf("demo folder: %w", err))
			}
		}
		fmt.Fprintf(&b, "  - {name: %s, base_url: %q, key_file: keys/%s, webhook: {secret_file: keys/%s.webhook}}\n", name, box.url, name, name)
		if hooks == "" {
			continue
		}
		box.OnlineOrders(i).Advance(time.Now().UnixMicro()) // what was ordered before is polled
		if err := box.UpdateKey(k.Value, func(k *sandbox.Key) { k.WebhookURL = "http://" + hooks + "/webhooks/" + name }); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&b, "warehouse: {dsn: \"embedded:./data\", http_listen: %q, http_unconfined: %t, flush_interval: 100ms}\n",
		o.address(ctx, "warehouse.http_listen", "127.0.0.1:8123"), warehouse.Confinable() != nil)
	fmt.Fprintf(&b, "webhooks: {listen: %q}\n", hooks)
	fmt.Fprintf(&b, "web: {listen: %q}\n", o.address(ctx, "web.listen", "127.0.0.1:9464"))
	b.WriteString("schedule: {incremental: \"@every 10s\", snapshots: \"@every 1m\"}\n")
	file := filepath.Join(o.Dir, "larder.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return "", lifecycle.WarehouseError(fmt.Errorf("demo folder: %w", err))
	}
	return file, nil
}

// address is what is set for a key, so that commands which read the file find the demo
// there; else the wanted one, or a free one.
func (o Options) address(ctx context.Context, key, wanted string) string {
	for _, s := range slices.Backward(o.Set) { // the last one counts
		if value, ok := strings.CutPrefix(s, key+"="); ok {
			return value
		}
	}
	return o.port(ctx, wanted)
}

// port returns the address, or when it is taken, one that is free.
func (o Options) port(ctx context.Context, wanted string) string {
	for _, address := range []string{wanted, "127.0.0.1:0"} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			o.Logger.Warn("the usual port is taken, another one is used", "address", address)
			continue
		}
		free := l.Addr().String()
		if err := l.Close(); err == nil {
			return free
		}
	}
	return wanted // and the daemon says what is wrong with it
}

// sourceName makes a source's name of a restaurant's.
func sourceName(business string, i int) string {
	plain := strings.NewReplacer("ă", "a", "â", "a", "î", "i", "ș", "s", "ş", "s", "ț", "t", "ţ", "t", " ", "-").Replace(strings.ToLower(business))
	var b strings.Builder
	for _, r := range plain {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			b.WriteRune(r)
		}
	}
	name := strings.Trim(b.String(), "-")
	if name == "" || len(name) > 40 {
		return fmt.Sprintf("restaurant-%d", i+1)
	}
	return name
}
