package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	signing "github.com/larder-sync/larder/internal/sandbox/webhooks"
)

const (
	hooksASecond  = 200 // every second one forged
	hooksFor      = time.Minute
	hookedOrders  = 1500 // of each, three events
	hookSeed      = 11
	hookAnswer    = 12 * time.Second // more than the service waits for
	hookLifetime  = 8 * time.Second  // from the first event of an order to its last, at most
	hookStampBack = 2 * time.Second  // how long ago an order has moved when its webhook is sent
)

// hooked are the states of an order in its webhooks, in order.
var hooked = []string{"accepted", "ready", "completed"}

// hook is a delivery of a webhook.
type hook struct {
	key    time.Duration // by which deliveries are put in order
	at     time.Duration // when it is sent, from the start on
	body   []byte
	secret string
	late   time.Duration // how old its signature is
	forged bool

	status int
	took   time.Duration // from when it was due
}

// hooks sends webhooks to a daemon as fast as they are due, whatever is answered. Half of them
// are genuine, and a quarter of those are sent for the second time or at once with the first.
// The others are forged, all from one address.
func hooks(ctx context.Context, r *report) error {
	b := bed{sandbox: []string{"-orders", "2000", "-accepted", "20"}, hooks: true}
	return b.filledWith(ctx, "online_orders", func(s *service, d *daemon) error {
		if err := wait(ctx, 20*time.Second); err != nil { // the first walks of every stream
			return err
		}
		began, err := d.cpu()
		if err != nil {
			return err
		}
		if err := wait(ctx, hooksFor); err != nil {
			return err
		}
		idle, err := d.cpu()
		if err != nil {
			return err
		}
		start := time.Now().Add(time.Second)
		all, err := planHooks(ctx, s, start)
		if err != nil {
			return err
		}
		sendHooks(ctx, d, all, start)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		took := time.Since(start)
		busy, err := d.cpu()
		if err != nil {
			return err
		}
		r.row("time until the last answer", "%.1f s", took.Seconds())
		r.answers("genuine", slices.DeleteFunc(slices.Clone(all), func(h *hook) bool { return h.forged }))
		r.answers("forged", slices.DeleteFunc(slices.Clone(all), func(h *hook) bool { return !h.forged }))
		r.row("CPU-seconds, Larder and engine; in the minute before, without webhooks", "%.1f; %.1f", (busy - idle).Seconds(), (idle - began).Seconds())
		if err := wait(ctx, 3*time.Second); err != nil { // readers see what is durable a second later
			return err
		}
		return checkHooks(ctx, r, d, all)
	})
}

// planHooks makes all deliveries, in the order in which they are sent.
func planHooks(ctx context.Context, s *service, start time.Time) ([]*hook, error) {
	var pattern map[string]any
	err := s.truth(ctx, "online_orders", func(_ string, row []byte) error {
		if pattern != nil {
			return nil
		}
		return json.Unmarshal(row, &pattern)
	})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(hookSeed, 0))
	secret, due := mainKey(s).WebhookSecret, hooksASecond/2*int(hooksFor/time.Second)
	var genuine []*hook
	for i := range hookedOrders {
		var times []time.Duration
		first := time.Duration(random.Int64N(int64(hooksFor - hookLifetime)))
		for range hooked {
			times = append(times, first+time.Duration(random.Int64N(int64(hookLifetime))))
		}
		slices.Sort(times)
		for state, at := range times {
			id := fmt.Sprintf("load_%04d", i)
			genuine = append(genuine, &hook{key: at, secret: secret, body: eventOf(pattern, id, state, times, start)})
		}
		if i%10 == 0 { // sent in another order than it went
			last := genuine[len(genuine)-2:]
			last[0].key, last[1].key = last[1].key, last[0].key
		}
	}
	for again := genuine[:len(genuine):len(genuine)]; len(genuine) < due; {
		h := *again[random.IntN(len(again))]
		if random.IntN(2) == 0 { // else at once with the first
			h.key += time.Duration(random.Int64N(int64(hookLifetime)))
		}
		genuine = append(genuine, &h)
	}
	slices.SortStableFunc(genuine, func(a, b *hook) int { return cmp.Compare(a.key, b.key) })
	var all []*hook
	for i, h := range genuine {
		all = append(all, h, forgery(i, h, pattern, start))
	}
	for i, h := range all {
		h.at = time.Duration(i) * time.Second / hooksASecond
	}
	return all, nil
}

// eventOf is the event of an order that has come to a state.
func eventOf(pattern map[string]any, id string, state int, times []time.Duration, start time.Time) []byte {
	order := maps.Clone(pattern)
	stamp := func(at time.Duration) string {
		return start.Add(at - hookStampBack).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	order["id"], order["external_id"], order["status"] = id, id, hooked[state]
	order["placed_at"], order["created_at"] = stamp(times[0]-time.Minute), stamp(times[0]-time.Minute)
	for i, name := range hooked {
		order[name+"_at"] = nil
		if i <= state {
			order[name+"_at"] = stamp(times[i])
		}
	}
	order["updated_at"] = stamp(times[state])
	body, err := json.Marshal(map[string]any{
		"id": fmt.Sprintf("evt_%s_%d", id, state), "type": "order." + hooked[state], "created_at": order["updated_at"], "test": false, "data": map[string]any{"order": order},
	})
	if err != nil {
		panic(err) // it was read from JSON
	}
	return body
}

// forgery is what somebody sends beside a genuine delivery who does not know the secret: an
// order that there is none of, a genuine order cancelled, or what was signed long ago.
func forgery(i int, h *hook, pattern map[string]any, start time.Time) *hook {
	f := &hook{forged: true, secret: "whsec_guessed", body: eventOf(pattern, fmt.Sprintf("forged_%04d", i), i%3, []time.Duration{h.key, h.key, h.key}, start)}
	switch i % 4 {
	case 1:
		f.body = bytes.ReplaceAll(h.body, []byte(`"status":"`), []byte(`"status":"cancelled","was":"`))
	case 2:
		f.secret, f.late = h.secret, signing.Timeout*31 // more than 300 s
	case 3:
		f.secret = ""
	}
	return f
}

// sendHooks sends each delivery when it is due, and waits for all answers.
func sendHooks(ctx context.Context, d *daemon, all []*hook, start time.Time) {
	client := &http.Client{Timeout: hookAnswer, Transport: &http.Transport{MaxIdleConnsPerHost: 1 << 10, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var under sync.WaitGroup
	for _, h := range all {
		if wait(ctx, time.Until(start.Add(h.at))) != nil {
			break
		}
		under.Go(func() {
			h.status = h.send(ctx, client, d.hookURL())
			h.took = time.Since(start.Add(h.at))
		})
	}
	under.Wait()
}

// send makes one delivery, and returns the status of its answer, 0 for none.
func (h *hook) send(ctx context.Context, client *http.Client, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(h.body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	if h.secret != "" {
		req.Header.Set("Service-Signature", signing.Sign(h.secret, time.Now().Add(-h.late).Unix(), h.body))
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// answers reports how deliveries were answered.
func (r *report) answers(what string, sent []*hook) {
	took, statuses := make([]time.Duration, 0, len(sent)), map[int]int{}
	for _, h := range sent {
		took = append(took, h.took)
		statuses[h.status]++
	}
	var text []string
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		text = append(text, fmt.Sprintf("%d of %d", statuses[status], status))
	}
	r.row(what+": sent, answers", "%d, %s", len(sent), strings.Join(text, ", "))
	r.row(what+": time to the answer: p50, p99, most", "%.3f s, %.3f s, %.3f s",
		percentile(took, 50).Seconds(), percentile(took, 99).Seconds(), percentile(took, 100).Seconds())
}

// checkHooks holds what is stored against what was sent.
func checkHooks(ctx context.Context, r *report, d *daemon, all []*hook) error {
	var errs []error
	want := func(what string, have, want int) {
		r.row(what, "%d", have)
		if have != want {
			errs = append(errs, fmt.Errorf("%s: %d, not %d", what, have, want))
		}
	}
	for _, q := range []struct {
		what, sql string
		want      int
	}{
		{"orders of genuine events, completed", "SELECT countIf(status = 'completed') FROM larder.online_orders WHERE id LIKE 'load\\_%'", hookedOrders},
		{"all rows of them", "SELECT count() FROM larder.online_orders WHERE id LIKE 'load\\_%'", hookedOrders},
		{"their transitions", "SELECT count() FROM larder.order_events WHERE order_id LIKE 'load\\_%'", hookedOrders * (len(hooked) + 1)},
		{"of these, different ones that a webhook told of", "SELECT uniqExact(order_id, status) FROM larder.order_events WHERE order_id LIKE 'load\\_%' AND status IN ('received', 'accepted', 'ready', 'completed') AND via = 'webhook'", hookedOrders * (len(hooked) + 1)},
		{"orders that only forged events told of", "SELECT count() FROM larder.online_orders WHERE id LIKE 'forged%' OR status = 'cancelled'", 0},
		{"rows in quarantine", "SELECT count() FROM larder.quarantine", 0},
	} {
		have, err := d.number(ctx, q.sql)
		if err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
		want(q.what, have, q.want)
	}
	counted := map[string]int{}
	for _, what := range []string{"stored", "repeated", "older", "bad_signature", "unavailable", "refused"} {
		n, err := d.metric(ctx, fmt.Sprintf(`larder_webhooks_total{result=%q,source=""}`, what))
		if err != nil {
			return err
		}
		counted[what] = int(n)
	}
	r.row("counted: stored, repeated, older", "%d, %d, %d", counted["stored"], counted["repeated"], counted["older"])
	want("counted: stored, repeated and older together", counted["stored"]+counted["repeated"]+counted["older"], len(all)/2)
	want("counted: with a bad signature", counted["bad_signature"], len(all)/2)
	if most := hookedOrders * len(hooked); counted["stored"] > most || counted["stored"] < hookedOrders {
		errs = append(errs, fmt.Errorf("%d events were stored of %d", counted["stored"], most))
	}
	for _, h := range all {
		if answered := h.status == http.StatusNoContent; answered == h.forged {
			errs = append(errs, fmt.Errorf("at %s: answered with %d, forged %v", h.at, h.status, h.forged))
		}
	}
	return errors.Join(errs[:min(len(errs), 20)]...)
}
