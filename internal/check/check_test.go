package check

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/api"
	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/warehouse"
	"github.com/larder-sync/larder/syncer/status"
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
			f := found[len(found)-1]
			if f.Mark != tt.mark || !strings.HasPrefix(f.Text, tt.text) {
				t.Errorf("got %s %s", f.Mark, f.Text)
			}
			if named := strings.Contains(f.Advice, "take the streams out"); named != (tt.mark == "✗" && len(tt.streams) > 0) {
				t.Errorf("advice %q", f.Advice)
			}
		})
	}
}

// A service that accepts a request and never answers is one that does not answer.
func TestCheckOfAServiceThatHangs(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		c := Checker{
			Warehouse: &warehouse.Opener{Config: &config.Config{Sources: []config.Source{{Name: "bistro", BaseURL: "https://host/v1", KeyFile: key}}}},
			API: api.Options{Transport: answering(func(r *http.Request) (string, error) {
				<-r.Context().Done()
				return "", r.Context().Err()
			})},
		}
		found := c.CheckSources(t.Context())
		if f := found[len(found)-1]; f.Mark != "✗" || !strings.Contains(f.Advice, "base_url") || !strings.Contains(f.Advice, "network") {
			t.Errorf("%+v", found)
		}
	})
}

// The daemon is asked about an address only when that is in use.
func TestCheckOfAnAddressThatIsNone(t *testing.T) {
	var found []Finding
	c := Checker{
		Warehouse: &warehouse.Opener{Config: &config.Config{Web: config.Web{Listen: "127.0.0.1:99999"}}},
		Daemon: func(context.Context) (status.Status, error) {
			t.Error("the daemon was asked")
			return status.Status{}, nil
		},
	}
	c.checkPorts(t.Context(), func(f Finding) { found = append(found, f) })
	if len(found) != 1 || found[0].Code != 2 || !strings.Contains(found[0].Text, "set web.listen to an address of this machine") {
		t.Errorf("%+v", found)
	}
}
