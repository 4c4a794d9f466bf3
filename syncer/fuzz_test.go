package syncer

import (
	"bytes"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/test/memsink"
	"github.com/larder-sync/larder/syncer/stream"
	"github.com/larder-sync/larder/syncer/write"
)

// FuzzRow takes any bytes as a row of any stream: it lands, removes, or is in
// quarantine with its bytes, and never two of them; the same row again is known.
func FuzzRow(f *testing.F) {
	sink := memsink.Open(memsink.NewStore(), memsink.Options{})
	f.Cleanup(func() { _ = sink.Close(f.Context()) }) // memsink's Close returns nil
	y, err := New(Options{Sources: []Source{sourceOf("s", "k")}, Sink: sink, Exclusive: true})
	if err != nil {
		f.Fatal(err)
	}
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for i := range y.definitions {
		for _, raw := range []string{
			category("c", "C", "2026-05-01T12:00:00Z"), tombstoneOf("c", "null"), order("o", "2026-05-01", 2, "2026-05-01T12:00:00Z"), location("l"),
			`{"id":"t","deleted":true,"deleted_at":"0001-01-01T00:00:00Z","updated_at":[1],"reason":7,"x":{}}`,
			`{"deleted":true}`, `{"id":"","deleted":true}`, `[]`, ``, `{"id":"a","id":"b"}`, "{\"id\":\"\xff\",\"deleted\":true}", `{"code":"","name":""}`,
			`{"date":"2026-05-01","orders":1e0,"payments":{"cash":"1.00"}}`,
		} {
			f.Add(uint8(i), []byte(raw))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		def := y.definitions[int(which)%len(y.definitions)]
		st := stream.NewStream(y.served()[0].Source, def)
		kept := bytes.Clone(raw)
		in := st.Writer.Begin(1, 1)
		in.All = true
		m := def.Plan.NewMapper()
		taken := in.Row(m, raw, 7, at, write.RowContext{Columns: def.Columns("l1")})
		c := in.Commit
		if n := len(c.Batch.Rows) + len(c.Tombstones) + len(c.Quarantine); n != 1 {
			t.Fatalf("the row became %d: %+v", n, c)
		}
		switch {
		case !bytes.Equal(raw, kept):
			t.Fatal("its bytes were changed")
		case taken.Bad != (len(c.Quarantine) == 1) || taken.Tombstone != (len(c.Tombstones) == 1):
			t.Fatalf("taken for %+v, written as %+v", taken, c)
		case taken.Bad && (!bytes.Equal(c.Quarantine[0].Raw, raw) || c.Quarantine[0].Reason == ""):
			t.Fatalf("quarantined as %+v", c.Quarantine[0])
		case taken.Tombstone && (taken.ID == "" || !bytes.Equal(c.Tombstones[0].Raw, raw)):
			t.Fatalf("removed as %+v", c.Tombstones[0])
		case len(c.Batch.Rows) == 1 && !bytes.Equal(c.Batch.Rows[0].Raw, raw):
			t.Fatal("landed without its bytes")
		}
		if _, err := st.Writer.Write(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		in.Remember()
		again := st.Writer.Begin(2, 1)
		again.All = true
		again.Row(m, raw, 8, at, write.RowContext{Columns: def.Columns("l1")})
		if !again.Empty() {
			t.Fatalf("the same row again is written again: %+v", again.Commit)
		}
	})
}
