package syncer

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a service that answers exactly what a test tells it to.
type fake struct {
	mu       sync.Mutex
	me       string
	keys     map[string]bool // accepted; all when nil
	rows     map[string][]string
	answer   map[string]func(w http.ResponseWriter, r *http.Request) bool // by path; false falls through
	log      []string
	at       []time.Time
	refusals []time.Time   // answers to wrong keys
	skew     time.Duration // of the Date header
	silent   bool          // no Date header
}

const fakeMe = `{"app":{"id":"app1","name":"k","mode":"live"},"business":{"id":"b1","name":"B"},` +
	`"scopes":["locations:read","menu:read","sales:read","stock:read"],"location_ids":["l1"],"all_locations":true,` +
	`"rate_limits":{"per_minute":120,"business_per_minute":600,"heavy_per_minute":30,"orders_per_minute":30},` +
	`"webhook":{"url":null,"configured":false}}`

func newFake() *fake {
	return &fake{me: fakeMe, rows: map[string][]string{}, answer: map[string]func(http.ResponseWriter, *http.Request) bool{}}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	f.log, f.at = append(f.log, path+"?"+r.URL.RawQuery), append(f.at, time.Now())
	w.Header().Set("Date", time.Now().Add(f.skew).UTC().Format(http.TimeFormat))
	if f.silent {
		w.Header()["Date"] = nil
	}
	w.Header().Set("X-RateLimit-Limit", "120")
	if f.keys != nil && !f.keys[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] {
		f.refusals = append(f.refusals, time.Now())
		fakeError(w, 401, "unauthorized")
		return
	}
	if a := f.answer[path]; a != nil && a(w, r) {
		return
	}
	switch path {
	case "/me":
		fmt.Fprint(w, f.me)
	case "/locations", "/allergens":
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(f.rows[path], ","))
	case "/sales/daily":
		fmt.Fprintf(w, `{"currency":"RON","from":"2000-01-01","to":"2000-01-01","data":[%s],"totals":{}}`, strings.Join(f.rows[path], ","))
	case "/sales/products":
		fmt.Fprintf(w, `{"currency":"RON","from":"2000-01-01","to":"2000-01-01","group_by":"day","data":[%s]}`, strings.Join(f.rows[path], ","))
	default:
		f.list(w, r, f.rows[path])
	}
}

// list answers a page of rows that a test has put in order of change; a cursor is
// the number of rows before it.
func (f *fake) list(w http.ResponseWriter, r *http.Request, rows []string) {
	q := r.URL.Query()
	if text := q.Get("updated_since"); text != "" {
		since, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			fakeError(w, 422, "validation_failed")
			return
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(raw string) bool {
			at := stampIn(raw)
			return at.IsZero() || at.Before(since)
		})
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	to := min(from+limit, len(rows))
	next, more := "null", to < len(rows)
	if more {
		next = strconv.Quote(strconv.Itoa(to))
	}
	fmt.Fprintf(w, `{"data":[%s],"next_cursor":%s,"has_more":%v}`, strings.Join(rows[min(from, to):to], ","), next, more)
}

func stampIn(raw string) time.Time {
	var row struct {
		UpdatedAt *time.Time `json:"updated_at"`
	}
	if json.Unmarshal([]byte(raw), &row) != nil || row.UpdatedAt == nil {
		return time.Time{}
	}
	return *row.UpdatedAt
}

func fakeError(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":"m","display_message":"d","details":null}}`, code)
}

// set changes the rows of a path.
func (f *fake) set(path string, rows ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows[path] = rows
}

// on answers a path by itself; nil ends that.
func (f *fake) on(path string, a func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer[path] = a
}

// meanwhile calls g from an answer of a path, and answers other requests until g returns.
func (f *fake) meanwhile(g func()) {
	f.mu.Unlock()
	defer f.mu.Lock()
	g()
}

// taken returns every request since the last call, with its time.
func (f *fake) taken() (log []string, at []time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log, at = f.log, f.at
	f.log, f.at = nil, nil
	return log, at
}

// row returns a row as the fake has it.
func (f *fake) row(path string, i int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rows[path][i]
}

// asked returns the requests of a path since the last call.
func (f *fake) asked(path string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []string
	for _, l := range f.log {
		if strings.HasPrefix(l, path+"?") {
			found = append(found, l)
		}
	}
	f.log, f.at = nil, nil
	return found
}

// inFake runs a test against a fake in a bubble, with one source "s".
func inFake(t *testing.T, test func(t *testing.T, f *fake, w *world)) {
	t.Helper()
	f := newFake()
	inScript(t, f, func(t *testing.T, w *world) { test(t, f, w) })
}

func (w *world) one(edit ...func(*Source)) Source {
	s := sourceOf("s", "svc_live_1")
	for _, e := range edit {
		e(&s)
	}
	return s
}

// category is a category's row; updated is an instant or null.
func category(id, name, updated string) string {
	if updated != "null" {
		updated = strconv.Quote(updated)
	}
	return fmt.Sprintf(`{"id":%s,"deleted":false,"location_id":null,"name":%s,"image_url":null,"position":1,"created_at":null,"updated_at":%s}`,
		quoteJSON(id), quoteJSON(name), updated)
}

func tombstoneOf(id, updated string) string {
	if updated != "null" {
		updated = strconv.Quote(updated)
	}
	return fmt.Sprintf(`{"id":%s,"deleted":true,"deleted_at":%s,"updated_at":%s}`, quoteJSON(id), updated, updated)
}

func quoteJSON(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func clockText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// product is a product's row.
func product(id, location, updated string) string {
	return fmt.Sprintf(`{"id":%s,"deleted":false,"location_id":%q,"category_id":null,"name":"P","description":null,"image_url":null,`+
		`"price":"10.00","unit":"piece","vat_rate":9,"deposit":null,"available":true,"allergens":[],"diets":[],"calories":null,`+
		`"prep_minutes":null,"station":"kitchen","channels":{},"variants":[],"extra_groups":[],"position":1,"created_at":null,"updated_at":%q}`,
		quoteJSON(id), location, updated)
}
