package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/polling"
)

// takesWebhooks has the world's source take webhooks, signed with the secret of its key, and
// ask for orders every so often.
func (w *world) takesWebhooks(t *testing.T, every string) {
	t.Helper()
	key := w.Key(0, sandbox.RoleMain)
	file := filepath.Join(w.dir, "larder.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "key_file: r0", "key_file: r0, webhook: {secret_file: secret}", 1) +
		"webhooks: {listen: \"127.0.0.1:0\"}\nschedule: {online_orders: \"" + every + "\"}\n"
	for path, text := range map[string]string{file: changed, filepath.Join(w.dir, "secret"): key.WebhookSecret} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	w.app.Config = cfg
}

// anOrder is an order of the world's key, as the service shows it.
func (w *world) anOrder(t *testing.T) string {
	t.Helper()
	var order string
	err := w.Truth(w.Key(0, sandbox.RoleMain).Value, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		order = string(r.Row)
		return nil
	})
	if err != nil || order == "" {
		t.Fatalf("order %q, %v", order, err)
	}
	return order
}

// moved is an order that has become ready just now.
func moved(order, id string) string {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	text := order
	for name, value := range map[string]string{"id": id, "status": "ready", "updated_at": now} {
		text = replaceField(text, name, value)
	}
	return strings.Replace(text, `"ready_at":null`, `"ready_at":"`+now+`"`, 1)
}

// replaceField gives the first field of a name another text.
func replaceField(row, name, value string) string {
	before, rest, _ := strings.Cut(row, `"`+name+`":"`)
	_, after, _ := strings.Cut(rest, `"`)
	return before + `"` + name + `":"` + value + `"` + after
}

// event is a webhook of an order.
func event(id, order string) string {
	return fmt.Sprintf(`{"id":%q,"type":"order.ready","created_at":"2026-01-01T08:00:00Z","test":false,"data":{"order":%s}}`, id, order)
}

// followsOrders waits until the online orders that there are were mirrored.
func followsOrders(t *testing.T, d *Daemon) {
	t.Helper()
	polling.Until(t, "the stream runs", func() bool {
		now := d.Status()
		st := now.Stream("r0", "online_orders")
		return st != nil && st.State == "running" && st.Progress == nil
	})
}

func postEvent(t *testing.T, address, path, secret, body string) int {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	at := time.Now().Unix()
	fmt.Fprintf(mac, "%d.%s", at, body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Service-Signature", fmt.Sprintf("t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, err := io.ReadAll(resp.Body); err != nil || len(said) > 0 {
		t.Errorf("answer %q, %v", said, err)
	}
	return resp.StatusCode
}

// An order that a webhook brings is in the warehouse when it is acknowledged, without its
// customer; what is forged is not. The sandbox signs a ping as the service would.
func TestAWebhookIsInTheWarehouse(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 6, Orders: -1, NoLimits: true, OnlineOrders: 100, Now: time.Now}) // as its signatures need
	w.migrated(t)
	w.takesWebhooks(t, "@every 1h")
	d, stop := w.daemon(t, w.app)
	defer stop()
	address, key := d.webhooks.Addr().String(), w.Key(0, sandbox.RoleMain)
	w.app.Config.Webhooks.Listen = address // of which check asks; the system has chosen the port
	followsOrders(t, d)
	order := moved(w.anOrder(t), "o_webhook")
	if code := postEvent(t, address, "/webhooks/r0", "whsec_other", event("evt_0", moved(order, "o_forged"))); code != 401 {
		t.Errorf("a forged one: %d", code)
	}
	for range 2 {
		if code := postEvent(t, address, "/webhooks/r0", key.WebhookSecret, event("evt_1", order)); code != 204 {
			t.Fatalf("a genuine one: %d", code)
		}
	}
	got := w.ask(t, "SELECT id, status, via, toString(isNull(customer_name)) FROM online_orders WHERE id LIKE 'o\\_%' AND via = 'webhook'")
	if want := []string{"o_webhook", "ready", "webhook", "1"}; !slices.Equal(strings.Fields(strings.Join(got, " ")), want) {
		t.Errorf("stored %q, want %q", got, want)
	}
	for phone := range w.customers(t) {
		if n := w.holding(t, phone); len(n) > 0 {
			t.Errorf("a customer is in the data folder: %v", n)
		}
	}
	got = w.ask(t, "SELECT status, via, toString(delay_seconds < 60) FROM order_events WHERE order_id = 'o_webhook' AND status = 'ready'")
	if want := []string{"ready", "webhook", "1"}; !slices.Equal(strings.Fields(strings.Join(got, " ")), want) {
		t.Errorf("events %q, want %q", got, want)
	}

	if err := w.UpdateKey(key.Value, func(k *sandbox.Key) { k.WebhookURL = "http://" + address + "/webhooks/r0" }); err != nil {
		t.Fatal(err)
	}
	said := func() string {
		var found []string
		for _, f := range w.app.Checker().CheckSources(t.Context()) {
			found = append(found, f.Text+" "+f.Advice)
		}
		return strings.Join(found, "\n")
	}
	if found := said(); !strings.Contains(found, "a ping came in by webhook, signed rightly") || d.receiver.LastPing("r0").IsZero() {
		t.Errorf("last ping %s, check says\n%s", d.receiver.LastPing("r0"), found)
	}
	if now := d.Status(); now.Sources[0].LastPing.IsZero() {
		t.Error("status has no last ping")
	}
	if err := w.UpdateKey(key.Value, func(k *sandbox.Key) { k.WebhookSecret = "whsec_other" }); err != nil {
		t.Fatal(err)
	}
	if found := said(); !strings.Contains(found, "answered with 401 Order events are refused as forged: put the webhook secret of this key into webhook.secret_file") {
		t.Errorf("signed with another secret, check says\n%s", found)
	}
	if err := w.UpdateKey(key.Value, func(k *sandbox.Key) { k.WebhookSecret = key.WebhookSecret }); err != nil {
		t.Fatal(err)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer elsewhere.Close()
	for url, want := range map[string]string{
		elsewhere.URL + "/webhooks/r0":          "a ping was answered well, and did not come in here The webhook URL of the key leads elsewhere",
		"http://" + address + "/webhooks/other": "answered with 404 The webhook URL of the key must end with /webhooks/r0",
		"http://127.0.0.1:1/webhooks/r0":        "the ping was not answered",
		"":                                      "its key has no webhook URL",
	} {
		if err := w.UpdateKey(key.Value, func(k *sandbox.Key) { k.WebhookURL = url }); err != nil {
			t.Fatal(err)
		}
		if found := said(); !strings.Contains(found, want) {
			t.Errorf("%s: want %q in\n%s", url, want, found)
		}
	}
}

// What larder run would not start with, check finds.
func TestCheckReadsTheOtherSecretsOfASource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	w.takesWebhooks(t, "@every 1h")
	empty, short, none := filepath.Join(w.dir, "empty"), filepath.Join(w.dir, "short"), filepath.Join(w.dir, "none")
	quoted, named := filepath.Join(w.dir, "quoted"), filepath.Join(w.dir, "named")
	for path, text := range map[string]string{empty: "\n", short: "0123456789", quoted: `"whsec_1"`, named: "SECRET=whsec_1"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &w.app.Config.Sources[0]
	good := *s
	for _, c := range []struct{ secret, next, mode, key, want string }{
		{good.Webhook.SecretFile, "", "drop", none, ""},
		{good.Webhook.SecretFile, none, "pseudonymise", "", ""}, // the one comes later, the other is made
		{none, "", "drop", "", "webhook.secret_file: file " + none + ": no such file"},
		{good.Webhook.SecretFile, empty, "drop", "", "webhook.next_secret_file: file " + empty + " is empty"},
		{quoted, "", "drop", "", "webhook.secret_file: file " + quoted + " has quotes around the secret"},
		{good.Webhook.SecretFile, named, "drop", "", "webhook.next_secret_file: file " + named + " begins with a name and ="},
		{good.Webhook.SecretFile, "", "pseudonymise", none, "warehouse.personal_data_key_file: file " + none + ": no such file"},
		{good.Webhook.SecretFile, "", "pseudonymise", short, "warehouse.personal_data_key_file: file " + short + ": the key of pseudonyms has 10 bytes"},
	} {
		s.Webhook.SecretFile, s.Webhook.NextSecretFile, s.PersonalData, w.app.Config.Warehouse.PersonalDataKeyFile = c.secret, c.next, c.mode, c.key
		var wrong []string
		for _, f := range w.app.Checker().CheckSources(t.Context()) {
			if f.Code != 0 {
				wrong = append(wrong, f.Text)
			}
		}
		if text := strings.Join(wrong, "; "); !strings.HasPrefix(strings.TrimPrefix(text, "source r0: "), c.want) || (c.want == "") != (text == "") {
			t.Errorf("%+v: found %q", c, text)
		}
		if _, err := w.app.sources(nil); (err == nil) != (c.want == "") {
			t.Errorf("%+v: larder run: %v", c, err)
		}
	}
}

// Before the daemon runs, a ping that nobody takes is no fault of the configuration.
func TestCheckBeforeWebhooksAreTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	w.takesWebhooks(t, "@every 1h")
	w.app.Config.Webhooks.Listen = "127.0.0.1:1"
	if err := w.UpdateKey(w.Key(0, sandbox.RoleMain).Value, func(k *sandbox.Key) { k.WebhookURL = "http://127.0.0.1:1/webhooks/r0" }); err != nil {
		t.Fatal(err)
	}
	for _, f := range w.app.Checker().CheckSources(t.Context()) {
		if f.Code != 0 {
			t.Errorf("%s %s", f.Text, f.Advice)
		}
		if f.Mark == "!" && !strings.Contains(f.Text, "nobody listens at webhooks.listen (127.0.0.1:1) yet") {
			t.Error(f.Text)
		}
	}
}
