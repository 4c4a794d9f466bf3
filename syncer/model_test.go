package syncer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// model is a list server of the tests' own: what the mirror has to end up with,
// served as docs/openapi.yaml, Lists with a cursor has it, in order of (updated_at, id)
// with cursors that are bound to their filters. Requests wait for their turn until
// the gate is open, so that a test decides what happens between two pages.
type model struct {
	fake      *fake // answers everything else
	size      int   // rows on a page
	nullsLast bool  // where rows without updated_at stand

	mu      sync.Mutex
	rows    map[string]record
	changes int
	open    bool
	waiting []*visitor

	answers []string // what was answered, for a person who reads a failure
	// What awaits walks over everything (true) and those from an updated_since.
	faults map[bool]*troubles
}

// troubles are what awaits the next requests of a kind.
type troubles struct {
	refuse int         // so many cursors are answered 422
	fail   int         // so many requests are answered 500
	upset  []upsetting // of the next pages
}

func newModel(f *fake) *model {
	m := &model{fake: f, rows: map[string]record{}}
	m.calm()
	return m
}

// calm ends all trouble.
func (m *model) calm() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults = map[bool]*troubles{true: {}, false: {}}
}

// trouble makes some.
func (m *model) trouble(whole bool, make func(*troubles)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	make(m.faults[whole])
}

// record is the present state of a row.
type record struct {
	id      string
	raw     string
	stamp   time.Time // zero for a null updated_at
	deleted bool
	bad     bool // cannot be understood
}

// upsetting is what is wrong with a page.
type upsetting int

const (
	backwards upsetting = iota // its rows come newest first
	repeating                  // it begins with rows of the page before
	swapped                    // the page behind it comes first
	upsettings
)

// visitor is a request that waits for its turn.
type visitor struct {
	whole bool // no updated_since
	turn  chan struct{}
}

// mark is a cursor: the last row before it, and the filters it was made for.
type mark struct {
	Since string
	After *spot
	// Of a page that was passed over, and is served next: it ends with Until, and
	// the page behind it begins after Then.
	Until, Then *spot `json:",omitempty"`
}

// spot is a row's place in the list.
type spot struct {
	Rank  int // 0: without updated_at, first; 1: with; 2: without, last
	Stamp int64
	ID    string
}

func (a spot) compare(b spot) int {
	if a.Rank != b.Rank {
		return a.Rank - b.Rank
	}
	if a.Stamp != b.Stamp {
		return int(max(min(a.Stamp-b.Stamp, 1), -1))
	}
	return strings.Compare(a.ID, b.ID)
}

func (m *model) spot(r record) spot {
	switch {
	case !r.stamp.IsZero():
		return spot{1, r.stamp.UnixMicro(), r.id}
	case m.nullsLast:
		return spot{2, 0, r.id}
	default:
		return spot{0, 0, r.id}
	}
}

// now is the service's clock.
func (m *model) now() time.Time { return time.Now().Add(m.fake.skew) }

// put changes a row.
func (m *model) put(r record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	updated := "null"
	if !r.stamp.IsZero() {
		r.stamp = r.stamp.Truncate(time.Microsecond)
		updated = clockText(r.stamp)
	}
	switch {
	case r.deleted:
		r.raw = tombstoneOf(r.id, updated)
	case r.bad:
		r.raw = strings.Replace(category(r.id, "", updated), `""`, fmt.Sprint(m.changes), 1)
	default:
		r.raw = category(r.id, fmt.Sprint("state ", m.changes), updated)
	}
	m.rows[r.id] = r
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1"+cats {
		m.fake.ServeHTTP(w, r)
		return
	}
	if !m.admitted(r.Context(), !r.URL.Query().Has("updated_since")) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w.Header()["Date"] = nil
	if !m.fake.silent {
		w.Header().Set("Date", m.now().UTC().Format(http.TimeFormat))
	}
	query := r.URL.Query()
	at, ok := m.cursor(query)
	if !ok {
		m.note(query, "422")
		fakeError(w, 422, "validation_failed")
		return
	}
	if f := m.faults[at.Since == ""]; f.fail > 0 {
		f.fail--
		m.note(query, "500")
		fakeError(w, 500, "server_error")
		return
	}
	rows, next := m.page(at)
	m.write(w, rows, next)
	m.note(query, fmt.Sprint(len(rows), " rows"))
}

func (m *model) note(query url.Values, answer string) {
	m.answers = append(m.answers, fmt.Sprintf("%s since %q cursor %.40q: %s", m.now().Format(time.TimeOnly), query.Get("updated_since"), query.Get("cursor"), answer))
}

// admitted waits until the request's turn.
func (m *model) admitted(ctx context.Context, whole bool) bool {
	m.mu.Lock()
	if m.open {
		m.mu.Unlock()
		return true
	}
	v := &visitor{whole: whole, turn: make(chan struct{})}
	m.waiting = append(m.waiting, v)
	m.mu.Unlock()
	select {
	case <-v.turn:
		return true
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		m.waiting = slices.DeleteFunc(m.waiting, func(other *visitor) bool { return other == v })
		return false
	}
}

// visitors is how many requests wait.
func (m *model) visitors() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// admit lets one waiting request in, of a walk over everything or of another, if
// one of that kind waits.
func (m *model) admit(whole bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		return
	}
	i := max(slices.IndexFunc(m.waiting, func(v *visitor) bool { return v.whole == whole }), 0)
	close(m.waiting[i].turn)
	m.waiting = slices.Delete(m.waiting, i, i+1)
}

// gate opens or closes the gate; those that wait go in one after the other.
func (m *model) gate(open bool) {
	for open && m.visitors() > 0 {
		m.admit(false)
		pause()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = open
}

// pause lets everybody act who can; no other timer ends with it.
func pause() {
	time.Sleep(10*time.Millisecond + 137*time.Microsecond)
	synctest.Wait()
}

// cursor reads a request's cursor; it is false when the request is refused.
func (m *model) cursor(query url.Values) (at mark, ok bool) {
	at.Since = query.Get("updated_since")
	text := query.Get("cursor")
	if text == "" {
		return at, query.Get("include_deleted") == "true"
	}
	content, err := base64.URLEncoding.DecodeString(text)
	if err != nil {
		return at, false
	}
	var sent mark
	if json.Unmarshal(content, &sent) != nil || sent.Since != at.Since {
		return at, false
	}
	// Nobody could know that the page passed over is still to come.
	if f := m.faults[at.Since == ""]; f.refuse > 0 && sent.Until == nil {
		f.refuse--
		return at, false
	}
	return sent, true
}

// page is the rows behind a cursor, and the cursor behind them, nil at the end.
func (m *model) page(at mark) (rows []record, next *mark) {
	list := m.list(at.Since)
	if at.Until != nil {
		passed := slices.DeleteFunc(m.behind(list, at.After), func(r record) bool { return m.spot(r).compare(*at.Until) > 0 })
		return passed, &mark{Since: at.Since, After: at.Then}
	}
	upset := upsettings
	if f := m.faults[at.Since == ""]; len(f.upset) > 0 {
		upset, f.upset = f.upset[0], f.upset[1:]
	}
	rest := m.behind(list, at.After)
	rows, more := m.first(rest)
	if !more {
		return rows, nil
	}
	end := m.spot(rows[len(rows)-1])
	next = &mark{Since: at.Since, After: &end}
	switch upset {
	case backwards:
		slices.Reverse(rows)
	case repeating:
		rows = append(slices.Clone(list[:min(2, len(list)-len(rest))]), rows...)
	case swapped:
		rows, _ = m.first(rest[len(rows):])
		last := m.spot(rows[len(rows)-1])
		next = &mark{Since: at.Since, After: at.After, Until: &end, Then: &last}
	}
	return rows, next
}

// list is every row that a walk with this updated_since brings.
func (m *model) list(since string) []record {
	var rows []record
	from, err := time.Parse(time.RFC3339Nano, since)
	for _, r := range m.rows {
		unstamped := r.stamp.IsZero()
		if since == "" || unstamped && r.deleted || !unstamped && err == nil && !r.stamp.Before(from) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b record) int { return m.spot(a).compare(m.spot(b)) })
	return rows
}

func (m *model) behind(list []record, after *spot) []record {
	return slices.DeleteFunc(slices.Clone(list), func(r record) bool { return after != nil && m.spot(r).compare(*after) <= 0 })
}

func (m *model) first(rows []record) (page []record, more bool) {
	return slices.Clone(rows[:min(m.size, len(rows))]), len(rows) > m.size
}

func (m *model) write(w http.ResponseWriter, rows []record, next *mark) {
	raws := make([]string, len(rows))
	for i, r := range rows {
		raws[i] = r.raw
	}
	cursor := "null"
	if next != nil {
		content, err := json.Marshal(next)
		if err != nil {
			panic(err)
		}
		cursor = quoteJSON(base64.URLEncoding.EncodeToString(content))
	}
	fmt.Fprintf(w, `{"data":[%s],"next_cursor":%s,"has_more":%v}`, strings.Join(raws, ","), cursor, next != nil)
}
