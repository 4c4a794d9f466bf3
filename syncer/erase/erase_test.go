package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/write"
)

// order is an online order of somebody, as the service sends it. Without placed_at it cannot be
// understood, and goes to quarantine.
func order(id, name, phone string, understood bool) string {
	row := fmt.Sprintf(`{"id":%q,"external_id":"e","number":null,"pickup_code":null,"status":"received","test":false,"type":"pickup","location_id":"l1",`+
		`"scheduled_for":null,"placed_at":"2026-03-01T10:00:00Z","answer_by":null,"accepted_at":null,"estimated_ready_at":null,"ready_at":null,"completed_at":null,`+
		`"rejected_at":null,"cancelled_at":null,"rejection":null,"cancellation":null,"customer":{"name":%q,"phone":%q,"email":null},"delivery":null,`+
		`"notes":%[2]q,"allergies":null,"cutlery":null,"items":[],"totals":{"items":"22.00","deposit":"0.00","tip":"0.00","total":"22.00"},`+
		`"payment":{"status":"unpaid","method":"cash","reference":null},"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z"}`, id, name, phone)
	if !understood {
		row = strings.Replace(row, `"2026-03-01T10:00:00Z","answer_by"`, `"yesterday","answer_by"`, 1)
	}
	return row
}

// withOrders runs a test over a warehouse that holds these rows of the restaurant b1.
func withOrders(t *testing.T, rows []string, test func(t *testing.T, store *memsink.Store, sink *memsink.Sink, orders func() Orders)) {
	t.Helper()
	all := registry.All()
	def := all[slices.IndexFunc(all, func(d *registry.Definition) bool { return d.Name == registry.Online })]
	synctest.Test(t, func(t *testing.T) {
		store := memsink.NewStore()
		sink := memsink.Open(store, memsink.Options{})
		defer sink.Close(context.Background())
		w := write.NewWriter(write.Options{
			Table: def.Plan.Table(), Committer: write.NewCommitter(sink), Counted: func(write.Counts) {},
			Commit: func() *sinks.Commit { return &sinks.Commit{Source: "s", Business: "b1", Stream: def.Name} },
		})
		in, m := w.Begin(w.NextWalk(), len(rows)), def.Plan.NewMapper()
		for i, raw := range rows {
			in.Row(m, []byte(raw), uint64(i+1), time.Now(), write.RowContext{Columns: def.Polled})
		}
		if err := w.Store(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		test(t, store, sink, func() Orders { // as a process that has just begun has them
			return Orders{Store: sink.Personal(), Table: def.Plan.Table(), Business: "b1", Forgotten: personal.NewForgotten(), Log: slog.New(slog.DiscardHandler)}
		})
	})
}

// holds reports whether what is stored of an order, live or in quarantine, has a text.
func holds(store *memsink.Store, id, text string) bool {
	if strings.Contains(store.Row(registry.Online, "b1", id).Raw, text) {
		return true
	}
	return slices.ContainsFunc(store.Entries(), func(e memsink.Entry) bool { return e.ID == id && strings.Contains(string(e.Raw), text) })
}

func durable(context.Context) error { return nil }

func TestACustomerIsForgottenByPhoneWhereverTheOrdersAre(t *testing.T) {
	rows := []string{
		order("o1", "Ana", "0722 123 456", true),
		order("o2", "Dan", "0733 000 000", true),
		order("o3", "Ana", "+40722123456", false),
	}
	withOrders(t, rows, func(t *testing.T, store *memsink.Store, _ *memsink.Sink, orders func() Orders) {
		o := orders()
		erased, err := o.Forget(t.Context(), nil, "+40 722 123 456", "", durable)
		if err != nil || !slices.Equal(erased.Orders, []string{"o1"}) || erased.Entries != 1 {
			t.Errorf("%+v, %v", erased, err)
		}
		for id, want := range map[string]bool{"o1": false, "o2": true, "o3": false} {
			if name := map[bool]string{false: "Ana", true: "Dan"}[want]; holds(store, id, name) != want {
				t.Errorf("what is stored of %s has %s: %t", id, name, !want)
			}
		}
		again := orders()
		if err := again.Restore(t.Context()); err != nil || !slices.Equal(again.Forgotten.All(), []string{"o1", "o3"}) {
			t.Errorf("a later process has forgotten %q, %v", again.Forgotten.All(), err)
		}
	})
}

// cut is a warehouse that is away when rows are to be redacted.
type cut struct{ sinks.Personal }

var errCut = errors.New("the process was killed")

func (cut) Redact(context.Context, sinks.Redaction) error { return errCut }

func TestWhatWasCutShortIsErasedAtTheNextStart(t *testing.T) {
	withOrders(t, []string{order("o1", "Ana", "0722123456", true)}, func(t *testing.T, store *memsink.Store, sink *memsink.Sink, orders func() Orders) {
		o := orders()
		o.Store = cut{sink.Personal()}
		if _, err := o.Forget(t.Context(), []string{"o1"}, "", "", durable); !errors.Is(err, errCut) || !holds(store, "o1", "Ana") {
			t.Fatalf("it was not cut short: %v", err)
		}
		o = orders()
		if err := o.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		keep, err := personal.New(personal.Keep, nil)
		if err != nil {
			t.Fatal(err)
		}
		if erased, err := o.Settle(t.Context(), "s", keep, false); err != nil || !slices.Equal(erased.Orders, []string{"o1"}) || holds(store, "o1", "Ana") {
			t.Errorf("%+v, %v: %s", erased, err, store.Row(registry.Online, "b1", "o1").Raw)
		}
	})
}

// A line that was deleted from the configuration by mistake must not cost what was kept on purpose.
func TestAPolicyErasesOnlyWhatItIsAskedTo(t *testing.T) {
	withOrders(t, []string{order("o1", "Ana", "0722123456", true)}, func(t *testing.T, store *memsink.Store, _ *memsink.Sink, orders func() Orders) {
		o, drop := orders(), personal.Policy{}
		if n, err := o.Exceeding(t.Context(), "s", drop); n != 1 || err != nil {
			t.Errorf("%d orders hold more than the policy keeps, %v", n, err)
		}
		for _, erases := range []bool{false, true} {
			if _, err := o.Settle(t.Context(), "s", drop, erases); err != nil || holds(store, "o1", "Ana") == erases {
				t.Errorf("erases %t: %v, %s", erases, err, store.Row(registry.Online, "b1", "o1").Raw)
			}
		}
	})
}
