package compare

import (
	"encoding/json"
	"testing"
)

func BenchmarkRow(b *testing.B) {
	var columns map[string]json.RawMessage
	if err := json.Unmarshal([]byte(orderColumns), &columns); err != nil {
		b.Fatal(err)
	}
	s, _ := Of("sales_orders")
	b.SetBytes(int64(len(order)))
	b.ReportAllocs()
	for b.Loop() {
		s.Read([]byte(order))
		if len(s.Live([]byte(order), []byte(order), columns, nil)) > 0 {
			b.Fatal("a row differs from itself")
		}
	}
}
