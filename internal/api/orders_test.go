package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// keepAll keeps orders as they are.
func keepAll(o *Options) { o.Keep = func(order Raw) Raw { return order } }

// orderAt is an order that changed so many microseconds after eight.
func orderAt(id string, micros int) string {
	at := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(micros) * time.Microsecond)
	return fmt.Sprintf(`{"id":%q,"updated_at":%q}`, id, at.Format(time.RFC3339Nano))
}

func ordersAt(n, micros int) string {
	var rows []string
	for i := range n {
		rows = append(rows, orderAt(fmt.Sprint(micros, "-", i), micros))
	}
	return strings.Join(rows, ",")
}

func TestOnlineOrdersAreAskedForInPages(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/orders" {
			t.Errorf("asked %s", r.URL)
		}
		switch r.URL.RawQuery {
		case "limit=100&updated_since=1900-01-01T00%3A00%3A00Z":
			say(w, 200, `{"data":[`+orderAt("a", 0)+`],"next_updated_since":"2026-01-01T10:00:00.000005+02:00","more":1}`)
		case "limit=100&updated_since=2026-01-01T08%3A00%3A00.000005Z":
			say(w, 200, `{"data":[`+orderAt("b", 5)+`],"next_updated_since":null}`)
		default:
			t.Errorf("asked %s", r.URL.RawQuery)
		}
	}, func(o *Options) { o.Keep = func(order Raw) Raw { return bytes.ToUpper(order) } })
	q, seen := ListQuery{UpdatedSince: time.Date(1900, 1, 1, 0, 0, 0, 999, time.UTC), IncludeDeleted: true, LocationID: "l1", Limit: 200}, ""
	for more := true; more; {
		p, err := OnlineOrders.Page(t.Context(), s.Client, q)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(bytes.Join(p.Rows, nil)) + ";"
		p.Release()
		q.Cursor, more = p.NextCursor, p.HasMore
	}
	if want := strings.ToUpper(orderAt("a", 0) + ";" + orderAt("b", 5) + ";"); seen != want {
		t.Errorf("saw %s, want %s", seen, want)
	}
}

// Where the service's word leads nowhere, the rows do.
func TestANextUpdatedSinceThatLeadsNowhere(t *testing.T) {
	at := func(micros int) string {
		return time.Date(2026, 1, 1, 8, 0, 0, micros*1000, time.UTC).Format(time.RFC3339Nano)
	}
	for name, c := range map[string]struct{ data, next, want string }{
		"the end":                             {ordersAt(3, 5), "null", ""},
		"the end, and the field is not there": {ordersAt(3, 5), "", ""},
		"nothing, and it does not move":       {"", `"` + at(0) + `"`, ""},
		"the same rows, and it does not move": {ordersAt(3, 0), `"` + at(0) + `"`, ""},
		"rows, and it does not move":          {ordersAt(3, 5), `"` + at(0) + `"`, at(5)},
		"rows, and it goes back":              {ordersAt(3, 5), `"` + at(-9) + `"`, at(5)},
		"null too early":                      {ordersAt(100, 5), "null", at(5)},
		"a full page of one instant":          {ordersAt(100, 0), `"` + at(0) + `"`, at(1)},
		"a full page of one instant, null":    {ordersAt(100, 0), "null", at(1)},
		"stamps that are none":                {`{"updated_at":"never"},{"updated_at":5},7,{}`, `"` + at(0) + `"`, ""},
		"it moves":                            {ordersAt(3, 5), `"` + at(7) + `"`, at(7)},
		"finer than a microsecond":            {ordersAt(3, 5), `"2026-01-01T08:00:00.000007999Z"`, at(7)},
		"finer, and it does not move":         {ordersAt(3, 0), `"2026-01-01T08:00:00.000000999Z"`, ""},
		"with an offset of hours and a comma": {ordersAt(3, 5), `"2026-01-01T10:00:00,000007+02"`, at(7)},
		"without seconds":                     {ordersAt(3, 5), `"2026-01-01T08:01Z"`, at(60_000_000)},
		"without an offset":                   {ordersAt(3, 5), `"2026-01-01T08:00:00.000007"`, at(7)},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			next := `,"next_updated_since":` + c.next
			if c.next == "" {
				next = ""
			}
			say(w, 200, `{"data":[`+c.data+`]`+next+`}`)
		}, keepAll)
		p, err := OnlineOrders.Page(t.Context(), s.Client, ListQuery{Cursor: at(0)})
		if passed := strings.HasPrefix(name, "a full page of one instant"); passed == p.PassedBy.IsZero() {
			t.Errorf("%s: passed by %s", name, p.PassedBy)
		}
		if err != nil || p.HasMore != (c.want != "") || p.NextCursor != c.want {
			t.Errorf("%s: on from %q (%v), %v; want %q", name, p.NextCursor, p.HasMore, err, c.want)
		}
		p.Release()
	}
}

// No error shows a piece of an answer that tells of people, and nothing is asked where nobody
// has said what is kept.
func TestAnswersThatTellOfPeopleAreNotShown(t *testing.T) {
	body := ""
	status := 200
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { say(w, status, body) }, func(o *Options) { keepAll(o); o.RetryMax = -1 })
	for _, c := range []struct {
		status int
		body   string
	}{
		{200, `{"data":[{"customer":{"name":"Ana Secretescu"`}, {200, `{"data":{"customer":"Ana Secretescu"}}`},
		{200, `["Ana Secretescu"]`}, {200, `{"data":[],"next_updated_since":"Secretescu"}`}, {200, `<html>Secretescu`},
		{200, `{"data":[],"next_updated_since":null,"next_updated_since":null}`},
		{502, `Secretescu`}, {404, `Secretescu`}, {200, ``},
	} {
		status, body = c.status, c.body
		_, first := OnlineOrders.Page(t.Context(), s.Client, ListQuery{})
		_, second := s.OnlineOrder(t.Context(), "o1")
		for _, err := range []error{first, second} {
			if err != nil && strings.Contains(err.Error(), "ecret") {
				t.Errorf("%s: %v", c.body, err)
			}
		}
		if first == nil {
			t.Errorf("%s: no error", c.body)
		}
	}
	bare := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }, nil)
	if _, err := OnlineOrders.Page(t.Context(), bare.Client, ListQuery{}); !errors.Is(err, errNothingKept) {
		t.Errorf("error %v", err)
	}
	if _, err := bare.OnlineOrder(t.Context(), "o1"); !errors.Is(err, errNothingKept) {
		t.Errorf("error %v", err)
	}
}

func TestAnOnlineOrderByItsID(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/v1/orders/o%2F1" {
			t.Errorf("asked %s", r.URL.EscapedPath())
		}
		say(w, 200, `{"id":"o/1"}`)
	}, func(o *Options) { o.Keep = func(Raw) Raw { return Raw("kept") } })
	d, err := s.OnlineOrder(t.Context(), "o/1")
	if err != nil || string(d.Raw) != "kept" {
		t.Errorf("%s, %v", d.Raw, err)
	}
}
