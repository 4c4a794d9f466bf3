package clickhouse

import (
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/larder-sync/larder/sinks"
)

// TestACheckpointIsStoredWhenItIsNew: when it differs in anything but the moment of storing.
func TestACheckpointIsStoredWhenItIsNew(t *testing.T) {
	now := time.Now() // by this machine's steady clock, too
	stored, c := newStoredCheckpoints(), sinks.Checkpoint{
		Source: "s", Stream: "products", Walk: "incremental", Business: "biz", Watermark: now, Pending: now, Since: now, Cursor: "c", Position: "p",
		Pages: 1, Rows: 2, Tombstones: 3, FirstVersion: 4, StartedAt: now, UpdatedAt: now,
	}
	if stored.has(c) {
		t.Error("it is known before it was stored")
	}
	stored.set(c)
	same := c
	same.Watermark, same.UpdatedAt = now.Round(0).In(time.FixedZone("elsewhere", 7200)), now.Add(time.Hour)
	if !stored.has(same) {
		t.Error("it is new, with the same instants")
	}
	for i := range reflect.TypeFor[sinks.Checkpoint]().NumField() {
		other := c
		field, name := reflect.ValueOf(&other).Elem().Field(i), reflect.TypeFor[sinks.Checkpoint]().Field(i).Name
		switch value := field.Addr().Interface().(type) {
		case *string:
			*value += "x"
		case *bool:
			*value = !*value
		case *uint64:
			*value++
		case *time.Time:
			*value = value.Add(time.Microsecond)
		default:
			t.Fatalf("%s is a %T", name, value)
		}
		if want := name == "UpdatedAt"; stored.has(other) != want {
			t.Errorf("with another %s it is known: %t", name, !want)
		}
	}
	if stored.forget(); stored.has(c) {
		t.Error("it was forgotten")
	}
	if size := unsafe.Sizeof(stored.all[checkpointKey{}]); size > 8 {
		t.Errorf("%d bytes are kept of each", size)
	}
}
