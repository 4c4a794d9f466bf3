package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestListQueries(t *testing.T) {
	since := time.Date(2026, 3, 29, 3, 30, 0, 123456000, time.FixedZone("EEST", 3*3600))
	cases := []struct {
		name string
		ask  func(*Client) error
		want string // path and query, or the error
	}{
		{"first page", page(products, ListQuery{}), "/v1/products?limit=200"},
		{"cursor", page(products, ListQuery{Cursor: "a+b/c=&d", Limit: 50}), "/v1/products?cursor=a%2Bb%2Fc%3D%26d&limit=50"},
		{"since", page(ListAt("/ingredients"), ListQuery{UpdatedSince: since}), "/v1/ingredients?limit=200&updated_since=2026-03-29T00%3A30%3A00.123456Z"},
		{"since, finer than a checkpoint", page(ListAt("/ingredients"), ListQuery{UpdatedSince: since.Add(999)}), "/v1/ingredients?limit=200&updated_since=2026-03-29T00%3A30%3A00.123456Z"},
		{"deleted", page(ListAt("/categories"), ListQuery{IncludeDeleted: true, LocationID: "a b"}), "/v1/categories?include_deleted=true&limit=200&location_id=a+b"},
		{"range", page(SalesOrders, ListQuery{From: "2026-01-01", To: "2026-03-01"}), "/v1/sales/orders?from=2026-01-01&limit=200&to=2026-03-01"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var asked string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.RequestURI()
				say(w, 200, emptyPage)
			}, nil)
			if err := c.ask(s.Client); err != nil {
				asked = err.Error()
			}
			if asked != c.want {
				t.Errorf("asked %s, want %s", asked, c.want)
			}
		})
	}
}

func page(l List, q ListQuery) func(*Client) error {
	return func(c *Client) error {
		_, err := l.Page(context.Background(), c, q)
		return err
	}
}

func TestPagesWalkToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[string]string{
			"":   `{"data":[{"id":"1"}, {"id":"2" } ],"next_cursor":"c1","has_more":true}`,
			"c1": `{"data":[],"next_cursor":"c2","has_more":true}`,
			"c2": `{"has_more":false,"next_cursor":null,"extra":{"a":[1]},"data":[{"id":"3"}]}`,
		}
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", "Sat, 14 Mar 2026 19:12:58 GMT")
			say(w, 200, answers[r.URL.Query().Get("cursor")])
		}, nil)
		var rows []string
		for page, err := range products.Pages(t.Context(), s.Client, ListQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page.Rows {
				rows = append(rows, string(row))
			}
			if want := time.Date(2026, 3, 14, 19, 12, 58, 0, time.UTC); !page.Date.Equal(want) {
				t.Errorf("date %s, want %s", page.Date, want)
			}
			if page.Bytes == 0 {
				t.Errorf("page without its size: %+v", page)
			}
		}
		if got, want := strings.Join(rows, " "), `{"id":"1"} {"id":"2" } {"id":"3"}`; got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	})
}

func TestPagesStopWhenTold(t *testing.T) {
	asked := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		say(w, 200, fmt.Sprintf(`{"data":[],"next_cursor":"c%d","has_more":true}`, asked))
	}, nil)
	for _, err := range products.Pages(t.Context(), s.Client, ListQuery{}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if asked != 1 {
		t.Errorf("%d pages asked for, want 1", asked)
	}
}
