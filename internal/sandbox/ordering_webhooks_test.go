package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/units"
	"github.com/larder-sync/larder/internal/test/apicheck"
)

// hook is a key's webhook receiver. It checks what it receives as the API's description demands.
type hook struct {
	t      testing.TB
	mu     sync.Mutex
	secret string
	now    func() time.Time
	status int
	got    []types.WebhookEvent[types.OrderData]
	bodies [][]byte
	forged int
	pings  int
}

// RoundTrip is http.RoundTripper's, so that no network is needed.
func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.genuine(r.Header.Get("Service-Signature"), body) {
		h.forged++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if err := apicheck.CheckEvent(r.Header, body); err != nil {
		h.t.Error(err)
	}
	if r.Header.Get("Service-Event-Type") == "ping" {
		h.pings++
		w.WriteHeader(h.status)
		return
	}
	e := strict[types.WebhookEvent[types.OrderData]](h.t, body)
	for name, want := range map[string]string{"User-Agent": "Service-Webhooks/1.0", "Service-Event-Id": e.ID, "Service-Event-Type": e.Type, "Content-Type": "application/json"} {
		if got := r.Header.Get(name); got != want {
			h.t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	h.got, h.bodies = append(h.got, e), append(h.bodies, body)
	w.WriteHeader(h.status)
}

var signature = regexp.MustCompile(`^t=(\d+),v1=([0-9a-f]{64})$`)

// genuine is docs/openapi.yaml, webhooks, in the test's own words.
func (h *hook) genuine(header string, body []byte) bool {
	m := signature.FindStringSubmatch(header)
	if m == nil {
		h.t.Errorf("signature %q", header)
		return false
	}
	unix, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		h.t.Error(err)
	}
	if age := h.now().Sub(time.Unix(unix, 0)); age.Abs() > 300*time.Second {
		h.t.Errorf("signed %s ago", age)
	}
	mac := hmac.New(sha256.New, []byte(h.secret))
	fmt.Fprintf(mac, "%s.%s", m[1], body)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(m[2]))
}

// hooked is a shop whose key has a webhook.
func hooked(t testing.TB, o Options) (*shop, *hook) {
	t.Helper()
	h := &hook{t: t, status: 204}
	o.NoLimits, o.WebhookTransport = true, h
	s := newShop(t, o)
	h.now, h.secret = func() time.Time { return s.clock }, s.Key(0, RoleOrders).WebhookSecret
	s.hookTo("https://shop.test/hook")
	if !strings.HasPrefix(h.secret, "whsec_") {
		t.Errorf("secret %q", h.secret)
	}
	return s, h
}

func (s *shop) hookTo(url string) {
	s.t.Helper()
	if err := s.UpdateKey(s.key, func(k *Key) { k.WebhookURL = url }); err != nil {
		s.t.Fatal(err)
	}
}

// wait lets time go by and sends what is due.
func (s *shop) wait(d time.Duration) int {
	s.t.Helper()
	s.clock = s.clock.Add(d)
	return s.DeliverWebhooks(s.t.Context())
}

func (h *hook) types() []string {
	var all []string
	for _, e := range h.got {
		all = append(all, strings.TrimPrefix(e.Type, "order."))
	}
	return all
}

// docs/openapi.yaml, webhooks: which changes are sent, what an event has, and how it is signed.
func TestOrderEvents(t *testing.T) {
	for want, path := range map[string][]string{
		"accepted ready completed": {"accept", "estimate", "pay", "ready", "complete"},
		"rejected":                 {"reject"}, "accepted cancelled": {"accept", "cancel"}, "accepted ready cancelled": {"accept", "ready", "cancel"},
	} {
		s, h := hooked(t, Options{})
		o := s.placed("payment.status", "unpaid")
		var shown []string
		for _, kind := range path {
			s.moved(o.ID, kind)
			if s.DeliverWebhooks(t.Context()) > 0 {
				shown = append(shown, string(s.get("/orders/"+o.ID).body))
			}
		}
		if got := strings.Join(h.types(), " "); got != want {
			t.Errorf("%v told %s, want %s", path, got, want)
		}
		for i, e := range h.got {
			// The order of an event is whole, as GET /orders/{id} answers it.
			if !strings.Contains(string(h.bodies[i]), `"data":{"order":`+shown[i]+`}`) {
				t.Errorf("event %s\norder %s", h.bodies[i], shown[i])
			}
			if e.CreatedAt != e.Data.Order.UpdatedAt || e.Test || !regexp.MustCompile(`^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$`).MatchString(e.ID) {
				t.Errorf("event %s", h.bodies[i])
			}
		}
	}
	s, h := hooked(t, Options{})
	s.send("POST", s.key, "/orders/"+s.placed().ID+"/cancel", "")
	s.wait(0)
	s.placed()
	s.wait(6 * time.Minute) // nobody answers the second
	if got := strings.Join(h.types(), " "); got != "cancelled rejected" || h.got[1].Data.Order.Rejection.Code != "no_response" {
		t.Errorf("told %s", got)
	}
}

// A key's URL receives the events of the orders that it has placed, and none of another key's. The
// event of a test order is marked as one.
func TestWhoIsTold(t *testing.T) {
	s, h := hooked(t, Options{})
	silent := s.AddKey(Key{Scopes: []string{types.ScopeOrders}, AllLocations: true})
	test := s.OrdersTestKey(0)
	mine := s.placed()
	other := s.created(s.send("POST", silent.Value, "/orders", string(units.JSON(s.order()))))
	tried := s.created(s.send("POST", test.Value, "/orders", string(units.JSON(s.order()))))
	for _, id := range []string{mine.ID, other.ID, tried.ID} {
		s.moved(id, "accept")
	}
	s.DeliverWebhooks(t.Context())
	if len(h.got) != 1 || h.got[0].Data.Order.ID != mine.ID || h.got[0].Test {
		t.Errorf("told %+v", h.got)
	}
	s.key, h.secret = test.Value, test.WebhookSecret
	s.hookTo("https://shop.test/hook")
	s.moved(tried.ID, "ready")
	s.DeliverWebhooks(t.Context())
	if len(h.got) != 2 || !h.got[1].Test || !h.got[1].Data.Order.Test {
		t.Errorf("told %+v", h.got)
	}
	// A URL taken back while an event is on its way.
	h.status = 500
	s.moved(tried.ID, "complete")
	s.DeliverWebhooks(t.Context())
	s.hookTo("")
	if n := s.wait(48 * time.Hour); n != 1 || len(h.got) != 3 || s.Deliveries()[2].State != "failed" {
		t.Errorf("%d attempts, %d told, %+v", n, len(h.got), s.Deliveries())
	}
}

// A receiver that was away gets every event, each with the body and id that it had, signed
// anew (docs/openapi.yaml, webhooks).
func TestAReceiverThatWasAway(t *testing.T) {
	s, h := hooked(t, Options{})
	h.status = 503
	s.moved(s.placed().ID, "accept", "ready", "complete")
	s.DeliverWebhooks(t.Context())
	h.status = 200
	s.wait(59 * time.Second)
	if len(h.got) != 3 {
		t.Fatalf("%d events before their time", len(h.got))
	}
	s.wait(time.Second)
	if len(h.got) != 6 {
		t.Fatalf("%d events", len(h.got))
	}
	for i, first := range h.bodies[:3] {
		if !slices.ContainsFunc(h.bodies[3:], func(b []byte) bool { return string(b) == string(first) }) {
			t.Errorf("event %d came with another body", i)
		}
	}
	for _, d := range s.Deliveries() {
		if d.State != "delivered" || d.Attempts != 2 || d.Status != 200 {
			t.Errorf("%+v", d)
		}
	}
}

// Each fault of webhooks strikes on demand.
func TestFaultsOnWebhooks(t *testing.T) {
	for kind, want := range map[string][]string{
		faults.WebhookLost: {"ready"}, faults.WebhookTwice: {"accepted", "accepted", "ready"}, faults.WebhookDelayed: {"ready", "accepted"},
		faults.WebhookOutOfOrder: {"ready", "accepted"}, faults.WebhookForged: {"accepted", "ready"},
	} {
		s, h := hooked(t, Options{Faults: []faults.Fault{{Kind: kind, Count: 1, Delay: 10 * time.Minute}}})
		o := s.placed()
		s.moved(o.ID, "accept")
		s.DeliverWebhooks(t.Context())
		s.wait(2 * time.Second)
		s.moved(o.ID, "ready")
		s.DeliverWebhooks(t.Context())
		for range 20 {
			s.wait(time.Minute)
		}
		if got := h.types(); !slices.Equal(got, want) {
			t.Errorf("%s: told %v, want %v", kind, got, want)
		}
		if s.FaultsInjected()[kind] != 1 || (h.forged > 0) != (kind == faults.WebhookForged) {
			t.Errorf("%s: injected %v, %d forged", kind, s.FaultsInjected(), h.forged)
		}
	}
	if len(faults.WebhookKinds()) != 5 || slices.Contains(faults.Kinds(), faults.WebhookLost) {
		t.Errorf("kinds %v", faults.WebhookKinds())
	}
}

// failing is a network on which nobody answers.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// docs/openapi.yaml, WebhookTest and POST /webhooks/test.
func TestTheTestPing(t *testing.T) {
	s := newShop(t, Options{NoLimits: true, WebhookTransport: failing{errors.New("dial 192.0.2.1: refused")}})
	ping := func(body string) answer { return s.send("POST", s.key, "/webhooks/test", body) }
	s.details(ping(""), 409, "webhook_not_configured")
	for _, body := range []string{"x", "[]", strings.Repeat(" ", 64<<10+1)} {
		s.details(ping(body), 400, "bad_request")
	}
	s.hookTo("https://shop.test/hook")
	a := ping("")
	sameShape[types.WebhookTest](t, a.body)
	if r := strict[types.WebhookTest](t, a.body); a.status != 200 || r.OK || r.HTTPStatus != nil || r.Error == nil || r.EventID == nil || strings.Contains(*r.Error, "192.0.2.1") {
		t.Errorf("nobody answers: %d %s", a.status, a.body)
	}
	for status, ok := range map[int]bool{200: true, 204: true, 302: false, 404: false, 500: false} {
		var sent *http.Request
		var body []byte
		s := newShop(t, Options{NoLimits: true, WebhookTransport: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r
			var err error
			if body, err = io.ReadAll(r.Body); err != nil {
				return nil, err
			}
			w := httptest.NewRecorder()
			w.WriteHeader(status)
			return w.Result(), nil
		})})
		s.hookTo("https://shop.test/hook")
		a := s.send("POST", s.key, "/webhooks/test", "{}")
		r := strict[types.WebhookTest](t, a.body)
		if r.OK != ok || *r.HTTPStatus != status || (r.Error == nil) != ok || *r.EventID != sent.Header.Get("Service-Event-Id") {
			t.Errorf("%d: %s", status, a.body)
		}
		if err := apicheck.CheckEvent(sent.Header, body); err != nil {
			t.Error(err)
		}
		e := strict[types.WebhookEvent[types.PingData]](t, body)
		k := s.Key(0, RoleOrders)
		if e.Type != "ping" || e.ID != *r.EventID || e.Test || e.Data.App != (types.App{ID: k.AppID, Name: k.Name, Mode: "live"}) || e.Data.Message == "" || sent.Header.Get("Service-Signature") == "" {
			t.Errorf("ping %s", body)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The service as a program runs it: over a network, by itself.
func TestServeSendsWebhooks(t *testing.T) {
	began := time.Now()
	noon := func() time.Time { return testEpoch.Add(time.Since(began)) }
	h := &hook{t: t, status: 200, now: noon}
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		arrived <- struct{}{}
	}))
	defer receiver.Close()
	box, err := New(Options{Inspect: apicheck.Inspect(t), Orders: -1, NoLimits: true, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, ln, box) }()
	s := &shop{harness: &harness{Sandbox: box, t: t, key: box.Key(0, RoleOrders).Value}, location: box.Restaurant(0).LocationIDs()[0]}
	h.secret = box.Key(0, RoleOrders).WebhookSecret
	s.hookTo(receiver.URL)
	s.menu = ok[types.OrderableMenu](s.harness, "/locations/"+s.location+"/menu")
	r := newRequest("POST", "/webhooks/test", s.key)
	r.URL.Scheme, r.URL.Host, r.RequestURI = "http", ln.Addr().String(), ""
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if _, err := box.OnlineOrders(0).Do(s.placed().ID, ordering.Move{Kind: ordering.MoveAccept}, noon().UnixMicro()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the ping, and the event
		select {
		case <-arrived:
		case <-time.After(time.Minute):
			t.Fatal("nothing came within a minute")
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if got := strings.Join(h.types(), " "); got != "accepted" || h.pings != 1 {
		t.Errorf("told %s, and %d pings", got, h.pings)
	}
}
