package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// inbox is a receiver, what it has stored, and what it has said.
type inbox struct {
	*Receiver
	t      *testing.T
	now    time.Time
	stored []string
	what   Outcome
	err    error
	log    bytes.Buffer
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{t: t, now: time.Unix(1767254400, 0), what: Stored}
	in.Receiver = New(Options{
		Secrets: func(source string) []string {
			return map[string][]string{"bistro": {secret, "whsec_next"}, "cafe": {"whsec_other"}}[source]
		},
		Deliver: func(_ context.Context, source string, order []byte) (Outcome, error) {
			if in.err == nil {
				in.stored = append(in.stored, source+" "+string(order))
			}
			return in.what, in.err
		},
		Now: func() time.Time { return in.now }, Logger: slog.New(slog.NewTextHandler(&in.log, nil)),
		Registerer: prometheus.NewPedanticRegistry(), Sources: []string{"bistro"},
	})
	return in
}

func eventOf(id, kind string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"created_at":"2026-01-01T08:00:00Z","test":false,"data":{"order":{"id":"o1","customer":{"name":"Ana Secretescu"}}}}`, id, kind)
}

// post sends a body to a path, signed unless a header says otherwise.
func (in *inbox) post(path, body string, change ...func(*http.Request)) int {
	in.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Service-Signature", header(secret, in.now, body))
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	in.ServeHTTP(w, r)
	if w.Body.Len() > 0 {
		in.t.Errorf("%s answers %q", path, w.Body)
	}
	return w.Code
}

func (in *inbox) count(what Outcome) float64 {
	return testutil.ToFloat64(in.events.WithLabelValues(in.label("bistro"), string(what)))
}

// A thousand sources have ten outcomes each.
func TestSourcesShareTheirCounters(t *testing.T) {
	for detail, want := range map[bool]int{false: len(outcomes), true: 2 * len(outcomes)} {
		if n := testutil.CollectAndCount(New(Options{Sources: []string{"bistro", "cafe"}, Detail: detail}).events); n != want {
			t.Errorf("detail %v: %d counters of two sources, want %d", detail, n, want)
		}
	}
}

func TestAnEventIsAcknowledgedWhenItIsStored(t *testing.T) {
	in := newInbox(t)
	in.err = errors.New("the warehouse is away")
	if code := in.post("/webhooks/bistro", eventOf("evt_1", "order.accepted")); code != 503 || len(in.stored) > 0 {
		t.Errorf("%d while the warehouse is away, stored %v", code, in.stored)
	}
	in.err = nil
	for _, in.what = range []Outcome{Stored, Repeated} { // at least once
		if code := in.post("/webhooks/bistro", eventOf("evt_1", "order.accepted")); code != 204 {
			t.Errorf("%d", code)
		}
	}
	if len(in.stored) != 2 || in.stored[0] != `bistro {"id":"o1","customer":{"name":"Ana Secretescu"}}` {
		t.Errorf("stored %v", in.stored)
	}
	for what, n := range map[Outcome]float64{Stored: 1, Repeated: 1, Postponed: 1} {
		if in.count(what) != n {
			t.Errorf("%s: %g, want %g", what, in.count(what), n)
		}
	}
	in.what = Older
	if code := in.post("/webhooks/bistro", eventOf("evt_2", "order.ready")); code != 204 || in.count(Older) != 1 {
		t.Errorf("older: %d, counted %g", code, in.count(Older))
	}
	if code := in.post("/webhooks/bistro/", eventOf("evt_3", "order.ready")); code != 204 || in.count(Older) != 2 {
		t.Errorf("with a slash behind the path: %d, counted %g", code, in.count(Older))
	}
	if strings.Contains(in.log.String(), "ecret") {
		t.Errorf("the log has what an order says: %s", &in.log)
	}
}

func TestWhatIsNoWebhook(t *testing.T) {
	in := newInbox(t)
	good := eventOf("evt_1", "order.accepted")
	unsigned := func(r *http.Request) { r.Header.Del("Service-Signature") }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	for _, c := range []struct {
		path, body string
		change     func(*http.Request)
		want       int
	}{
		{"/", good, nil, 404}, {"/webhooks/", good, nil, 404}, {"/webhooks/other", good, nil, 404}, {"/webhooks/bistro//", good, nil, 404}, {"/webhooks//bistro", good, nil, 404},
		{"/webhooks/%62istro", good, nil, 404}, {"/metrics", good, nil, 404}, {"/webhooks", good, nil, 404}, {"/webhooks/other", good, method("GET"), 404},
		{"/webhooks/bistro", good, method("GET"), 405}, {"/webhooks/bistro", good, method("PUT"), 405}, {"/webhooks/bistro", good, method("OPTIONS"), 405},
		{"/webhooks/bistro", good, unsigned, 401},
		{"/webhooks/bistro", good, func(r *http.Request) { r.Header.Set("Service-Signature", header("other", in.now, good)) }, 401},
		{"/webhooks/bistro", good, func(r *http.Request) { r.Header.Add("Service-Signature", "t=1,v1=") }, 401},
		{"/webhooks/bistro", good, func(r *http.Request) {
			r.Header.Set("Service-Signature", header(secret, in.now.Add(-tolerance-time.Second), good))
		}, 401},
		{"/webhooks/bistro", good, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(good[:40])) }, 401},
		{"/webhooks/bistro", good, func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(good[:40]), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}, 400},
		{"/webhooks/bistro", good, func(r *http.Request) { r.ContentLength = maxBody + 1 }, 413},
		{"/webhooks/bistro", good, func(r *http.Request) {
			r.ContentLength, r.Body = -1, io.NopCloser(io.LimitReader(endless{}, maxBody+1))
		}, 413},
		{"/webhooks/bistro", `{"hello":"Secretescu"}`, nil, 400}, {"/webhooks/bistro", `["Secretescu"]`, nil, 400}, {"/webhooks/bistro", `Secretescu`, nil, 400},
		{"/webhooks/bistro", ``, nil, 400}, {"/webhooks/bistro", `{"id":"e","type":"order.ready","data":{"order":"Secretescu"}}`, nil, 400},
		{"/webhooks/bistro", `{"id":"e","type":"order.ready","data":null}`, nil, 400}, {"/webhooks/bistro", `{"id":5,"type":"order.ready","data":{}}`, nil, 400},
	} {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		if code := in.post(c.path, c.body, change); code != c.want {
			t.Errorf("%s %.40q: %d, want %d", c.path, c.body, code, c.want)
		}
	}
	if len(in.stored) > 0 {
		t.Errorf("stored %v", in.stored)
	}
	if strings.Contains(in.log.String(), "Secretescu") {
		t.Errorf("the log has what a body says: %s", &in.log)
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestPingsAndTypesToCome(t *testing.T) {
	in := newInbox(t)
	if !in.LastPing("bistro").IsZero() {
		t.Error("pinged before")
	}
	ping := `{"id":"evt_p","type":"ping","created_at":"2026-01-01T08:00:00Z","test":true,"data":{"app":{"id":"a","name":"k","mode":"test"},"message":"hello"}}`
	if code := in.post("/webhooks/bistro", ping); code != 204 || !in.LastPing("bistro").Equal(in.now) || in.count(Ping) != 1 {
		t.Errorf("%d, last ping %s", code, in.LastPing("bistro"))
	}
	// A type that the API's description does not name: the order in it is stored, and the log reports it once a day.
	for _, id := range []string{"evt_1", "evt_2"} {
		if code := in.post("/webhooks/bistro", eventOf(id, "order.delayed")); code != 204 {
			t.Errorf("%d", code)
		}
	}
	if code := in.post("/webhooks/bistro", `{"id":"evt_3","type":"menu.changed","data":{"menu":{}}}`); code != 204 || in.count(NoOrder) != 1 {
		t.Errorf("without an order: %d, counted %g", code, in.count(NoOrder))
	}
	if len(in.stored) != 2 || strings.Count(in.log.String(), "order.delayed") != 1 || !strings.Contains(in.log.String(), "menu.changed") {
		t.Errorf("stored %v, log %s", in.stored, &in.log)
	}
	for after, want := range map[time.Duration]int{23 * time.Hour: 1, 25 * time.Hour: 2} {
		in := newInbox(t)
		in.post("/webhooks/bistro", eventOf("evt_1", "order.delayed"))
		in.now = in.now.Add(after)
		in.post("/webhooks/bistro", eventOf("evt_2", "order.delayed"))
		if n := strings.Count(in.log.String(), "order.delayed"); n != want {
			t.Errorf("logged %d times after %s, want %d", n, after, want)
		}
	}
}

// However many types there are that the API's description does not name, few are remembered and logged.
func TestUnknownTypesAreBounded(t *testing.T) {
	in := newInbox(t)
	for i := range 2 * maxLogged {
		in.post("/webhooks/bistro", eventOf(fmt.Sprint("evt_", i), fmt.Sprint("type.", i)))
	}
	if n := strings.Count(in.log.String(), "does not name"); n != maxLogged || len(in.logged) != maxLogged {
		t.Errorf("%d are logged, %d remembered", n, len(in.logged))
	}
	in.post("/webhooks/bistro", "x", func(r *http.Request) { r.Header.Del("Service-Signature") })
	if !strings.Contains(in.log.String(), "no good signature") {
		t.Error("they hide that the secret may be wrong")
	}
}

// Large events that wait for the warehouse hold their places.
func TestLargeEventsWaitForTheWarehouseInPlaces(t *testing.T) {
	in := newInbox(t)
	var waiting, sending sync.WaitGroup
	goOn := make(chan struct{})
	in.opts.Deliver = func(context.Context, string, []byte) (Outcome, error) {
		waiting.Done()
		<-goOn
		return Stored, nil
	}
	large := eventOf("evt_1", "order.ready") + strings.Repeat(" ", smallBody)
	waiting.Add(maxLarge)
	for range maxLarge {
		sending.Go(func() { in.post("/webhooks/bistro", large) })
	}
	waiting.Wait()
	if code := in.post("/webhooks/bistro", large); code != 503 {
		t.Errorf("one more: %d", code)
	}
	close(goOn)
	sending.Wait()
	waiting.Add(1)
	if code := in.post("/webhooks/bistro", large); code != 204 {
		t.Errorf("after them: %d", code)
	}
}

// Forged ones hold back nothing that is signed rightly, though both come through one proxy. The log
// reports them once a minute.
func TestForgedOnesAreRefused(t *testing.T) {
	in := newInbox(t)
	forged := func(r *http.Request) { r.Header.Set("Service-Signature", header("other", in.now, "")) }
	for i := range 100 {
		if code := in.post("/webhooks/bistro", "x", forged); code != 401 {
			t.Fatalf("a forged one: %d", code)
		}
		if code := in.post("/webhooks/bistro", eventOf(fmt.Sprint("evt_", i), "order.ready")); code != 204 {
			t.Fatalf("a genuine one: %d", code)
		}
	}
	if n := strings.Count(in.log.String(), "no good signature"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if in.post("/webhooks/cafe", "x", forged); !strings.Contains(in.log.String(), "source=cafe") {
		t.Error("forgeries of one source hide that another one's secret may be wrong")
	}
	in.now = in.now.Add(logEvery)
	in.post("/webhooks/bistro", "x", forged)
	if n := strings.Count(in.log.String(), "no good signature"); n != 3 {
		t.Errorf("logged %d times after another minute", n)
	}
}

// stalled is a body that begins, and goes on when the test says so.
type stalled struct {
	begins  io.Reader
	waiting func()
	goOn    chan struct{}
}

func (s *stalled) Read(b []byte) (int, error) {
	if n, err := s.begins.Read(b); err == nil {
		return n, nil
	}
	s.waiting()
	<-s.goOn
	return 0, io.ErrUnexpectedEOF
}

// Bodies that never end keep no event waiting that is signed rightly; of large ones, only so
// many are read at once.
func TestBodiesThatNeverEnd(t *testing.T) {
	for name, c := range map[string]struct{ begins, many int }{"small": {10, maxConnections}, "large": {smallBody + 10, maxLarge}} {
		in := newInbox(t)
		goOn := make(chan struct{})
		var sending, waiting sync.WaitGroup
		waiting.Add(c.many)
		for range c.many {
			sending.Go(func() {
				in.post("/webhooks/bistro", "", func(r *http.Request) {
					r.ContentLength = -1
					r.Body = io.NopCloser(&stalled{strings.NewReader(strings.Repeat(" ", c.begins)), waiting.Done, goOn})
				})
			})
		}
		waiting.Wait()
		if code := in.post("/webhooks/bistro", eventOf("evt_1", "order.ready")); code != 204 {
			t.Errorf("beside %s ones: %d", name, code)
		}
		large := eventOf("evt_2", "order.ready") + strings.Repeat(" ", smallBody)
		if code, want := in.post("/webhooks/bistro", large), map[string]int{"small": 204, "large": 503}[name]; code != want {
			t.Errorf("a large one beside %s ones: %d, want %d", name, code, want)
		}
		close(goOn)
		sending.Wait()
		if code := in.post("/webhooks/bistro", large); code != 204 {
			t.Errorf("a large one after %s ones: %d", name, code)
		}
	}
}

// The second secret is taken, too.
func TestASecretThatIsBeingReplaced(t *testing.T) {
	in := newInbox(t)
	body := eventOf("evt_1", "order.ready")
	next := func(r *http.Request) { r.Header.Set("Service-Signature", header("whsec_next", in.now, body)) }
	if code := in.post("/webhooks/bistro", body, next); code != 204 {
		t.Errorf("%d", code)
	}
}
