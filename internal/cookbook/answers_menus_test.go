package cookbook

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// menu is a menu as the service answered with it.
type menu struct {
	types.OrderableMenu
	since time.Time // when it began, as a mirror can know it
}

// onMenus are the menus that the daemon was told of, by location, oldest first.
func (w *truth) onMenus() map[string][]menu {
	if w.menus != nil {
		return w.menus
	}
	told, newest := map[string][]menu{}, map[string]time.Time{}
	for _, a := range w.seen.answers {
		if !strings.HasPrefix(a.path, "/v1/locations/") || !strings.HasSuffix(a.path, "/menu") || a.status != http.StatusOK {
			continue
		}
		var m menu
		if err := json.Unmarshal(a.body, &m.OrderableMenu); err != nil {
			panic(err)
		}
		// The service dates it, unless with a time before what it had dated already.
		dated := local(*m.UpdatedAt)
		m.since = a.at()
		if dated.After(newest[m.LocationID]) && dated.Before(m.since) {
			m.since = dated
		}
		newest[m.LocationID] = later(newest[m.LocationID], dated)
		told[m.LocationID] = append(told[m.LocationID], m)
	}
	w.menus = told
	return told
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func onlineNow(w *truth) [][]any {
	var rows [][]any
	for location, all := range w.onMenus() {
		var products, soldOut int
		var cheapest, dearest amount
		for _, c := range all[len(all)-1].Categories {
			for _, p := range c.Products {
				price := bani(p.Price)
				if products++; products == 1 || price < cheapest {
					cheapest = price
				}
				dearest = max(dearest, price)
				if !p.Available {
					soldOut++
				}
			}
		}
		rows = append(rows, row(w.locations[location].Name, products, soldOut, cheapest, dearest))
	}
	return sorted(rows, 0, 1)
}

func menuLastWeek(w *truth) [][]any {
	at := time.Date(evening.Year(), evening.Month(), evening.Day()-7, 18, 0, 0, 0, bucharest)
	var rows [][]any
	for location, all := range w.onMenus() {
		all = slices.DeleteFunc(slices.Clone(all), func(m menu) bool { return m.since.After(at) })
		for _, c := range all[len(all)-1].Categories {
			for _, p := range c.Products {
				if c.Name == "Ciorbe și supe" {
					rows = append(rows, row(w.locations[location].Name, p.Name, bani(p.Price), p.Available))
				}
			}
		}
	}
	return sorted(rows, 0, 1, 2)
}

func notOnline(w *truth) [][]any {
	online := map[string]bool{}
	for _, all := range w.onMenus() {
		for _, c := range all[len(all)-1].Categories {
			for _, p := range c.Products {
				online[p.ID] = true
			}
		}
	}
	counts := map[[2]string]int{}
	for _, p := range w.products {
		if !online[p.id] {
			counts[[2]string{p.location, p.category}]++
		}
	}
	var rows [][]any
	for k, n := range counts {
		rows = append(rows, row(k[0], k[1], n))
	}
	return sorted(rows, 5, -3, 1, 2)
}

// onlinePrices are the changes of a product's price from one menu that has it to the next.
func onlinePrices(w *truth) [][]any {
	var rows [][]any
	for location, all := range w.onMenus() {
		known := map[string]amount{}
		for _, m := range all {
			for _, c := range m.Categories {
				for _, p := range c.Products {
					price := bani(p.Price)
					if old, ok := known[p.ID]; ok && old != price {
						rows = append(rows, row(dayOf(m.since), w.locations[location].Name, p.Name, old, price))
					}
					known[p.ID] = price
				}
			}
		}
	}
	return sorted(rows, 5, -1, 2, 3)
}

func withAllergen(w *truth) [][]any {
	dishes := map[string]map[string]bool{}
	for _, p := range w.products {
		for _, a := range p.allergens {
			if dishes[a.Name] == nil {
				dishes[a.Name] = map[string]bool{}
			}
			dishes[a.Name][p.name] = true
		}
	}
	var rows [][]any
	for allergen, names := range dishes {
		rows = append(rows, row(allergen, len(names)))
	}
	return sorted(rows, 0, -2, 1)
}

func closedDays(w *truth) [][]any {
	var rows [][]any
	for _, l := range w.locations {
		for _, e := range l.OpeningHours.Exceptions {
			if e.Closed && string(e.Date) >= daysAgo(0) {
				var reason any
				if e.Reason != nil {
					reason = *e.Reason
				}
				rows = append(rows, row(string(e.Date), l.Name, reason))
			}
		}
	}
	return sorted(rows, 0, 1, 2)
}
