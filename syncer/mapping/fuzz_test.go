package mapping

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

// FuzzAppend maps any bytes along every plan: a row lands whole, is a tombstone,
// or is refused with a reason, and then the batch is as it was.
func FuzzAppend(f *testing.F) {
	lists := listed(f)
	for i, c := range lists {
		f.Add(uint8(i), []byte(c.row))
		f.Add(uint8(i), []byte(`{"id":"a","deleted":true,"deleted_at":"0001-01-01T00:00:00Z","updated_at":7,"reason":{"x":[]}}`))
		f.Add(uint8(i), append([]byte(c.row[:len(c.row)-1]), `,"deleted":true}`...))
	}
	f.Add(uint8(0), []byte(`{"id":"a","deleted":true,"deleted_at":null,"updated_at":null,"reason":"unpaid"}`))
	f.Add(uint8(6), []byte(`{"payments":{"a":"1.00","a":"1.00"},"unknown":[1e400,{"a":{}}]}`))
	f.Add(uint8(1), []byte(`{"id":7,"price":"1.000","channels":{"\u0061":null}}`))
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		c := lists[int(which)%len(lists)]
		b := sinks.NewBatch(c.plan.Table(), 2)
		m := c.plan.NewMapper()
		land(t, b, m, []byte(c.row), c.context)
		before := Row(b, 0)
		kept := bytes.Clone(raw)
		r, err := m.Append(b, raw, c.context...)
		if !bytes.Equal(raw, kept) {
			t.Fatal("the row's bytes were changed")
		}
		switch {
		case err != nil:
			understood(t, err)
		case !json.Valid(raw):
			t.Fatal("not JSON, and taken")
		case r.Tombstone != nil:
			if r.ID == "" || r.ID != r.Tombstone.ID || r.Tombstone.Reason == "" || !c.plan.deletable {
				t.Fatalf("a tombstone of nothing: %+v of %q", r.Tombstone, r.ID)
			}
		default:
			if err := b.EndRow(sinks.Row{ID: r.ID}); err != nil {
				t.Fatal(err)
			}
			Row(b, 1)
			b.Truncate(1)
		}
		if diff := cmp.Diff(before, Row(b, 0)); diff != "" {
			t.Fatalf("the row before changed (-was +is)\n%s", diff)
		}
		land(t, b, m, []byte(c.row), c.context)
		if diff := cmp.Diff(before, Row(b, 1)); diff != "" {
			t.Fatalf("the row behind is not the same (-want +got)\n%s", diff)
		}
	})
}

func land(t *testing.T, b *sinks.Batch, m *Mapper, raw []byte, context []string) {
	t.Helper()
	r, err := m.Append(b, raw, context...)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.EndRow(sinks.Row{ID: r.ID, Raw: raw}); err != nil {
		t.Fatal(err)
	}
}

func understood(t *testing.T, err error) {
	t.Helper()
	var bad *RowError
	if !errors.As(err, &bad) {
		t.Fatalf("not a row error: %v", err)
	}
	if bad.Reason == "" || len(bad.Field) > excerptSize || len(bad.Value) > excerptSize {
		t.Fatalf("reason %q, field %q, value %q", bad.Reason, bad.Field, bad.Value)
	}
}

// FuzzDecimal reads any text: what is taken is written back as the same number.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0.350", "-12.50", "1e1", "00.0", "9999999999999999999999999999.9999999999", "1e-10", "-"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, _, reason := parseNumber(string(text))
		if reason != "" {
			return
		}
		again, reason := parseQuantity(point(wide(got), quantityScale))
		if again != got || reason != "" {
			t.Fatalf("%q: %v, then %v, %q", text, got, again, reason)
		}
	})
}
