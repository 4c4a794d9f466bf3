package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/enginetest"
	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/syncer"
)

// guest is what the service knows of a customer: an order, and words that are of that person.
type guest struct {
	order, phone string
	words        []string
}

// customers are the guests of the world's orders, by phone.
func (w *world) customers(t *testing.T) map[string][]guest {
	t.Helper()
	found := map[string][]guest{}
	err := w.Truth(w.Key(0, sandbox.RoleMain).Value, sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		var o struct {
			ID       string
			Customer struct{ Name, Phone, Email string }
			Delivery struct{ Address string }
		}
		if err := json.Unmarshal(r.Row, &o); err != nil {
			return err
		}
		g := guest{order: o.ID, phone: o.Customer.Phone}
		for _, word := range []string{o.Customer.Phone, o.Customer.Name, o.Customer.Email, o.Delivery.Address} {
			if word != "" {
				g.words = append(g.words, word)
			}
		}
		found[g.phone] = append(found[g.phone], g)
		return nil
	})
	if err != nil || len(found) < 2 {
		t.Fatalf("%d customers, %v", len(found), err)
	}
	return found
}

// keeping gives the world's source another personal_data.
func (w *world) keeping(t *testing.T, mode string, log slog.Handler) {
	t.Helper()
	file := filepath.Join(w.dir, "larder.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), ", personal_data")
	before = strings.TrimSuffix(strings.Split(before, "key_file: r0")[0], " ") + " key_file: r0"
	_, after, _ := strings.Cut(string(text), "}\n")
	if mode != "" {
		before += ", personal_data: " + mode
	}
	if err := os.WriteFile(file, []byte(before+"}\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Request{File: file})
	if err != nil {
		t.Fatal(err)
	}
	w.app = w.another(cfg, log)
}

// holding are the files of the data folder in which one of the words stands, by word.
func (w *world) holding(t *testing.T, words ...string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, word := range words {
		if files := enginetest.FilesWith(t, w.app.Config.Warehouse.DSN.Dir(), word); len(files) > 0 {
			n[word] = len(files)
		}
	}
	return n
}

// checked is what a check says.
func (w *world) checked(t *testing.T) string {
	t.Helper()
	var said []string
	if err := w.app.Checker().Run(t.Context(), func(f check.Finding) { said = append(said, f.Text+" "+f.Advice) }); err != nil {
		t.Errorf("check: %v", err)
	}
	return strings.Join(said, "\n")
}

// A person is erased from all that the process wrote, beside the daemon, and stays away: also
// when all is fetched anew. Another setting erases everybody.
func TestAPersonIsForgotten(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Seed: 6, Orders: -1, NoLimits: true, OnlineOrders: 60})
	w.migrated(t)
	log := &polling.Text{}
	w.keeping(t, "keep", slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	people := w.customers(t)
	var person []guest
	for _, orders := range people {
		if len(orders) > len(person) {
			person = orders
		}
	}
	var orders, others []string
	for _, g := range person {
		orders = append(orders, g.order)
	}
	for phone := range people {
		if phone != person[0].phone {
			others = append(others, phone)
		}
	}
	slices.Sort(orders)

	_, stop := w.daemon(t, w.app)
	w.sync(t)
	if len(w.holding(t, person[0].phone)) == 0 {
		t.Fatal("the phone is not in the data folder: looking for it proves nothing")
	}
	report, err := w.app.Forget(t.Context(), syncer.ForgetRequest{Source: "r0", Phone: " " + person[0].phone}, time.Minute)
	if err != nil || !slices.Equal(report.Orders, orders) {
		t.Errorf("forgot %+v, %v; the orders are %v", report, err, orders)
	}
	again, err := w.app.Forget(t.Context(), syncer.ForgetRequest{Source: "r0", Orders: orders[:1]}, time.Minute)
	if err != nil || len(again.Orders) > 0 {
		t.Errorf("forgotten twice: %+v, %v", again, err)
	}
	if n := w.holding(t, person[0].phone); len(n) > 0 {
		t.Errorf("still there: %v", n)
	}
	if _, err := w.app.Sync(t.Context(), syncer.Selection{Full: true}, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	if _, found, err := w.verify(t); err != nil || len(found) > 0 {
		t.Errorf("verify: %v\n%s", err, strings.Join(found, "\n"))
	}
	stop()
	w.engineStays(t)
	w.sync(t) // another process, which knows it from the warehouse
	if n := w.holding(t, person[0].phone); len(n) > 0 {
		t.Errorf("it came back: %v", n)
	}
	if n := w.holding(t, others...); len(n) != len(others) {
		t.Errorf("of %d others %d are there", len(others), len(n))
	}

	// A line that was lost erases nothing.
	w.keeping(t, "", slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.sync(t)
	if n := w.holding(t, others...); len(n) != len(others) {
		t.Errorf("without a setting, of %d others %d are there", len(others), len(n))
	}
	if said := w.checked(t); !strings.Contains(said, "Nobody has set personal_data") {
		t.Errorf("check says\n%s", said)
	}

	w.dropsEverybody(t, log, people)
}

// dropsEverybody sets that nothing is kept, and finds nobody in the data folder or the log.
func (w *world) dropsEverybody(t *testing.T, log *polling.Text, people map[string][]guest) {
	t.Helper()
	w.keeping(t, "drop", slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if said := w.checked(t); !strings.Contains(said, "stored orders hold more of the customer than personal_data: drop keeps") {
		t.Errorf("check says\n%s", said)
	}
	w.sync(t)
	if said := w.checked(t); strings.Contains(said, "hold more of the customer") {
		t.Errorf("check says\n%s", said)
	}
	var words []string
	for _, known := range people {
		for _, g := range known {
			words = append(words, g.words...)
		}
	}
	if n := w.holding(t, words...); len(n) > 0 {
		t.Errorf("personal_data is drop, and there are %v", n)
	}
	if _, found, err := w.verify(t); err != nil || len(found) > 0 {
		t.Errorf("verify: %v\n%s", err, strings.Join(found, "\n"))
	}
	for _, word := range words {
		if strings.Contains(log.String(), word) {
			t.Errorf("%q is in the log", word)
		}
	}
	for _, want := range []string{"stored orders hold more of their customers than personal_data keeps", "what is stored of a customer was erased"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// Of a source that has mirrored nothing there is nothing to erase, and a request without a
// person is refused before anything is opened.
func TestForgettingNobody(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true})
	w.migrated(t)
	_, err := w.app.Forget(t.Context(), syncer.ForgetRequest{Source: "r0", Phone: "0722123456"}, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "source r0: nothing of it is mirrored yet") {
		t.Errorf("error %v", err)
	}
	_, err = w.app.Forget(t.Context(), syncer.ForgetRequest{Source: "other", Phone: "0722123456"}, time.Minute)
	if lifecycle.ExitCode(err) != lifecycle.ExitUsage {
		t.Errorf("error %v", err)
	}
}
