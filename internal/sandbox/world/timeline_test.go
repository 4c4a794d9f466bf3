package world

import (
	"testing"

	"github.com/larder-sync/larder/internal/sandbox/world/sales"
)

// How late an event shows is drawn from the number of its kind: another number would make
// another world of the same seed.
func TestKindsOfEventsKeepTheirNumbers(t *testing.T) {
	kinds := []eventKind{
		evOpen, eventKind(sales.Pay), eventKind(sales.Edit), eventKind(sales.Refund), eventKind(sales.Cancel),
		eventKind(sales.Unpay), eventKind(sales.Delete), evDelivery, evSoldOut, evBack, evCount, evPrice,
	}
	for want, kind := range kinds {
		if int(kind) != want {
			t.Errorf("kind %d has the number %d", want, kind)
		}
	}
}
