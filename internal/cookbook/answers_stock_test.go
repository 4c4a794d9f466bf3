package cookbook

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// latest is the newest updated_at of a page, and of what came before.
func latest(at time.Time, body []byte) time.Time {
	var page struct {
		Data []struct {
			UpdatedAt *types.Instant `json:"updated_at"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &page) != nil {
		return at
	}
	for _, row := range page.Data {
		if row.UpdatedAt != nil && local(*row.UpdatedAt).After(at) {
			at = local(*row.UpdatedAt)
		}
	}
	return at
}

// movement is a change of stock that the daemon was told of.
type movement struct {
	state
	difference *big.Rat
}

func (w *truth) movements(yield func(m movement)) {
	for _, states := range w.states {
		for i := 1; i < len(states); i++ {
			if states[i].Stock == "" {
				continue
			}
			m := movement{states[i], new(big.Rat).Sub(number(states[i].Stock), number(states[i-1].Stock))}
			if m.difference.Sign() != 0 {
				yield(m)
			}
		}
	}
}

// held calls for each ingredient as it was last told.
func (w *truth) held(yield func(s state)) {
	for _, states := range w.states {
		if s := states[len(states)-1]; s.Stock != "" {
			yield(s)
		}
	}
}

func belowMinimum(w *truth) [][]any {
	var rows [][]any
	w.held(func(s state) {
		if number(s.Stock).Cmp(number(s.MinStock)) <= 0 {
			rows = append(rows, row(w.locations[s.LocationID].Name, s.Name, number(s.Stock), number(s.MinStock), s.Unit))
		}
	})
	return sorted(rows, 0, 1, 2)
}

func mostUsed(w *truth) [][]any {
	used, of := map[string]*big.Rat{}, map[string]state{}
	w.movements(func(m movement) {
		if m.difference.Sign() < 0 && m.Unit == "kg" && dayOf(m.at) >= daysAgo(7) {
			of[m.ID] = m.state
			add(used, m.ID, new(big.Rat).Neg(m.difference))
		}
	})
	var rows [][]any
	for id, n := range used {
		rows = append(rows, row(w.locations[of[id].LocationID].Name, of[id].Name, "kg", n))
	}
	return sorted(rows, 5, -4, 2)
}

func cameIn(w *truth) [][]any {
	type place struct{ day, location string }
	count, which := map[place]int{}, map[place]map[string]bool{}
	w.movements(func(m movement) {
		if p := (place{dayOf(m.at), w.locations[m.LocationID].Name}); m.difference.Sign() > 0 && p.day >= daysAgo(5) {
			count[p]++
			if which[p] == nil {
				which[p] = map[string]bool{}
			}
			which[p][m.ID] = true
		}
	})
	var rows [][]any
	for p, n := range count {
		rows = append(rows, row(p.day, p.location, n, len(which[p])))
	}
	return sorted(rows, 0, 1, 2)
}

// cover lets each stock be used up, day by day, at the use of its weekdays.
func cover(w *truth) [][]any {
	const watched = 11 // whole days since the evening of the first look
	used, byWeekday := map[string]*big.Rat{}, map[string]*[8]float64{}
	w.movements(func(m movement) {
		if m.difference.Sign() < 0 && within(dayOf(m.at), watched) {
			out := new(big.Rat).Neg(m.difference)
			add(used, m.ID, out)
			if byWeekday[m.ID] == nil {
				byWeekday[m.ID] = &[8]float64{}
			}
			n, _ := out.Float64()
			byWeekday[m.ID][weekday(m.at)] += n
		}
	})
	var times [8]float64
	for n := 1; n <= watched; n++ {
		times[weekday(evening.AddDate(0, 0, -n))]++
	}
	var rows [][]any
	w.held(func(s state) {
		stock, _ := number(s.Stock).Float64()
		left, day := 0.0, evening
		if stock > 0 {
			if used[s.ID] == nil {
				return
			}
			part := 1 - evening.Sub(time.Date(evening.Year(), evening.Month(), evening.Day(), 0, 0, 0, 0, bucharest)).Hours()/24
			for ; ; day, part = day.AddDate(0, 0, 1), 1 {
				if day.Sub(evening) > 91*24*time.Hour {
					return
				}
				use := byWeekday[s.ID][weekday(day)] / times[weekday(day)] * part
				if use >= stock {
					left += part * stock / use
					break
				}
				stock -= use
				left += part
			}
		}
		total := used[s.ID]
		if total == nil {
			total = new(big.Rat)
		}
		rows = append(rows, row(w.locations[s.LocationID].Name, s.Name, number(s.Stock), s.Unit, watched, total, rounded(left, 1), dayOf(day)))
	})
	return sorted(rows, 5, 7, 2, 1)
}

// repriced is a change of a product's price that the daemon was told of.
type repriced struct {
	state
	old    amount
	until  time.Time // zero while it holds
	change float64
}

func (w *truth) repriced() (all []repriced) {
	for _, states := range w.states {
		var last *repriced
		for i := 1; i < len(states); i++ {
			s := states[i]
			if s.Price == "" || s.Price == states[i-1].Price {
				continue
			}
			if last != nil {
				last.until = s.at
			}
			old, now := bani(states[i-1].Price), bani(s.Price)
			all = append(all, repriced{s, old, time.Time{}, rounded((now-old).float()*100/old.float(), 2)})
			last = &all[len(all)-1]
		}
	}
	return all
}

const instantForm = "2006-01-02 15:04:05.000000"

func priceChanges(w *truth) [][]any {
	var rows [][]any
	for _, c := range w.repriced() {
		var until any
		if !c.until.IsZero() {
			until = c.until.Format(instantForm)
		}
		rows = append(rows, row(c.at.Format(instantForm), w.locations[c.LocationID].Name, c.Name, c.old, bani(c.Price), c.change, until))
	}
	return sorted(rows, 0, 1, 3)
}

func priceEffect(w *truth) [][]any {
	var rows [][]any
	for _, c := range w.repriced() {
		if !c.until.IsZero() {
			continue
		}
		var before, since float64
		for _, o := range w.orders {
			if o.Channel != "pos" {
				continue
			}
			for _, l := range o.lines {
				if l.ProductID == nil || *l.ProductID != c.ID || o.opened.Before(c.at.AddDate(0, 0, -7)) {
					continue
				}
				n, _ := l.quantity.Float64()
				if o.opened.Before(c.at) {
					before += n
				} else {
					since += n
				}
			}
		}
		rows = append(rows, row(c.Name, w.locations[c.LocationID].Name, c.change, rounded(before/7, 2), rounded(since/(evening.Sub(c.at).Seconds()/86400), 2)))
	}
	return sorted(rows, 0, 1, 2)
}

func soldOut(w *truth) [][]any {
	type key struct{ name, location string }
	times, minutes, open := map[key]int{}, map[key]int{}, map[key]int{}
	for _, states := range w.states {
		for i := 0; i < len(states); i++ {
			if states[i].Price == "" || states[i].Available {
				continue
			}
			first, to := states[i], evening
			for ; i < len(states) && !states[i].Available; i++ {
			}
			if i < len(states) {
				to = states[i].at
			}
			if dayOf(first.at) < daysAgo(7) {
				continue
			}
			k := key{first.Name, w.locations[first.LocationID].Name}
			times[k]++
			minutes[k] += int(to.Sub(first.at).Seconds()) / 60
			open[k] += int(whileOpen(w.locations[first.LocationID], first.at, to).Seconds()) / 60
		}
	}
	var rows [][]any
	for k, n := range times {
		rows = append(rows, row(k.name, k.location, n, minutes[k], open[k]))
	}
	return sorted(rows, 5, -5, 1, 2)
}

// whileOpen is how much of a time is within the opening hours, which are those of
// every day in the sandbox.
func whileOpen(l types.Location, from, to time.Time) (open time.Duration) {
	clock := func(day time.Time, text string) time.Time {
		hour, minute, _ := strings.Cut(text, ":")
		h, _ := strconv.Atoi(hour)
		m, _ := strconv.Atoi(minute)
		return time.Date(day.Year(), day.Month(), day.Day(), h, m, 0, 0, bucharest)
	}
	hours := l.OpeningHours.Monday
	for day := from.AddDate(0, 0, -1); day.Before(to.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		opens, closes := clock(day, *hours.Open), clock(day, *hours.Close)
		if !closes.After(opens) {
			closes = clock(day.AddDate(0, 0, 1), *hours.Close)
		}
		if from.After(opens) {
			opens = from
		}
		if to.Before(closes) {
			closes = to
		}
		open += max(closes.Sub(opens), 0)
	}
	return open
}
