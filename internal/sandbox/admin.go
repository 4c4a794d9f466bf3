package sandbox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// maxAdminBody bounds what an admin route reads.
const maxAdminBody = 1 << 20

// admin is the routes that people and tests steer the sandbox with.
type admin struct{ *Sandbox }

// serve steers the sandbox from another process of this machine:
//
//	GET, DELETE /admin/stats       counters and faults injected; set to zero
//	GET, POST /admin/keys          all keys; change the one with the given value
//	GET, POST, DELETE /admin/faults
//	POST /admin/cursors/invalidate every cursor given out becomes a broken one
//	POST /admin/change             AdminChange
//	POST /admin/ordering           AdminOrdering: whether and how orders are taken
//	POST /admin/orders             AdminOrders: what the restaurant does to online orders
//	GET /admin/webhooks            events sent or to be sent
//	GET /admin/truth?stream=S&key=K  NDJSON of TruthRow
func (s admin) serve(w http.ResponseWriter, r *http.Request) {
	if !fromThisMachine(r) {
		http.Error(w, "the admin routes answer this machine only", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAdminBody)
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, "/admin") {
	case "GET /stats":
		adminAnswer(w, map[string]any{"stats": s.Stats(), "faults_injected": s.FaultsInjected()})
	case "DELETE /stats":
		s.ResetStats()
		adminAnswer(w, nil)
	case "GET /keys":
		adminAnswer(w, s.Keys())
	case "POST /keys":
		adminDo(w, r, s.changeKey)
	case "GET /faults":
		adminAnswer(w, s.Faults())
	case "POST /faults":
		adminDo(w, r, func(f faults.Fault) (any, error) { return nil, s.AddFault(f) })
	case "DELETE /faults":
		s.ClearFaults()
		adminAnswer(w, nil)
	case "POST /cursors/invalidate":
		s.InvalidateCursors()
		adminAnswer(w, nil)
	case "POST /change":
		adminDo(w, r, s.change)
	case "POST /ordering":
		adminDo(w, r, s.changeOrdering)
	case "POST /orders":
		adminDo(w, r, s.moveOrders)
	case "GET /webhooks":
		adminAnswer(w, s.Deliveries())
	case "GET /truth":
		s.writeTruth(w, r)
	default:
		http.Error(w, "no such admin route", http.StatusNotFound)
	}
}

// fromThisMachine refuses other machines, and web pages that a browser on this
// one has open.
func fromThisMachine(r *http.Request) bool {
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(peer).IsLoopback() || r.Header.Get("Origin") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func adminAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(append(units.JSON(v), '\n')) // the client has gone
}

func adminDo[T any](w http.ResponseWriter, r *http.Request, do func(T) (any, error)) {
	var in T
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		http.Error(w, fmt.Sprintf("body: %v", err), http.StatusBadRequest)
		return
	}
	out, err := do(in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	adminAnswer(w, out)
}

// changeKey replaces what a key may do; fields left out stay.
func (s admin) changeKey(in struct {
	Value        string    `json:"value"`
	State        *string   `json:"state"`
	Scopes       *[]string `json:"scopes"`
	AllLocations *bool     `json:"all_locations"`
	LocationIDs  *[]string `json:"location_ids"`
	PerMinute    *int      `json:"per_minute"`
	WebhookURL   *string   `json:"webhook_url"` // "" for none
	Secret       *string   `json:"webhook_secret"`
	OrderingOff  *bool     `json:"ordering_off"`
	RotateFor    *int      `json:"rotate_for"` // seconds that the old value stays valid
}) (any, error) {
	if in.RotateFor != nil {
		return s.RotateKey(in.Value, time.Duration(*in.RotateFor)*time.Second)
	}
	return nil, s.UpdateKey(in.Value, func(k *Key) {
		replace(&k.State, in.State)
		replace(&k.Scopes, in.Scopes)
		replace(&k.AllLocations, in.AllLocations)
		replace(&k.LocationIDs, in.LocationIDs)
		replace(&k.Limits.PerMinute, in.PerMinute)
		replace(&k.WebhookURL, in.WebhookURL)
		replace(&k.WebhookSecret, in.Secret)
		replace(&k.OrderingOff, in.OrderingOff)
	})
}

func replace[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// AdminChange changes a restaurant from another process.
type AdminChange struct {
	Business    int      `json:"business"`
	Action      string   `json:"action"` // place, edit, cancel, unpay, pay, delete, purge, touch, random
	Stream      string   `json:"stream"` // for delete, purge and touch; default sales_orders
	Count       int      `json:"count"`  // place, random; or so many rows drawn with Seed when IDs is empty
	IDs         []string `json:"ids"`
	Seed        uint64   `json:"seed"`
	Items       int      `json:"items"`  // place
	Unannounced bool     `json:"untold"` // random: permanent deletions and moves too
}

func (s admin) change(c AdminChange) (any, error) {
	if err := s.known(c.Business); err != nil {
		return nil, err
	}
	r := s.Restaurant(c.Business)
	c.Stream = cmp.Or(c.Stream, StreamSalesOrders)
	g := rand.New(rand.NewPCG(c.Seed, 1))
	switch c.Action {
	case "place":
		return c.repeat(func() (string, error) { return r.PlaceOrder(OrderSpec{Items: c.Items}) })
	case "random":
		return c.repeat(func() (string, error) { return r.Mutate(g, c.Unannounced) })
	}
	if len(c.IDs) == 0 {
		c.IDs = draw(r, c.Stream, c.Count, g)
	}
	return c.IDs, c.each(r)
}

// repeat makes Count changes, and says what was changed.
func (c AdminChange) repeat(change func() (string, error)) (any, error) {
	done := []string{}
	for range c.Count {
		what, err := change()
		if err != nil {
			return nil, err
		}
		done = append(done, what)
	}
	return done, nil
}

// draw picks count different live rows.
func draw(r Restaurant, stream string, count int, g *rand.Rand) []string {
	ids := r.IDs(stream)
	g.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(count, len(ids))]
}

// each makes the change of each of the rows.
func (c AdminChange) each(r Restaurant) error {
	switch c.Action {
	case "delete":
		return r.Delete(c.Stream, c.IDs...)
	case "purge":
		return r.Purge(c.Stream, c.IDs...)
	case "touch":
		return r.Touch(c.Stream, c.IDs...)
	}
	one := map[string]func(string) error{"edit": r.EditOrder, "cancel": r.CancelOrder, "unpay": r.UnpayOrder, "pay": r.PayOrder}[c.Action]
	if one == nil {
		return fmt.Errorf("action %q is none of place, edit, cancel, unpay, pay, delete, purge, touch, random", c.Action)
	}
	for _, id := range c.IDs {
		if err := one(id); err != nil {
			return err
		}
	}
	return nil
}

func (s admin) writeTruth(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	if key == "" && s.Len() > 0 {
		key = s.Key(0, RoleMain).Value
	}
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	w.Header().Set("Content-Type", "application/x-ndjson")
	if err := s.Truth(key, r.URL.Query().Get("stream"), func(row TruthRow) error { return enc.Encode(row) }); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = out.Flush() // the client has gone
}
