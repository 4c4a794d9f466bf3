package cookbook

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"

	"github.com/larder-sync/larder/internal/api/types"
)

// online are the orders that the daemon was told of, as they were told last, without test
// orders.
func (w *truth) online() map[string]types.OnlineOrder {
	if w.placed != nil {
		return w.placed
	}
	orders := map[string]types.OnlineOrder{}
	for _, a := range w.seen.answers {
		if a.path != "/v1/orders" || a.status != http.StatusOK {
			continue
		}
		var page struct {
			Data []types.OnlineOrder `json:"data"`
		}
		if err := json.Unmarshal(a.body, &page); err != nil {
			panic(err)
		}
		for _, o := range page.Data {
			if !o.Test {
				orders[o.ID] = o
			}
		}
	}
	w.placed = orders
	return orders
}

// groupOrders counts orders and adds up what they cost, by a name; an empty one is left out.
func (w *truth) groupOrders(name func(types.OnlineOrder) string) [][]any {
	count, total := map[string]int{}, map[string]amount{}
	for _, o := range w.online() {
		if k := name(o); k != "" {
			count[k]++
			total[k] += bani(o.Totals.Total)
		}
	}
	var rows [][]any
	for k, n := range count {
		rows = append(rows, row(k, n, total[k]))
	}
	return rows
}

func ordersByStatus(w *truth) [][]any {
	first := daysAgo(30)
	return sorted(w.groupOrders(func(o types.OnlineOrder) string {
		if dayOf(local(o.CreatedAt)) < first {
			return ""
		}
		return o.Status
	}), 0, -2, 1)
}

func rejections(w *truth) [][]any {
	return sorted(w.groupOrders(func(o types.OnlineOrder) string {
		if o.Status != "rejected" {
			return ""
		}
		return o.Rejection.Code
	}), 0, -2, 1)
}

func cancelledBy(w *truth) [][]any {
	return sorted(w.groupOrders(func(o types.OnlineOrder) string {
		if o.Status != "cancelled" {
			return ""
		}
		return o.Cancellation.By
	}), 0, 1)
}

func lateOrders(w *truth) [][]any {
	type figures struct {
		ready, late int
		worst       float64
	}
	by := map[string]*figures{}
	for _, o := range w.online() {
		if o.ReadyAt == nil {
			continue
		}
		f := by[o.LocationID]
		if f == nil {
			f = &figures{worst: math.Inf(-1)}
			by[o.LocationID] = f
		}
		f.ready++
		seconds := local(*o.ReadyAt).Unix() - local(*o.EstimatedReadyAt).Unix()
		minutes := math.Round(float64(seconds)/60*10) / 10
		if minutes > 0 {
			f.late++
		}
		f.worst = max(f.worst, minutes)
	}
	var rows [][]any
	for id, f := range by {
		rows = append(rows, row(w.locations[id].Name, f.ready, f.late, f.worst))
	}
	return sorted(rows, 0, 1)
}

// onlineLines calls f for every line of a completed order.
func (w *truth) onlineLines(f func(types.OnlineItem)) {
	for _, o := range w.online() {
		if o.Status == "completed" {
			for _, line := range o.Items {
				f(line)
			}
		}
	}
}

// best are the five names that sold for most.
func best(sold map[string]int, sales map[string]amount) [][]any {
	var rows [][]any
	for name, n := range sold {
		rows = append(rows, row(name, n, sales[name]))
	}
	return sorted(rows, 5, -3, 1)
}

func soldOnline(w *truth) [][]any {
	sold, sales := map[string]int{}, map[string]amount{}
	w.onlineLines(func(line types.OnlineItem) {
		sold[line.Name] += int(line.Quantity)
		sales[line.Name] += bani(line.Total)
	})
	return best(sold, sales)
}

func optionsTaken(w *truth) [][]any {
	taken, sales := map[string]int{}, map[string]amount{}
	w.onlineLines(func(line types.OnlineItem) {
		for _, o := range line.Options {
			n := line.Quantity * o.Quantity
			taken[o.Name] += int(n)
			sales[o.Name] += bani(o.UnitPrice) * amount(n)
		}
	})
	return best(taken, sales)
}

func transitions(w *truth) [][]any {
	var rows [][]any
	for k, n := range w.moves(daysAgo(1)) {
		rows = append(rows, row(k[0], k[1], n))
	}
	return sorted(rows, 0, 1, 2)
}

// moves counts what happened to orders since a day, by day and status.
func (w *truth) moves(first string) map[[2]string]int {
	count := map[[2]string]int{}
	note := func(status string, at *types.Instant) {
		if at == nil {
			return
		}
		if day := dayOf(local(*at)); day >= first {
			count[[2]string{day, status}]++
		}
	}
	for _, o := range w.online() {
		note("received", o.PlacedAt)
		note("accepted", o.AcceptedAt)
		note("ready", o.ReadyAt)
		note("completed", o.CompletedAt)
		note("rejected", o.RejectedAt)
		note("cancelled", o.CancelledAt)
	}
	return count
}

// inclusive is what a part of the values does not exceed, between two of them in proportion.
func inclusive(part float64, values []float64) float64 {
	slices.Sort(values)
	place := part * float64(len(values)-1)
	low := int(place)
	high := min(low+1, len(values)-1)
	return math.RoundToEven((values[low]+(place-float64(low))*(values[high]-values[low]))*10) / 10
}

func answered(w *truth) [][]any {
	waits := map[string][]float64{}
	for _, o := range w.online() {
		if o.AcceptedAt != nil {
			seconds := local(*o.AcceptedAt).Unix() - local(*o.PlacedAt).Unix()
			waits[o.LocationID] = append(waits[o.LocationID], math.RoundToEven(float64(seconds)/6)/10)
		}
	}
	var rows [][]any
	for id, minutes := range waits {
		rows = append(rows, row(w.locations[id].Name, len(minutes), inclusive(0.5, minutes), inclusive(0.9, minutes)))
	}
	return sorted(rows, 0, 1)
}

func besideTheTill(w *truth) [][]any {
	type place struct{ day, location string }
	type figures struct {
		online, sold           int
		onlineTotal, soldTotal amount
	}
	by := map[place]*figures{}
	at := func(day, location string) *figures {
		if day < daysAgo(2) {
			return &figures{} // of no row
		}
		p := place{day, w.locations[location].Name}
		if by[p] == nil {
			by[p] = &figures{}
		}
		return by[p]
	}
	for _, o := range w.online() {
		if slices.Contains([]string{"accepted", "ready", "completed"}, o.Status) {
			f := at(dayOf(local(o.CreatedAt)), o.LocationID)
			f.online++
			f.onlineTotal += bani(o.Totals.Total)
		}
	}
	for _, o := range w.orders {
		if o.Channel == "direct" {
			f := at(string(o.BusinessDay), o.LocationID)
			f.sold++
			f.soldTotal += bani(o.Totals.Total)
		}
	}
	var rows [][]any
	for p, f := range by {
		rows = append(rows, row(p.day, p.location, f.online, f.onlineTotal, f.sold, f.soldTotal, f.onlineTotal-f.soldTotal))
	}
	return sorted(rows, 0, 1, 2)
}

func howSoon(w *truth) [][]any {
	events := 0
	for _, r := range w.moves(daysAgo(7)) {
		events += r
	}
	return [][]any{row("polling", events, 100.0)}
}
