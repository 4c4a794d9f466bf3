package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// sequence answers each request with the next handler, the last one for good.
func sequence(handlers ...http.HandlerFunc) (http.HandlerFunc, *int) {
	n := new(int)
	return func(w http.ResponseWriter, r *http.Request) {
		h := handlers[min(*n, len(handlers)-1)]
		*n++
		h(w, r)
	}, n
}

func answers(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		say(w, status, body)
	}
}

var (
	fine = answers(200, emptyPage)
	// reset closes the connection before any answer.
	reset http.HandlerFunc = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	// cut promises more than it sends.
	cut http.HandlerFunc = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		say(w, 200, emptyPage)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	// cutJSON is cut before the framing: the length is right.
	cutJSON = answers(200, emptyPage[:20])
)

func errorBody(code string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":"what went wrong","display_message":"ce nu a mers","details":null}}`, code)
}

func TestWhatIsTriedAgain(t *testing.T) {
	busy := answers(503, errorBody("service_unavailable"))
	cases := []struct {
		name     string
		handlers []http.HandlerFunc
		requests int
		ok       bool
		took     time.Duration // with jitter at its middle
	}{
		{"fine", []http.HandlerFunc{fine}, 1, true, 0},
		{"500", []http.HandlerFunc{answers(500, errorBody("server_error")), fine}, 2, true, 187500 * time.Microsecond},
		{"502 of a proxy", []http.HandlerFunc{answers(502, "<html>"), fine}, 2, true, 187500 * time.Microsecond},
		{"504", []http.HandlerFunc{answers(504, ""), fine}, 2, true, 187500 * time.Microsecond},
		{"503 twice", []http.HandlerFunc{busy, busy, fine}, 3, true, 562500 * time.Microsecond},
		{"503 for good", []http.HandlerFunc{busy}, 5, false, 2812500 * time.Microsecond},
		{"503 with Retry-After", []http.HandlerFunc{answers(503, "", "Retry-After", "7"), fine}, 2, true, 7 * time.Second},
		{"503 with a long Retry-After", []http.HandlerFunc{answers(503, "", "Retry-After", "31")}, 1, false, 0},
		{"reset", []http.HandlerFunc{reset, fine}, 2, true, 187500 * time.Microsecond},
		{"cut body", []http.HandlerFunc{cut, fine}, 2, true, 187500 * time.Microsecond},
		{"cut JSON", []http.HandlerFunc{cutJSON, fine}, 2, true, 187500 * time.Microsecond},
		{"cut JSON for good", []http.HandlerFunc{cutJSON}, 5, false, 2812500 * time.Microsecond},
		{"HTML", []http.HandlerFunc{answers(200, "<html>"), fine}, 2, true, 187500 * time.Microsecond},
		{"garbage for good", []http.HandlerFunc{answers(200, "garbage")}, 5, false, 2812500 * time.Microsecond},
		{"nothing in it", []http.HandlerFunc{answers(200, "{}"), fine}, 2, true, 187500 * time.Microsecond},
		{"400", []http.HandlerFunc{answers(400, "")}, 1, false, 0},
		{"401", []http.HandlerFunc{answers(401, errorBody("unauthorized"))}, 1, false, 0},
		{"404", []http.HandlerFunc{answers(404, errorBody("not_found"))}, 1, false, 0},
		{"422", []http.HandlerFunc{answers(422, errorBody("validation_failed"))}, 1, false, 0},
		{"429 without a gate", []http.HandlerFunc{answers(429, errorBody("rate_limited"), "Retry-After", "3")}, 1, false, 0},
		{"204", []http.HandlerFunc{answers(204, "")}, 1, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler, n := sequence(c.handlers...)
				s := serve(t, handler, nil)
				began := time.Now()
				_, err := products.Page(t.Context(), s.Client, ListQuery{})
				if (err == nil) != c.ok || *n != c.requests || time.Since(began) != c.took {
					t.Errorf("%d requests in %s, error %v; want %d in %s, ok %v", *n, time.Since(began), err, c.requests, c.took, c.ok)
				}
				if len(s.exchanges) != c.requests {
					t.Errorf("%d exchanges observed, want %d", len(s.exchanges), c.requests)
				}
			})
		})
	}
}

func TestEveryAttemptPassesTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := answers(429, errorBody("rate_limited"), "Retry-After", "30", "X-RateLimit-Limit", "120", "X-RateLimit-Remaining", "0")
		handler, n := sequence(reset, limited, cut, fine)
		s := serve(t, handler, nil)
		gate := &tally{hold: time.Second}
		if _, err := products.Page(t.Context(), s.Through(gate), ListQuery{}); err != nil {
			t.Fatal(err)
		}
		want := []Verdict{
			{Status: 0, Limit: -1, Remaining: -1},
			{Status: 429, Limit: 120, Remaining: 0, RetryAfter: 30 * time.Second},
			{Status: 200, Limit: -1, Remaining: -1},
			{Status: 200, Limit: -1, Remaining: -1},
		}
		for i := range gate.verdicts {
			gate.verdicts[i].Date = time.Time{}
		}
		if *n != 4 || gate.entered != 4 || !slices.Equal(gate.verdicts, want) {
			t.Errorf("%d requests, %d entered, verdicts %+v", *n, gate.entered, gate.verdicts)
		}
		for i, x := range s.exchanges {
			if x != fmt.Sprint("GET /products ", want[i].Status) {
				t.Errorf("exchange %d: %s", i, x)
			}
		}
	})
}

func TestNetHTTPDoesNotRetryPastTheGate(t *testing.T) {
	// A connection that served an answer breaks under the next request: net/http
	// would send that again by itself.
	handler, n := sequence(fine, reset, fine)
	s := serve(t, handler, nil)
	gate := &tally{}
	for range 2 {
		if _, err := products.Page(t.Context(), s.Through(gate), ListQuery{}); err != nil {
			t.Fatal(err)
		}
	}
	if *n != 3 || gate.entered != 3 {
		t.Errorf("%d requests sent, %d passed the gate, want 3 and 3", *n, gate.entered)
	}
}

func TestAGateThatRefusesEndsTheRequest(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("asked") }, nil)
	barred := errors.New("the source is being probed")
	_, err := s.Through(&tally{err: barred}).Me(t.Context())
	if !errors.Is(err, barred) || IsTemporary(err) || err.Error() != "GET /me: the source is being probed" {
		t.Errorf("error %v", err)
	}
}

func TestTimeouts(t *testing.T) {
	// drip sends a byte of white space at a time.
	drip := func(every time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(" ")); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-time.After(every):
				case <-r.Context().Done():
				}
			}
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	cases := []struct {
		phase   string
		handler http.HandlerFunc
		after   time.Duration
	}{
		{phaseHeader, hang, 3 * time.Second},
		{phaseIdle, drip(time.Hour), 2 * time.Second},
		{phaseWhole, drip(time.Second), 10 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.phase, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, c.handler, func(o *Options) {
					o.RetryMax = -1
					o.Timeouts = Timeouts{Header: 3 * time.Second, Idle: 2 * time.Second, Whole: 10 * time.Second}
				})
				began := time.Now()
				_, err := s.Me(t.Context())
				timeout, ok := errors.AsType[*TimeoutError](err)
				if !ok || timeout.Phase != c.phase || time.Since(began) != c.after || !IsTemporary(err) {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestACancelledRequestSaysWhy(t *testing.T) {
	stopped := errors.New("the source was stopped")
	for _, at := range []string{"gate", "answer", "wait"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(stopped) })
				gate := &tally{}
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if at == "answer" {
						<-r.Context().Done()
					}
					w.Header().Set("Retry-After", "20")
					say(w, 503, "")
				}, nil)
				if at == "gate" {
					gate.hold = time.Minute
				}
				began := time.Now()
				_, err := s.Through(gate).Me(ctx)
				waiting := at == "wait" && errors.Is(err, context.Canceled)
				if !errors.Is(err, stopped) && !waiting || IsTemporary(err) || time.Since(began) != time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
				if gate.entered != gate.left {
					t.Errorf("entered %d times, left %d", gate.entered, gate.left)
				}
			})
		})
	}
}

func TestBackoffDoublesToItsCap(t *testing.T) {
	for attempt, want := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second} {
		if low, high := backoff(attempt, 0), backoff(attempt, 0.999999); low != want/2 || high >= want || high < want-want/1000 {
			t.Errorf("attempt %d: %s to %s, want %s to %s", attempt, low, high, want/2, want)
		}
	}
	if got := backoff(1000, 0.5); got > maxWait {
		t.Errorf("attempt 1000: %s", got)
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "17": 17 * time.Second, " 2.5 ": 2500 * time.Millisecond, "-3": 0, "0": 0, "NaN": 0, "1e99": maxRetryAfter, "soon": 0,
		"Sat, 14 Mar 2026 20:00:30 GMT": 0, // the API's description has seconds
	} {
		if got := parseRetryAfter(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestADateThatCannotBeIsNotSaid(t *testing.T) {
	set, unset := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC), time.Date(1970, 1, 1, 0, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		date string
		ours time.Time
		said bool
	}{
		{"Sun, 22 Nov 2026 08:00:00 GMT", set, true},
		{"Sun, 29 Nov 2026 08:00:00 GMT", set, true}, // our clock may be wrong
		{"Sun, 22 Nov 2026 08:00:00 GMT", unset, true},
		{"Thu, 31 Dec 2150 23:59:59 GMT", set, false},
		{"Thu, 01 Jan 1970 00:00:00 GMT", set, false},
		{"Fri, 31 Dec 9999 23:59:59 GMT", unset, false},
		{"tomorrow", set, false},
	} {
		resp := &http.Response{Header: http.Header{"Date": {c.date}}}
		if said := !readVerdict(resp, c.ours).Date.IsZero(); said != c.said {
			t.Errorf("%s at %s: said %t", c.date, c.ours, said)
		}
	}
}

// What has no body says so: a server in between may refuse a POST without a length (411).
func TestAPostHasALength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.Header.Get("Content-Length") != "0" || len(r.TransferEncoding) > 0 {
				t.Errorf("%s, headers %v, transfer encoding %v", r.Method, r.Header, r.TransferEncoding)
			}
			say(w, 200, `{"ok":true}`)
		}, nil)
		if _, err := s.TestWebhook(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Each attempt of the webhook test is a ping.
func TestAWebhookTestOfAnotherShapeIsNotMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, n := sequence(answers(200, `{"ok":"perhaps"}`))
		s := serve(t, handler, nil)
		if _, err := s.TestWebhook(t.Context()); !IsTemporary(err) || *n != 1 {
			t.Errorf("asked %d times: %v", *n, err)
		}
	})
}

func TestAFailedReportSaysHowOftenItWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, h := range []http.HandlerFunc{answers(502, "{}"), cutJSON, reset} {
			handler, n := sequence(h)
			s := serve(t, handler, nil)
			if r, err := s.SalesDaily(t.Context(), SalesQuery{}); err == nil || *n < 2 || r.Attempts != *n {
				t.Errorf("%d attempts of %d: %v", r.Attempts, *n, err)
			}
			barred := s.Through(&tally{err: errors.New("not now")})
			if r, err := barred.SalesDaily(t.Context(), SalesQuery{}); err == nil || r.Attempts != 0 {
				t.Errorf("%d attempts that no gate let through: %v", r.Attempts, err)
			}
		}
	})
}
