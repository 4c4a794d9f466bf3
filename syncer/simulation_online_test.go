package syncer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/larder-sync/larder/internal/personal"
	"github.com/larder-sync/larder/internal/sandbox"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/webhooks"
)

// ordersRoute is the route of the online orders, as faults name it.
const ordersRoute = "/orders"

// drawGuests decides how many guests order online, and what is kept of them.
func (p *scenario) drawGuests(g *rand.Rand) {
	p.box.OnlineOrders = pick(g, 0.0, 0, 40, 300)
	for range g.IntN(6) {
		p.events = append(p.events, event{at: between(g, 0, p.span), kind: orderingMoves, seed: g.Uint64()})
	}
	for range g.IntN(3) {
		p.events = append(p.events, event{at: between(g, 0, p.span), kind: hookFaults, seed: g.Uint64()})
	}
	slices.SortStableFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
	p.kept = pick(g, personal.Drop, personal.Drop, personal.Pseudonymise, personal.Keep)
}

// hookLine carries webhooks to the episode's daemon.
type hookLine struct{ e *episode }

func (l hookLine) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.RemoteAddr = "203.0.113.1:1"
	l.e.hooks.ServeHTTP(w, r)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}

// sendWebhooks has the service send the events of online orders, until the world stops.
func (e *episode) sendWebhooks() {
	secrets := map[string][]string{}
	for i := range e.keys {
		name := fmt.Sprintf("r%d", i)
		e.updateKey(i, func(k *sandbox.Key) { k.WebhookURL = "http://hooks.test/webhooks/" + name })
		secrets[name] = []string{e.box.Key(i, sandbox.RoleMain).WebhookSecret}
	}
	e.hooks = webhooks.New(webhooks.Options{
		Secrets: func(source string) []string { return secrets[source] },
		Deliver: func(ctx context.Context, source string, order []byte) (webhooks.Outcome, error) {
			y := e.opened.Load()
			if y == nil {
				return "", errors.New("nobody is there")
			}
			_, err := y.Deliver(ctx, source, order)
			if err == nil {
				e.delivered.Add(1)
			}
			return webhooks.Stored, err
		},
		Now: e.serviceNow, Logger: slog.New(slog.DiscardHandler),
	})
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(30 * time.Second):
				e.box.DeliverWebhooks(e.t.Context())
			case <-quit:
				return
			}
		}
	}()
	e.stopWebhooks = sync.OnceFunc(func() { close(quit); <-ended })
	e.t.Cleanup(e.stopWebhooks)
}

// webhooksGoWrong has them lost, doubled, late, out of order or forged.
func webhooksGoWrong(e *episode, g *rand.Rand) string {
	f := faults.Fault{Kind: pick(g, faults.WebhookKinds()...), Probability: pick(g, 0.3, 1), Delay: between(g, time.Minute, time.Hour)}
	if err := e.box.AddFault(f); err != nil {
		e.fault("%v", err)
	}
	return fmt.Sprintf("%s, probability %g", f.Kind, f.Probability)
}

var hookFaults = &kind{"webhooks go wrong", 1, webhooksGoWrong}

var orderingMoves = &kind{"orders move", 1, ordersMove}

// policy is what is kept of customers.
func (p *scenario) policy() personal.Policy {
	kept, err := personal.New(p.kept, []byte("a key of the simulation"))
	if err != nil {
		panic(err)
	}
	return kept
}

// ordersMove has a restaurant answer, prepare and hand out what was ordered online.
func ordersMove(e *episode, g *rand.Rand) string {
	b := e.anyBusiness(g)
	book, done := e.box.OnlineOrders(b), 0
	var ids []string
	err := e.box.Truth(e.key(b), sandbox.StreamOnlineOrders, func(r sandbox.TruthRow) error {
		ids = append(ids, r.ID)
		return nil
	})
	if err != nil {
		return err.Error() // the key was deleted
	}
	for range min(40, 4*len(ids)) {
		now := time.Now().Add(e.plan.ahead)
		m := ordering.Move{Kind: pick(g, ordering.Moves()...), Ready: now.Add(between(g, time.Minute, time.Hour)).UnixMicro(), Text: "cash"}
		if _, err := book.Do(ids[g.IntN(len(ids))], m, now.UnixMicro()); err == nil {
			done++ // else its status does not allow that
		}
	}
	return fmt.Sprintf("%d times in restaurant %d", done, b)
}

// spoiltOrders is true when online orders of a restaurant were served other than they are.
// One that does not change any more stays as it was taken in, until a full resync.
func (e *episode) spoiltOrders(business int) bool {
	return slices.ContainsFunc(e.box.Spoilt(), func(r faults.SpoiltRow) bool { return r.Business == business && r.Route == ordersRoute })
}

// spoiltOrdering is true when anything of the ordering side was.
func (e *episode) spoiltOrdering() bool {
	for i := range e.keys {
		if e.spoiltMenus(i) || e.spoiltOrders(i) {
			return true
		}
	}
	return false
}

// compareOrders compares the online orders of a restaurant's key. Those of a key that was
// replaced stay in the mirror, and the service does not show them any more.
func (e *episode) compareOrders(business int) {
	if !e.mirrors(business, sandbox.StreamOnlineOrders) {
		return
	}
	r, kept := e.box.Restaurant(business), e.plan.policy()
	rows := e.rows(sandbox.StreamOnlineOrders, r.ID())
	err := e.box.Truth(e.key(business), sandbox.StreamOnlineOrders, func(want sandbox.TruthRow) error {
		if e.plan.located && placeOf(string(want.Row)) != r.LocationIDs()[0] {
			return nil
		}
		want.Row = kept.Order(want.Row)
		have, ok := rows[want.ID]
		e.compareRow(fmt.Sprintf("r%d online_orders %q", business, want.ID), want, have, ok)
		return nil
	})
	if err != nil {
		e.fault("truth of online orders: %v", err)
	}
}
