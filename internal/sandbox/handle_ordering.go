package sandbox

import (
	"io"
	"net/http"
	"strings"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/sandbox/faults"
	"github.com/larder-sync/larder/internal/sandbox/ordering"
	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

// onlineCall is a request of an ordering route, with the restaurant's online orders and the
// key that asks.
type onlineCall struct {
	*request
	book *ordering.Book
	app  ordering.App
}

// whenOrdering is what all ordering routes share: they answer 403 api_disabled while online
// ordering is off.
func whenOrdering(handle func(onlineCall) *refusal.Refusal) func(*request) *refusal.Refusal {
	return func(rq *request) *refusal.Refusal {
		rq.open()
		off := rq.orderingOff()
		rq.view.Close()
		if off {
			return refusal.Of(refusal.APIDisabled)
		}
		return handle(onlineCall{rq, rq.s.books[rq.key.Business], orderingApp(&rq.key)})
	}
}

// maxOrderingBody is what a body may have (docs/openapi.yaml, /orders).
const maxOrderingBody = 64 << 10

func (c onlineCall) body() ([]byte, *refusal.Refusal) {
	body, err := io.ReadAll(io.LimitReader(c.r.Body, maxOrderingBody+1))
	if err != nil || len(body) > maxOrderingBody {
		return nil, refusal.Of(refusal.BadRequest)
	}
	return body, nil
}

// orderableMenu answers the menu of a location, or that it is what the client has.
func orderableMenu(c onlineCall) *refusal.Refusal {
	m, ok := c.book.Menu(c.app, c.id, c.now)
	if !ok {
		return refusal.Of(refusal.NotFound)
	}
	c.w.Header().Set("ETag", m.ETag)
	if matches(c.r.Header.Values("If-None-Match"), m.ETag) {
		c.status = http.StatusNotModified
		return nil
	}
	c.addRow(func(out []byte) []byte { return append(out, m.JSON...) })
	return nil
}

// matches compares weakly, as RFC 9110 does for If-None-Match.
func matches(lines []string, etag string) bool {
	for _, line := range lines {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}

// placeOnlineOrder answers 201, or 200 for an order that is there already.
func placeOnlineOrder(c onlineCall) *refusal.Refusal {
	body, err := c.body()
	if err != nil {
		return err
	}
	o, replayed, err := c.book.Place(c.app, body, c.now)
	if err != nil {
		return err
	}
	c.status = http.StatusCreated
	if replayed {
		c.status = http.StatusOK
		c.w.Header().Set("Idempotent-Replayed", "true")
	}
	c.addJSON(o)
	return nil
}

func oneOnlineOrder(c onlineCall) *refusal.Refusal {
	o, ok := c.book.Order(c.app, c.id)
	if !ok {
		return refusal.Of(refusal.NotFound)
	}
	c.addJSON(o)
	return nil
}

func cancelOnlineOrder(c onlineCall) *refusal.Refusal {
	body, err := c.body()
	if err != nil {
		return err
	}
	o, err := c.book.Cancel(c.app, c.id, body, c.now)
	if err != nil {
		return err
	}
	c.addJSON(o)
	return nil
}

const (
	maxOnlineLimit = 100 // of GET /orders (docs/openapi.yaml, /orders)
	maxExternalID  = 64
)

// listOnlineOrders finds an order by external_id, or lists what changed: exactly one of the
// two is given.
func listOnlineOrders(c onlineCall) *refusal.Refusal {
	limit := c.q.limit(maxOnlineLimit)
	external, byExternal := c.q.text("external_id")
	since, mirror := c.q.instant("updated_since")
	if byExternal == mirror {
		for _, f := range []string{"external_id", "updated_since"} {
			c.q.bad.Add(f, "Give exactly one of external_id and updated_since.")
		}
	}
	if len([]rune(external)) > maxExternalID {
		c.q.bad.Add("external_id", "The external_id must have at most %d characters.", maxExternalID)
	}
	if err := c.q.bad.Refusal(); err != nil {
		return err
	}
	var orders []types.OnlineOrder
	var next *types.Instant
	if o, ok := c.book.External(c.app, external); byExternal && ok {
		orders = append(orders, o)
	}
	if mirror {
		orders, next = c.book.Since(c.app, since, limit)
	}
	c.openList()
	for i := range orders {
		c.addJSON(orders[i])
	}
	c.closeOnlinePage(next)
	return nil
}

// closeOnlinePage ends a page of online orders. Faults on cursors strike what takes their
// place here.
func (c onlineCall) closeOnlinePage(next *types.Instant) {
	switch {
	case next != nil && c.met(faults.CursorMissing):
		next = nil
	case next != nil && c.met(faults.CursorRepeats):
		same := types.Instant(c.q.values.Get("updated_since"))
		next = &same
	}
	c.out = append(c.out, `],"next_updated_since":`...)
	if next == nil {
		c.out = append(c.out, "null}"...)
		return
	}
	c.out = append(units.AppendString(c.out, string(*next)), '}')
}
