package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxBody is the most bytes of an event: an order of 100 lines with ten options each is
	// a sixth of it.
	maxBody = 1 << 20
	// answerWithin leaves a second of the ten within which the API's description demands an answer.
	answerWithin = 9 * time.Second
	// smallBody is what an event has at most as a rule. What is larger needs one of maxLarge
	// places until it is answered: so those who cannot sign fill no memory, who sends slowly
	// keeps no small event waiting, and few large ones wait for the warehouse at once.
	smallBody = 64 << 10
	maxLarge  = 32
	// The log reports bad signatures of a source once in logEvery, and each unknown type of events
	// once in logTypeEvery, of maxLogged at most.
	logEvery     = time.Minute
	logTypeEvery = 24 * time.Hour
	maxLogged    = 100
)

// Outcome is the result of an event, as metrics name it.
type Outcome string

// The outcomes.
const (
	Stored    Outcome = "stored"
	Repeated  Outcome = "repeated"    // the warehouse has it already
	Older     Outcome = "older"       // the warehouse has a newer one
	LeftOut   Outcome = "left_out"    // of a location that the configuration leaves out
	Bad       Outcome = "quarantined" // it was not understood, and is kept
	Ping      Outcome = "ping"        // a test
	NoOrder   Outcome = "no_order"    // of a type that is not known, without an order
	Forged    Outcome = "bad_signature"
	Refused   Outcome = "refused"     // no event, or too large
	Postponed Outcome = "unavailable" // the warehouse is unreachable, or the source is not served: the service sends it again
)

var outcomes = []Outcome{Stored, Repeated, Older, LeftOut, Bad, Ping, NoOrder, Forged, Refused, Postponed}

// Options are what a [Receiver] needs.
type Options struct {
	// Secrets returns the webhook secrets of a source; none when it takes no webhooks.
	Secrets func(source string) []string
	// Deliver stores an order and waits until that is durable.
	Deliver func(ctx context.Context, source string, order []byte) (Outcome, error)
	Now     func() time.Time // default time.Now
	Logger  *slog.Logger
	// Registerer takes the metrics; none when nil.
	Registerer prometheus.Registerer
	// Sources have their counters from the start: with Detail each its own, else one in common, whose
	// label source is empty.
	Sources []string
	Detail  bool
}

// Receiver answers the service's webhooks. It is an [http.Handler].
type Receiver struct {
	opts   Options
	large  chan struct{}
	events *prometheus.CounterVec
	took   prometheus.Histogram

	mu     sync.Mutex
	pings  map[string]time.Time    // the last one, by source
	logged map[[2]string]time.Time // until when the log reports it no more, by source and type of events
}

// New makes a receiver.
func New(o Options) *Receiver {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Receiver{
		opts: o, pings: map[string]time.Time{}, logged: map[[2]string]time.Time{}, large: make(chan struct{}, maxLarge),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "larder_webhooks_total", Help: "Webhooks of a source, by what became of them: stored, repeated, older, left_out, quarantined, ping, no_order, bad_signature, refused, unavailable.",
		}, []string{"source", "result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "larder_webhook_seconds", Help: "Time from a webhook's first byte to its answer, of those that were signed rightly.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 1.5, 2.5, 5, 10},
		}),
	}
	for _, s := range o.Sources {
		for _, what := range outcomes {
			r.events.WithLabelValues(r.label(s), string(what))
		}
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister(r.events, r.took)
	}
	return r
}

// label is the label source of a counter.
func (r *Receiver) label(source string) string {
	if r.opts.Detail {
		return source
	}
	return ""
}

// LastPing is when a source was last pinged, zero for never since the start.
func (r *Receiver) LastPing(source string) time.Time {
	if r == nil { // no webhooks are taken
		return time.Time{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pings[source]
}

// ServeHTTP answers a webhook.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	source, found := strings.CutPrefix(req.URL.EscapedPath(), "/webhooks/")
	source = strings.TrimSuffix(source, "/") // a proxy or a person may have put it there
	secrets := []string(nil)
	if found {
		secrets = r.opts.Secrets(source)
	}
	switch {
	case len(secrets) == 0:
		w.WriteHeader(http.StatusNotFound)
		return
	case req.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	began := r.opts.Now()
	what, status := r.receive(w, req, source, secrets)
	r.events.WithLabelValues(r.label(source), string(what)).Inc()
	if what != Forged {
		r.took.Observe(r.opts.Now().Sub(began).Seconds())
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "60")
	}
	w.WriteHeader(status)
}

// receive takes one event of a source in, and says what became of it and what is answered.
func (r *Receiver) receive(w http.ResponseWriter, req *http.Request, source string, secrets []string) (Outcome, int) {
	if req.ContentLength > maxBody {
		return Refused, http.StatusRequestEntityTooLarge
	}
	body, release, err := r.read(http.MaxBytesReader(w, req.Body, maxBody))
	defer release()
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, errFull):
		return Postponed, http.StatusServiceUnavailable
	case tooLarge:
		return Refused, http.StatusRequestEntityTooLarge
	case err != nil:
		return Refused, http.StatusBadRequest // it was cut short
	}
	if signatures := req.Header.Values("Service-Signature"); len(signatures) != 1 || !signed(signatures[0], body, secrets, r.opts.Now()) {
		r.warn(logEvery, source, "", "a webhook has no good signature: is webhook.secret_file the secret of this key, and the clock of this machine right?")
		return Forged, http.StatusUnauthorized
	}
	ctx, cancel := context.WithTimeout(req.Context(), answerWithin)
	defer cancel()
	return r.take(ctx, source, body)
}

// errFull means that maxLarge large bodies are not answered yet.
var errFull = errors.New("too many large bodies at once")

// read reads a body, and returns what gives back its place among the large ones.
func (r *Receiver) read(from io.Reader) (body []byte, release func(), err error) {
	release = func() {}
	body, err = io.ReadAll(io.LimitReader(from, smallBody))
	if err != nil || len(body) < smallBody {
		return body, release, err
	}
	select {
	case r.large <- struct{}{}:
		release = func() { <-r.large }
	default:
		return nil, release, errFull
	}
	rest, err := io.ReadAll(from)
	return append(body, rest...), release, err
}

// warn logs what is wrong with a source's webhooks, of a type of events or of all, once in a while.
func (r *Receiver) warn(every time.Duration, source, kind, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, subject := r.opts.Now(), [2]string{source, kind}
	if now.Before(r.logged[subject]) {
		return
	}
	maps.DeleteFunc(r.logged, func(_ [2]string, until time.Time) bool { return !now.Before(until) })
	if kind != "" && len(r.logged) >= maxLogged {
		return
	}
	r.logged[subject] = now.Add(every)
	log := r.opts.Logger.With("source", source)
	if kind != "" {
		log = log.With("type", kind)
	}
	log.Warn(text)
}

// event is what is read of an event; of its order, only that it is one.
type event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Order json.RawMessage `json:"order"`
	} `json:"data"`
}

// known are the types of events that the API's description names, pings aside.
var known = map[string]bool{"order.accepted": true, "order.rejected": true, "order.ready": true, "order.completed": true, "order.cancelled": true}

// take stores what a genuine event says.
func (r *Receiver) take(ctx context.Context, source string, body []byte) (Outcome, int) {
	var e event
	if json.Unmarshal(body, &e) != nil || e.ID == "" || e.Type == "" {
		r.opts.Logger.Warn("a signed webhook is no event as the API's description has them: it is refused", "source", source, "bytes", len(body))
		return Refused, http.StatusBadRequest
	}
	if e.Type == "ping" {
		r.mu.Lock()
		r.pings[source] = r.opts.Now()
		r.mu.Unlock()
		return Ping, http.StatusNoContent
	}
	order := len(e.Data.Order) > 0 && e.Data.Order[0] == '{'
	if !known[e.Type] {
		r.warn(logTypeEvery, source, e.Type, "the service sends events of a type that the API's description does not name: an order in them is stored")
		if !order {
			return NoOrder, http.StatusNoContent
		}
	}
	if !order {
		return Refused, http.StatusBadRequest
	}
	what, err := r.opts.Deliver(ctx, source, e.Data.Order)
	if err != nil {
		r.opts.Logger.Warn("a webhook could not be stored: the service sends it again, and polling brings what it says", "source", source, "err", err)
		return Postponed, http.StatusServiceUnavailable
	}
	return what, http.StatusNoContent
}
