package demo

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

// The keys of a restaurant have secrets of their own: at one address only one of them would
// be signed rightly.
func TestTheSandboxSendsTheEventsOfEachMainKeyToItsOwnAddress(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{Inspect: apicheck.Inspect(t), Businesses: 3, Orders: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := sendEvents(box, "http://hooks.test/webhooks/bistro"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range box.Keys() {
		if k.WebhookURL != "" {
			got = append(got, k.Role+" "+k.WebhookURL)
		}
	}
	const want = "main http://hooks.test/webhooks/bistro, main http://hooks.test/webhooks/bistro-2, main http://hooks.test/webhooks/bistro-3"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
