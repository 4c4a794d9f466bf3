package check

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api/types"
)

func TestCheckOfWhatAKeyMayRead(t *testing.T) {
	for _, tt := range []struct {
		name            string
		streams, scopes []string
		mark, text      string
	}{
		{"one stream, allowed", []string{"sales_orders"}, []string{"sales:read"}, "✓", "streams on: sales_orders"},
		{"one stream, not allowed", []string{"products"}, []string{"sales:read"}, "✗", "the key may read nothing that is configured (products (needs menu:read))"},
		{"two streams, one allowed", []string{"products", "sales_orders"}, []string{"sales:read"}, "✗", "configured streams that the key may not read: products (needs menu:read)"},
		{"the key alone", []string{"api_keys"}, nil, "✓", "streams on: api_keys"},
		{"all streams, some allowed", nil, []string{"sales:read"}, "✓", "streams on: api_keys, sales_orders, sales_daily, sales_products; off for lack of scope: "},
		{"all streams, none allowed", nil, nil, "✗", "the key may read nothing that is configured (locations "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := KeyFindings(&config.Source{Name: "bistro", Streams: tt.streams}, types.Me{Scopes: tt.scopes})
			if f := found[len(found)-1]; f.Mark != tt.mark || !strings.HasPrefix(f.Text, tt.text) {
				t.Errorf("got %s %s", f.Mark, f.Text)
			}
		})
	}
}
