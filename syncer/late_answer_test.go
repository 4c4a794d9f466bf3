package syncer

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/syncer/registry"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// A long walk takes the versions of a page before it waits to ask for it. What it brings may
// then be newer than its version, and lose to a state that is not remembered any more: the next
// incremental walk writes it again.
func TestALateAnswerIsWrittenAgain(t *testing.T) {
	sink := memsink.Open(memsink.NewStore(), memsink.Options{})
	t.Cleanup(func() { _ = sink.Close(context.WithoutCancel(t.Context())) }) // memsink's Close returns nil
	y, err := New(Options{Sources: []Source{sourceOf("s", "k")}, Sink: sink, Exclusive: true})
	must(t, err)
	def := y.definitions[slices.IndexFunc(y.definitions, func(d *registry.Definition) bool { return d.Name == "categories" })]
	st := stream.NewStream(y.served()[0].Source, def)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	takes := func(walk, version uint64, incremental bool, raw string) (written int) {
		t.Helper()
		in := st.Writer.Begin(walk, 1)
		in.All, in.Floor = incremental, at
		in.Row(st.Def.Plan.NewMapper(), []byte(raw), version, at, write.RowContext{})
		written = int(in.Counts.Upserts)
		if _, err := st.Writer.Write(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		in.Remember()
		return written
	}
	before, after := category("c", "before", "2026-05-01T11:00:00Z"), category("c", "after", "2026-05-01T12:05:00Z")
	takes(1, 20, true, before)
	st.Writer.Prune(at, 2)
	if takes(2, 10, false, after) != 1 || takes(3, 30, true, after) != 1 {
		t.Error("what came late is not written again")
	}
	if takes(4, 40, true, after) != 0 {
		t.Error("what was written is written again")
	}
	if stamp, known := st.Writer.Remembers("c"); !known || !stamp.Equal(at.Add(5*time.Minute)) {
		t.Errorf("remembered as of %s, %t", stamp, known)
	}
}
