package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestIDsAreEscapedInPaths(t *testing.T) {
	cases := []struct{ id, want string }{
		{"prod_1", "/v1/products/prod_1"},
		{"a/b", "/v1/products/a%2Fb"},
		{"50%", "/v1/products/50%25"},
		{"%2F", "/v1/products/%252F"},
		{"a b+c", "/v1/products/a%20b+c"},
		{"what?x=1#y", "/v1/products/what%3Fx=1%23y"},
		{`"quoted'`, "/v1/products/%22quoted%27"},
		{"🍕", "/v1/products/%F0%9F%8D%95"},
		{"..", "/v1/products/%2E%2E"},
		{".", "/v1/products/%2E"},
		{"../me", "/v1/products/..%2Fme"},
		{"Case", "/v1/products/Case"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			var asked, decoded string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked, decoded = r.RequestURI, strings.TrimPrefix(r.URL.Path, "/v1/products/")
				say(w, 200, `{"id":"p"}`)
			}, nil)
			if _, err := RowAt(t.Context(), s.Client, "/products", c.id); err != nil {
				t.Fatal(err)
			}
			if strings.ReplaceAll(asked, "'", "%27") != c.want || decoded != c.id {
				t.Errorf("asked %s (%q), want %s", asked, decoded, c.want)
			}
		})
	}
}

func TestAnEmptyIDIsNotAskedFor(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }, nil)
	if _, err := RowAt(t.Context(), s.Client, "/locations", ""); err == nil || !strings.Contains(err.Error(), "GET /locations/{id}") {
		t.Errorf("error %v", err)
	}
}

func TestRoutes(t *testing.T) {
	const report = `{"currency":"RON","from":"2026-01-01","to":"2026-01-02","data":[{"date":"2026-01-01","orders":3,"net_sales":"10.00"}],"totals":{"orders":3}}`
	cases := []struct {
		want  string
		heavy bool
		body  string
		ask   func(context.Context, *Client) (string, error)
	}{
		{"/v1/me", false, `{"business":{"id":"b1"},"scopes":[],"location_ids":[]}`, func(ctx context.Context, c *Client) (string, error) {
			d, err := c.Me(ctx)
			return d.Value.Business.ID + string(d.Raw), err
		}},
		{"/v1/locations", false, `{"data":[{"id":"l1"}]}`, func(ctx context.Context, c *Client) (string, error) {
			s, err := c.Snapshot(ctx, "/locations")
			return string(s.Rows[0]), err
		}},
		{"/v1/allergens", false, `{"data":[{"code":"A"}]}`, func(ctx context.Context, c *Client) (string, error) {
			s, err := c.Snapshot(ctx, "/allergens")
			return string(s.Rows[0]), err
		}},
		{"/v1/locations/l1", false, `{"id":"l1","name":"Centru"}`, func(ctx context.Context, c *Client) (string, error) {
			d, err := RowAt(ctx, c, "/locations", "l1")
			return string(d.Raw), err
		}},
		{"/v1/ingredients/i1", false, `{"id":"i1","stock":"1.500"}`, func(ctx context.Context, c *Client) (string, error) {
			d, err := RowAt(ctx, c, "/ingredients", "i1")
			return string(d.Raw), err
		}},
		{"/v1/sales/orders/o1", false, `{"id":"o1","number":"7"}`, func(ctx context.Context, c *Client) (string, error) {
			d, err := RowAt(ctx, c, "/sales/orders", "o1")
			return string(d.Raw), err
		}},
		{"/v1/sales/daily?from=2026-01-01&location_id=l1&to=2026-01-02", true, report, func(ctx context.Context, c *Client) (string, error) {
			r, err := c.SalesDaily(ctx, SalesQuery{From: "2026-01-01", To: "2026-01-02", LocationID: "l1"})
			if err != nil {
				return "", err
			}
			return string(r.Rows[0]) + string(r.Totals), nil
		}},
		{"/v1/sales/products?from=2026-01-01&group_by=day&to=2026-01-02", true, report, func(ctx context.Context, c *Client) (string, error) {
			r, err := c.SalesProducts(ctx, SalesQuery{From: "2026-01-01", To: "2026-01-02", ByDay: true})
			return r.Currency, err
		}},
	}
	wants := []string{`b1{"business":{"id":"b1"},"scopes":[],"location_ids":[]}`, `{"id":"l1"}`, `{"code":"A"}`, `{"id":"l1","name":"Centru"}`, `{"id":"i1","stock":"1.500"}`, `{"id":"o1","number":"7"}`, `{"date":"2026-01-01","orders":3,"net_sales":"10.00"}{"orders":3}`, "RON"}
	for i, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			var asked string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r.RequestURI
				if r.Header.Get("Authorization") != "Bearer "+testKey || r.Header.Get("Accept") != "application/json" {
					t.Errorf("headers %v", r.Header)
				}
				say(w, 200, c.body)
			}, nil)
			gate := &tally{}
			got, err := c.ask(t.Context(), s.Through(gate))
			if err != nil || got != wants[i] || asked != c.want {
				t.Errorf("asked %s, got %s (%v), want %s", asked, got, err, wants[i])
			}
			if (gate.heavy == 1) != c.heavy || gate.left != 1 {
				t.Errorf("heavy %d, left %d", gate.heavy, gate.left)
			}
		})
	}
}

func TestBaseURLs(t *testing.T) {
	key := func() string { return testKey }
	for _, good := range []string{"https://h/v1", "https://h/v1/", "http://127.0.0.1:80/a%2Fb/v1"} {
		if _, err := New(Options{BaseURL: good, Key: key}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "h/v1", "ftp://h/v1", "https:///v1", "https://u:" + testKey + "@h/v1", "https://h/v1?key=" + testKey, "https://h/v1?", "https://h/v1#" + testKey, "https://h/%zz" + testKey} {
		_, err := New(Options{BaseURL: bad, Key: key})
		if err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	if _, err := New(Options{BaseURL: "https://h/v1"}); err == nil {
		t.Error("a client without a key")
	}
}
