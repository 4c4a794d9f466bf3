package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/check"
	"github.com/larder-sync/larder/internal/credentials"
	"github.com/larder-sync/larder/internal/inbound"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/sinks/clickhouse/connection"
	"github.com/larder-sync/larder/syncer"
	"github.com/larder-sync/larder/syncer/status"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/verify"
)

// oneStream is the pass of one stream.
func oneStream(o status.StreamOutcome) []syncer.StreamReport {
	return []syncer.StreamReport{{StreamOutcome: o}}
}

func TestExitCodes(t *testing.T) {
	refusal := &api.Error{Status: http.StatusUnauthorized, Code: "unauthorized"}
	report := func(sources ...syncer.SourceReport) error {
		return passError(sources)
	}
	in := func(name, state string, err error) syncer.SourceReport {
		s := syncer.SourceReport{Source: name}
		s.Fail(state, err)
		return s
	}
	products := func(name string, err error) syncer.SourceReport {
		o := status.StreamOutcome{Stream: "products"}
		o.Fail(err)
		return syncer.SourceReport{Source: name, State: status.StateRunning, Streams: oneStream(o)}
	}
	badKey := in("a", status.StateUnauthorized, refusal)
	disabled := in("d", status.StateKeyDisabled, errors.New("disabled"))
	down := in("b", status.StateUnreachable, errors.New("no answer"))
	scope := products("c", &api.Error{Status: http.StatusForbidden, Code: api.CodeInsufficientScope})
	failed := products("e", errors.New("cut short"))
	fine := products("f", nil)
	gone := products("g", &connection.UnreachableError{Kind: connection.ErrUnreachable})
	misfit := in("h", status.StateFailing, stream.Misfit(""))
	nowhere := in("i", status.StateUnreachable, &api.Error{Status: http.StatusNotFound, Limit: -1})
	bare := in("j", status.StateForbidden, errors.New("the key may read nothing"))

	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, 0},
		{"anything else", errors.New("x"), 1},
		{"interrupted", context.Canceled, 1},
		{"usage", lifecycle.UsageError(errors.New("unknown flag")), 2},
		{"configuration", fmt.Errorf("load: %w", &config.Error{}), 2},
		{"port taken", &inbound.ListenError{}, 2},
		{"unauthorized", fmt.Errorf("check: %w", refusal), 3},
		{"key disabled", &api.Error{Status: http.StatusForbidden, Code: api.CodeKeyDisabled}, 3},
		{"scope", &api.Error{Status: http.StatusForbidden, Code: api.CodeInsufficientScope}, 3},
		{"service down", &api.Error{Status: http.StatusServiceUnavailable}, 1},
		{"warehouse", fmt.Errorf("open: %w", lifecycle.WarehouseError(errors.New("refused"))), 4},
		{"sync: keys refused", report(badKey, disabled, fine), 3},
		{"sync: scope refused", report(scope, fine), 3},
		{"sync: no answer", report(down), 1},
		{"sync: refused and no answer", report(badKey, down), 3},
		{"sync: a stream failed", report(failed), 1},
		{"sync: a stream failed, and a key is refused", report(failed, badKey), 3},
		{"sync: the warehouse does not answer", report(failed, gone), 4},
		{"sync: a location that the key does not have", report(misfit, fine), 2},
		{"sync: no API at base_url", report(nowhere), 2},
		{"sync: a list that the service has not", report(products("k", &api.Error{Status: http.StatusNotFound, Limit: -1})), 1},
		{"sync: a key without scopes", report(bare, fine), 3},
		{"reconcile: no scope", fmt.Errorf("a: %w", stream.ErrNoScope), 3},
		{"sync: a named stream without its scope", offEverywhere("products", []status.StreamOutcome{{Stream: "products", Off: "key lacks menu:read", NoScope: true}}), 3},
		{"sync: a named stream that is not configured", offEverywhere("products", []status.StreamOutcome{{Stream: "products", Off: "not configured"}}), 2},
		{"check", &lifecycle.ExitError{Err: errors.New("a check failed"), Code: 3, Printed: true}, 3},
		{"through the daemon", &status.Failure{Text: "x", Code: 4}, 4},
		{"two at once", errors.Join(errors.New("x"), refusal, &config.Error{}), 3},
		{"two at once, interrupted", errors.Join(refusal, context.Canceled), 1},
	}
	for _, tt := range tests {
		if got := lifecycle.ExitCode(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	if got := lifecycle.Explain(&lifecycle.ExitError{Err: errors.New("a check failed"), Code: 2, Printed: true}); got != "" {
		t.Errorf("a failed check has printed its lines: %q", got)
	}
	if got := lifecycle.Explain(fmt.Errorf("sync: %w", context.Canceled)); got != "interrupted" {
		t.Errorf("interrupted = %q", got)
	}
	if got := lifecycle.Explain(lifecycle.UsageError(errors.New("no"))); got != "no" {
		t.Errorf("usage = %q", got)
	}
}

// check and sync judge what a key lacks alike.
func TestWhatAKeyLacks(t *testing.T) {
	for _, tt := range []struct {
		name            string
		scopes, streams []string
		want            int
	}{
		{"all", []string{types.ScopeLocations, types.ScopeMenu, types.ScopeSales, types.ScopeStock}, nil, lifecycle.ExitDone},
		{"some", []string{types.ScopeSales}, nil, lifecycle.ExitDone},
		{"none", nil, nil, lifecycle.ExitAPI},
		{"orders only", []string{types.ScopeOrders}, nil, lifecycle.ExitDone},
		{"none of those configured", []string{types.ScopeSales}, []string{"products"}, lifecycle.ExitAPI},
		{"not all of those configured", []string{types.ScopeSales}, []string{"products", "sales_orders"}, lifecycle.ExitAPI},
		{"those configured", []string{types.ScopeSales}, []string{"sales_orders"}, lifecycle.ExitDone},
		{"the key itself", nil, []string{"api_keys"}, lifecycle.ExitDone},
	} {
		s := &config.Source{Name: "a", Streams: tt.streams}
		c := &config.Config{Sources: []config.Source{*s}}
		r, v := syncer.Report{Sources: []syncer.SourceReport{{Source: "a"}}}, verify.Report{Sources: []verify.SourceReport{{Source: "a"}}}
		for _, o := range credentials.StreamsOf(s, tt.scopes) {
			if o.NoScope {
				o.Off = "key lacks it"
			}
			r.Sources[0].Streams = append(r.Sources[0].Streams, syncer.StreamReport{StreamOutcome: o})
			v.Sources[0].Streams = append(v.Sources[0].Streams, verify.StreamReport{StreamOutcome: o})
		}
		if err := errors.Join(judgeScopes(c, r.Sources, nil), judgeScopes(c, v.Sources, nil)); err != nil {
			t.Errorf("%s: nobody named a stream: %v", tt.name, err)
		}
		checked := lifecycle.ExitDone
		for _, f := range check.KeyFindings(s, types.Me{Scopes: tt.scopes}) {
			checked = max(checked, f.Code)
		}
		synced, verified := lifecycle.ExitCode(passError(r.Sources)), lifecycle.ExitCode(passError(v.Sources))
		if checked != tt.want || synced != tt.want || verified != tt.want {
			t.Errorf("%s: check %d, sync %d, verify %d, want %d", tt.name, checked, synced, verified, tt.want)
		}
	}
}

func TestAStreamAskedForByName(t *testing.T) {
	off := syncer.SourceReport{Source: "a", Streams: oneStream(status.StreamOutcome{Stream: "products", Off: "key lacks menu:read", NoScope: true})}
	disabled := syncer.SourceReport{Source: "c", Streams: oneStream(status.StreamOutcome{Stream: "locations", Off: "online ordering is off", OrderingOff: true})}
	on := syncer.SourceReport{Source: "b", Streams: oneStream(status.StreamOutcome{Stream: "products"})}
	for _, tt := range []struct {
		sources []syncer.SourceReport
		named   []string
		want    int
	}{
		{[]syncer.SourceReport{off}, []string{"products"}, lifecycle.ExitAPI},
		{[]syncer.SourceReport{off, on}, []string{"products"}, lifecycle.ExitDone}, // one of the restaurants has it
		{[]syncer.SourceReport{disabled}, []string{"locations"}, lifecycle.ExitDone},
		{[]syncer.SourceReport{off}, nil, lifecycle.ExitDone}, // nobody asked for it
	} {
		r, v := syncer.Report{Sources: tt.sources}, verifiedAs(tt.sources)
		c := &config.Config{}
		if got, verified := lifecycle.ExitCode(judgeScopes(c, r.Sources, tt.named)), lifecycle.ExitCode(judgeScopes(c, v.Sources, tt.named)); got != tt.want || verified != tt.want {
			t.Errorf("%v of %d sources: sync %d, verify %d, want %d", tt.named, len(tt.sources), got, verified, tt.want)
		}
	}
}

// verifiedAs is the report of a verification that found the streams as a pass did.
func verifiedAs(sources []syncer.SourceReport) (v verify.Report) {
	for _, s := range sources {
		as := verify.SourceReport{Source: s.Source}
		for _, st := range s.Streams {
			as.Streams = append(as.Streams, verify.StreamReport{StreamOutcome: st.StreamOutcome})
		}
		v.Sources = append(v.Sources, as)
	}
	return v
}

// A key that may only place orders, at a restaurant that has switched online ordering off,
// is normal life (docs/rules.md R11) to every command, beside a daemon and alone; but it cannot
// reconcile, nor read a stream that is asked for by name.
func TestOneMeaningOfOnlineOrderingThatIsOff(t *testing.T) {
	notInShort(t)
	t.Parallel()
	w := newWorld(t, sandbox.Options{Orders: -1, NoLimits: true, Readings: sandbox.Readings{OrderingOff: true}})
	w.migrated(t)
	alone := w.engineStays(t)
	if err := os.WriteFile(filepath.Join(w.dir, "r0"), []byte(w.Key(0, sandbox.RoleOrders).Value), 0o600); err != nil {
		t.Fatal(err)
	}
	codes := func(named ...string) map[string]int {
		t.Helper()
		ctx, sel := t.Context(), syncer.Selection{Streams: named}
		_, synced := w.app.Sync(ctx, sel, time.Minute, nil)
		report, verified := w.app.Verify(ctx, sel, time.Minute, nil, nil)
		if len(named) == 0 && !slices.ContainsFunc(report.Sources[0].Streams, func(st verify.StreamReport) bool {
			return st.Stream == sandbox.StreamLocations && st.OrderingOff && st.Off != ""
		}) {
			t.Errorf("verify does not say what is off: %+v", report)
		}
		_, reconciled := w.app.Reconcile(ctx, syncer.ReconcileRequest{}, time.Minute, nil)
		return map[string]int{
			"sync": lifecycle.ExitCode(synced), "verify": lifecycle.ExitCode(verified), "reconcile": lifecycle.ExitCode(reconciled),
			"check": lifecycle.ExitCode(w.app.Checker().Run(ctx, func(check.Finding) {})),
		}
	}
	look := func(where string) {
		t.Helper()
		for _, tt := range []struct {
			named string
			want  int
		}{{"", lifecycle.ExitDone}, {sandbox.StreamLocations, lifecycle.ExitDone}, {sandbox.StreamProducts, lifecycle.ExitAPI}} {
			want := map[string]int{"sync": tt.want, "verify": tt.want, "reconcile": lifecycle.ExitAPI, "check": lifecycle.ExitDone}
			named := strings.Fields(tt.named)
			if diff := cmp.Diff(want, codes(named...)); diff != "" {
				t.Errorf("%s, streams %q (-want +got):\n%s", where, named, diff)
			}
		}
	}
	look("alone")
	alone()
	_, stop := w.daemon(t, w.app)
	look("beside a daemon")
	stop()
}
