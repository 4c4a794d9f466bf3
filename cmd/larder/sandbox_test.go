package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

func TestTheSandboxsKeysFitAndItsConfigurationLoads(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Businesses: 2, Orders: -1})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := printSandbox(&out, "http://127.0.0.1:8080/v1", box.Keys()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 && !strings.HasPrefix(line, "Ask it:") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, k := range box.Keys() {
		if !strings.Contains(text, k.Value) {
			t.Errorf("no %s key:\n%s", k.Role, text)
		}
	}
	_, yaml, _ := strings.Cut(text, "\n\nsources:")
	yaml, _, _ = strings.Cut("sources:"+yaml, "\n\n")
	if n := strings.Count(yaml, "\n") + 1; n != 5 {
		t.Errorf("%d lines of YAML:\n%s", n, yaml)
	}
	file := filepath.Join(t.TempDir(), "larder.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil || cfg.Sources[0].BaseURL != "http://127.0.0.1:8080/v1" {
		t.Errorf("%v\n%s", err, yaml)
	}
}

// What the sandbox's own flags cannot mean is said before anything listens.
func TestSandboxUsage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.want(2, "guests come with --live only", "sandbox", "--online-orders", "5")
	h.want(2, "--webhook-url: an address begins with http:// or https://", "sandbox", "--webhook-url", "127.0.0.1:80")
	h.want(2, "online orders: -1 a day; allowed: 0 or more", "sandbox", "--live", "--online-orders=-1")
	h.want(2, "webhook_lost", "sandbox", "--fault", "webhook_gone=1")
}

func TestReadingsAndFaultsAreFieldsByName(t *testing.T) {
	var r sandbox.Readings
	for _, text := range []string{"shared-ids", "strange-ids=1", "long-floats=false", "stamp-precision=100ns", "short-pages=7"} {
		if err := set(&r, text); err != nil {
			t.Error(err)
		}
	}
	if want := (sandbox.Readings{SharedIDs: true, StrangeIDs: true, StampPrecision: 100, ShortPages: 7}); r != want {
		t.Errorf("%+v", r)
	}
	f, err := parseFault("server_error=0.25,count=3,retry_after=9,delay=300ms,route=/sales/orders")
	if want := (faults.Fault{Kind: "server_error", Probability: 0.25, Count: 3, RetryAfter: 9, Delay: 300 * time.Millisecond, Route: "/sales/orders"}); err != nil || f != want {
		t.Errorf("%v, %+v", err, f)
	}
	if f, err := parseFault("hang"); err != nil || f.Probability != 1 {
		t.Errorf("%v, %+v", err, f)
	}
	for text, want := range map[string]string{
		"short-page=7": `"short-page" is unknown; known are range-by-change, `, "short-pages=many": `short-pages "many"; allowed: int`, "stamp-delay": `stamp-delay ""; allowed: time.Duration`,
		"short-pages=": `short-pages ""; allowed: int`, "short-pages=~": `short-pages "~"; allowed: int`, "short-pages=7.9": `short-pages "7.9"; allowed: int`,
		"shared-ids=": `shared-ids ""; allowed: bool`, "stamp-delay=": `stamp-delay ""; allowed: time.Duration`,
	} {
		if err := set(&r, text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"server_error=": `probability ""; allowed: float64`, "hang,count=~": `count "~"; allowed: int`, "hang,route": `route ""; allowed: string`,
		"hang,route=": `route ""; allowed: string`, "latency,delay=": `delay ""; allowed: time.Duration`, "hang,": `"" is unknown; known are kind, `,
	} {
		if _, err := parseFault(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheSandboxTellsWhereEventsGo(t *testing.T) {
	keys := []sandbox.Key{{Role: "main", Value: "v1", BusinessName: "Bistro", State: sandbox.KeyActive, WebhookURL: "http://127.0.0.1:9470/webhooks/bistro", WebhookSecret: "whsec_1"}, {Role: "orders", Value: "v2"}}
	var out strings.Builder
	if err := printSandbox(&out, "http://127.0.0.1:8080/v1", keys); err != nil {
		t.Fatal(err)
	}
	const want = "    signs with  whsec_1  events of its orders, to http://127.0.0.1:9470/webhooks/bistro\n"
	if text := out.String(); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}
