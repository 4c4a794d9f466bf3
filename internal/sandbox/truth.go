package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// ReasonGone is the reason of a row that left its list without a tombstone: a
// mirror that has seen it must not show it as live, one that has not knows
// nothing of it.
const ReasonGone = "gone"

// TruthRow is a row that a mirror of a stream must hold.
type TruthRow struct {
	ID string `json:"id"`
	// Row is the row as the API serves it; nil for one that is not live.
	Row json.RawMessage `json:"row,omitempty"`
	// Reason is why it is not live: deleted, cancelled, unpaid, or gone.
	Reason string `json:"reason,omitempty"`
}

// Truth calls yield for every row that a mirror of a stream must hold, as the
// key sees it, now: live rows with their JSON and removed ones with the reason.
// Rows that moved out of the key's locations are not mentioned. The restaurant
// stands still meanwhile; yield must not ask it for anything.
func (s *Sandbox) Truth(keyValue, stream string, yield func(TruthRow) error) error {
	rq, err := s.trusted(keyValue, "/")
	if err != nil {
		return fmt.Errorf("truth of %s: %w", stream, err)
	}
	s.catchUp(rq.b, rq.now)
	rq.b.mu.Lock()
	defer rq.b.mu.Unlock()
	if refused := rq.sees(); refused != nil {
		return fmt.Errorf("truth of %s: %w", stream, refused)
	}
	switch stream {
	case StreamCategories:
		return truthOf(rq, rq.b.categories, yield)
	case StreamProducts:
		return truthOf(rq, rq.b.products, yield)
	case StreamIngredients:
		return truthOf(rq, rq.b.ingredients, yield)
	case StreamSalesOrders:
		return rq.truthOfOrders(yield)
	case StreamLocations:
		return rq.truthOfLocations(yield)
	case StreamAllergens:
		for _, a := range allergenList {
			if err := yield(TruthRow{ID: a.code, Row: encodeJSON(map[string]string{"code": a.code, "name": a.name})}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("truth of %q: no such stream", stream)
}

func truthOf[T any](rq *request, t *table[T], yield func(TruthRow) error) error {
	for _, r := range t.rows {
		if !rq.shows(r.loc) {
			continue
		}
		row := TruthRow{ID: r.id}
		switch {
		case r.purged:
			row.Reason = ReasonGone
		case r.deleted():
			row.Reason = ReasonDeleted
		default:
			row.Row = t.bytes(r)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (rq *request) truthOfOrders(yield func(TruthRow) error) error {
	b := rq.b
	for n := range b.orders {
		o := &b.orders[n]
		if !rq.visible[o.loc] || !b.listed(o) {
			continue
		}
		row := TruthRow{ID: b.orderID(uint32(n)), Reason: o.reason()}
		if row.Reason == "" {
			row.Row = b.appendOrder(nil, uint32(n), &rq.content)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func (rq *request) truthOfLocations(yield func(TruthRow) error) error {
	for loc, l := range rq.b.locations {
		if !rq.allowed(loc) {
			continue
		}
		row := TruthRow{ID: l.id, Reason: ReasonGone}
		if l.active {
			row.Reason = ""
			row.Row = encodeJSON(rq.b.encodeLocation(l, rq.now))
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// Fetch is GET of a path below /v1 as the key would be answered, without limits,
// faults or counters: the truth about totals, or about anything else.
func (s *Sandbox) Fetch(keyValue, uri string) (status int, body []byte, err error) {
	rq, err := s.trusted(keyValue, uri)
	if err != nil {
		return 0, nil, fmt.Errorf("fetch %s: %w", uri, err)
	}
	w := &memoryWriter{header: http.Header{}}
	rq.w = w
	rt, id, _ := findRoute(http.MethodGet, rq.r.URL.EscapedPath())
	if rt == nil {
		return 0, nil, fmt.Errorf("fetch %s: no such route", uri)
	}
	rq.route, rq.id = rt, id
	status = rq.answer()
	return status, w.body, nil
}

// trusted is a request with a valid key that no limit or fault concerns.
func (s *Sandbox) trusted(keyValue, uri string) (*request, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, uri, http.NoBody)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rq := &request{s: s, r: r, now: s.now(), trusted: true, cursors: s.cursors}
	a := s.keys.find(keyValue, rq.now)
	if a == nil {
		return nil, fmt.Errorf("no such key")
	}
	rq.key, rq.b = a.Key, s.businesses[a.Business]
	rq.q = newQuery(r.URL.RawQuery)
	return rq, nil
}

// Stamp is when a row was last changed, where it is, and whether it is a tombstone.
type Stamp struct {
	At       time.Time
	Location string // "" for a row that every location shares
	Removed  bool
}

// Stamps are the updated_at of the rows of a cursor list that the key sees in a
// walk, tombstones included, by id. Those without one are left out.
func (s *Sandbox) Stamps(keyValue, stream string) (map[string]Stamp, error) {
	rq, err := s.trusted(keyValue, "/")
	if err != nil {
		return nil, fmt.Errorf("stamps of %s: %w", stream, err)
	}
	b := rq.b
	b.mu.RLock()
	defer b.mu.RUnlock()
	if refused := rq.sees(); refused != nil {
		return nil, fmt.Errorf("stamps of %s: %w", stream, refused)
	}
	switch stream {
	case StreamCategories:
		return stampsOf(rq, b.categories), nil
	case StreamProducts:
		return stampsOf(rq, b.products), nil
	case StreamIngredients:
		return stampsOf(rq, b.ingredients), nil
	case StreamSalesOrders:
		all := make(map[string]Stamp, len(b.orders))
		for n := range b.orders {
			if o := &b.orders[n]; o.stamp != nullStamp && rq.visible[o.loc] && b.listed(o) {
				all[b.orderID(uint32(n))] = Stamp{time.UnixMicro(o.stamp).UTC(), b.locations[o.loc].id, !o.counts()}
			}
		}
		return all, nil
	}
	return nil, fmt.Errorf("stamps of %q: no such list", stream)
}

func stampsOf[T any](rq *request, t *table[T]) map[string]Stamp {
	all := make(map[string]Stamp, len(t.rows))
	for _, r := range t.rows {
		if r.stamp != nullStamp && !r.purged && rq.shows(r.loc) {
			at := Stamp{At: time.UnixMicro(r.stamp).UTC(), Removed: r.deleted()}
			if r.loc != sharedLocation {
				at.Location = rq.b.locations[r.loc].id
			}
			all[r.id] = at
		}
	}
	return all
}
