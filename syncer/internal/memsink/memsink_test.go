package memsink_test

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/sinktest"
	"github.com/larder-sync/larder/syncer/internal/memsink"
	"github.com/larder-sync/larder/syncer/mapping"
)

func TestProof(t *testing.T) {
	orders, err := mapping.Compile[api.SalesOrder]("sales_orders")
	if err != nil {
		t.Fatal(err)
	}
	sinktest.RunProof(t, func(*testing.T) sinktest.Harness {
		store := memsink.NewStore()
		return sinktest.Harness{
			Tables: map[string]*sinks.Table{"sales_orders": orders.Table()},
			Open: func(o sinktest.Options) sinks.Sink {
				return memsink.Open(store, memsink.Options{FlushInterval: o.FlushInterval, FlushTime: time.Millisecond})
			},
		}
	})
}
