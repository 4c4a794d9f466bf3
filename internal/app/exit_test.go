package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/web"
	"github.com/larder-sync/larder/syncer"
)

func TestExitCodes(t *testing.T) {
	refusal := &api.Error{Status: http.StatusUnauthorized, Code: api.CodeUnauthorized}
	report := func(sources ...syncer.SourceReport) error {
		return &SyncError{syncer.Report{Sources: sources}}
	}
	badKey := syncer.SourceReport{Source: "a", State: syncer.StateUnauthorized, Err: refusal}
	disabled := syncer.SourceReport{Source: "d", State: syncer.StateKeyDisabled, Err: errors.New("disabled")}
	down := syncer.SourceReport{Source: "b", State: syncer.StateUnreachable, Err: errors.New("no answer")}
	scope := syncer.SourceReport{Source: "c", State: syncer.StateRunning, Streams: []syncer.StreamReport{
		{Stream: "products", Err: &api.Error{Status: http.StatusForbidden, Code: api.CodeInsufficientScope}},
	}}
	failed := syncer.SourceReport{Source: "e", State: syncer.StateRunning, Streams: []syncer.StreamReport{{Stream: "products", Err: errors.New("cut short")}}}
	fine := syncer.SourceReport{Source: "f", State: syncer.StateRunning, Streams: []syncer.StreamReport{{Stream: "products"}}}

	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, 0},
		{"anything else", errors.New("x"), 1},
		{"interrupted", context.Canceled, 1},
		{"usage", UsageError(errors.New("unknown flag")), 2},
		{"configuration", fmt.Errorf("load: %w", &config.Error{}), 2},
		{"port taken", &web.ListenError{}, 2},
		{"unauthorized", fmt.Errorf("check: %w", refusal), 3},
		{"key disabled", &api.Error{Status: http.StatusForbidden, Code: api.CodeKeyDisabled}, 3},
		{"scope", &api.Error{Status: http.StatusForbidden, Code: api.CodeInsufficientScope}, 3},
		{"service down", &api.Error{Status: http.StatusServiceUnavailable}, 1},
		{"warehouse", fmt.Errorf("open: %w", &WarehouseError{errors.New("refused")}), 4},
		{"sync: keys refused", report(badKey, disabled, fine), 3},
		{"sync: scope refused", report(scope, fine), 3},
		{"sync: no answer", report(down), 1},
		{"sync: refused and no answer", report(badKey, down), 1},
		{"sync: a stream failed", report(failed), 1},
		{"sync: a named stream without its scope", &UnservedError{Stream: "products", Scope: true}, 3},
		{"sync: a named stream that is not configured", &UnservedError{Stream: "products"}, 2},
		{"check", &CheckError{3}, 3},
		{"through the daemon", &remoteError{"x", 4}, 4},
	}
	for _, tt := range tests {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestExplain(t *testing.T) {
	if got := Explain(&CheckError{2}); got != "" {
		t.Errorf("a failed check has printed its lines: %q", got)
	}
	if got := Explain(fmt.Errorf("sync: %w", context.Canceled)); got != "interrupted" {
		t.Errorf("interrupted = %q", got)
	}
	if got := Explain(UsageError(errors.New("no"))); got != "no" {
		t.Errorf("usage = %q", got)
	}
}

func TestAStreamAskedForByName(t *testing.T) {
	off := syncer.SourceReport{Source: "a", Streams: []syncer.StreamReport{{Stream: "products", Off: "key lacks menu:read", NoScope: true}}}
	on := syncer.SourceReport{Source: "b", Streams: []syncer.StreamReport{{Stream: "products"}}}
	for _, tt := range []struct {
		sources []syncer.SourceReport
		named   []string
		want    int
	}{
		{[]syncer.SourceReport{off}, []string{"products"}, ExitAPI},
		{[]syncer.SourceReport{off, on}, []string{"products"}, ExitDone}, // one of the restaurants has it
		{[]syncer.SourceReport{off}, nil, ExitDone},                      // nobody asked for it
	} {
		if got := ExitCode(unserved(syncer.Report{Sources: tt.sources}, tt.named)); got != tt.want {
			t.Errorf("%v of %d sources: %d, want %d", tt.named, len(tt.sources), got, tt.want)
		}
	}
}
