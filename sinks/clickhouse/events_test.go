package clickhouse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
	"github.com/larder-sync/larder/internal/test/simulated"
)

// changing stores a row as it was at instants of 2026, each fetched a second after its stamp.
func changing[T any](m *mirror, stream, row string, states ...[2]string) {
	m.t.Helper()
	for _, state := range states {
		at, err := time.Parse(time.RFC3339, state[0])
		if err != nil {
			m.t.Fatal(err)
		}
		m.at = at.Add(time.Second - time.Minute) // batchOf moves it on
		put[T](m, "biz", stream, strings.NewReplacer("STAMP", state[0], "VALUE", state[1]).Replace(row))
	}
}

const dish = `{"id":"p1","location_id":"l1","category_id":null,"name":"Ciorbă","deleted":false,"description":null,"image_url":null,"price":"20.00","unit":"piece",
"vat_rate":11,"deposit":null,"available":true,"allergens":[],"diets":[],"calories":null,"prep_minutes":null,"station":"kitchen",
"channels":{"online":{"enabled":true,"price":"20.00"}},"variants":[],"extra_groups":[],"position":1,"created_at":null,"updated_at":"STAMP"}`

func TestPriceChanges(t *testing.T) {
	m := newMirror(t)
	priced := strings.NewReplacer(`"price":"20.00","unit"`, `"price":"VALUE","unit"`).Replace(dish)
	changing[types.Product](m, "products", priced, [2]string{"2026-03-01T10:00:00Z", "20.00"}, [2]string{"2026-03-05T10:00:00Z", "22.00"})
	// The online price follows a day later; in between the name alone changes.
	changing[types.Product](m, "products", strings.Replace(priced, "Ciorbă", "Ciorbă de burtă", 1), [2]string{"2026-03-06T10:00:00Z", "22.00"})
	changing[types.Product](m, "products", strings.NewReplacer(`"price":"20.00"}`, `"price":"23.50"}`, "Ciorbă", "Ciorbă de burtă").Replace(priced), [2]string{"2026-03-07T10:00:00Z", "22.00"})
	const changes = "SELECT product_name, channel, old_price, new_price, change_percent, since, until FROM price_changes ORDER BY since, channel"
	m.expect(changes, `Ciorbă|pos|20|22|10|2026-03-05 12:00:00.000000|\N`, `Ciorbă de burtă|direct|20|23.5|17.5|2026-03-07 12:00:00.000000|\N`)
	m.remove("biz", "products", "p1", "deleted") // a product that is gone has no price
	m.expect(changes, `Ciorbă|pos|20|22|10|2026-03-05 12:00:00.000000|2026-03-07 12:01:00.000000`,
		`Ciorbă de burtă|direct|20|23.5|17.5|2026-03-07 12:00:00.000000|2026-03-07 12:01:00.000000`)
	changing[types.Product](m, "products", strings.Replace(priced, "Ciorbă", "Ciorbă de burtă", 1), [2]string{"2026-03-09T10:00:00Z", "21.00"})
	m.expect("SELECT channel, old_price, new_price, since, until FROM price_changes ORDER BY since, channel",
		`pos|20|22|2026-03-05 12:00:00.000000|2026-03-09 12:00:00.000000`,
		`direct|20|23.5|2026-03-07 12:00:00.000000|2026-03-09 12:00:00.000000`,
		`direct|23.5|20|2026-03-09 12:00:00.000000|\N`, `pos|22|21|2026-03-09 12:00:00.000000|\N`)
}

// Opening hours of l1: every day from 10 to 22, on Fridays until 2 in the night, on
// Mondays closed, and so on 6 March 2026, a Friday.
func openFromTen() string {
	var days []string
	for _, day := range []string{"tuesday", "wednesday", "thursday", "saturday", "sunday"} {
		days = append(days, fmt.Sprintf(`"%s":{"open":"10:00","close":"22:00","closed":false}`, day))
	}
	days = append(days, `"monday":{"open":null,"close":null,"closed":true}`, `"friday":{"open":"10:00","close":"02:00","closed":false}`)
	return strings.Replace(locationRow("l1"), `"opening_hours":null`, `"opening_hours":{`+strings.Join(days, ",")+
		`,"exceptions":[{"date":"2026-03-06","closed":true,"reason":"nuntă"}]}`, 1)
}

// TestPriceChangesOfVariants renames a variant whose price has changed: the service gives
// it another id, and the price of the old one ends.
func TestPriceChangesOfVariants(t *testing.T) {
	m := newMirror(t)
	varied := strings.Replace(dish, `"variants":[]`, `"variants":[{"id":"v_ID","name":"ID","price":"VALUE","price_delta":"0.00"}]`, 1)
	small, little := strings.ReplaceAll(varied, "ID", "small"), strings.ReplaceAll(varied, "ID", "little")
	changing[types.Product](m, "products", small, [2]string{"2026-03-01T10:00:00Z", "20.00"}, [2]string{"2026-03-05T10:00:00Z", "22.00"})
	m.expect("SELECT variant_name, old_price, new_price, until FROM price_changes", `small|20|22|\N`)
	changing[types.Product](m, "products", little, [2]string{"2026-03-08T10:00:00Z", "22.00"}, [2]string{"2026-03-09T10:00:00Z", "23.00"})
	m.expect("SELECT variant_name, old_price, new_price, until FROM price_changes ORDER BY since",
		"small|20|22|2026-03-08 12:00:00.000000", `little|22|23|\N`)
	m.expect("SELECT count() FROM (SELECT business_id, product_id, product_name, location_id, channel, variant_id, variant_name, old_price, new_price, change_percent, since, until FROM price_changes EXCEPT SELECT * FROM price_changes_by_id)", "0")
}

func TestAvailabilityKnowsOpeningHours(t *testing.T) {
	m := newMirror(t)
	served := strings.Replace(dish, `"available":true`, `"available":VALUE`, 1)
	for i, state := range [][2]string{
		{"2026-03-01T10:00:00Z", "true"},
		{"2026-03-03T18:00:00Z", "false"}, {"2026-03-04T09:00:00Z", "true"}, // Tuesday 20:00 to Wednesday 11:00: 2 h and 1 h
		{"2026-03-06T12:00:00Z", "false"}, {"2026-03-06T14:00:00Z", "true"}, // the Friday that is closed
		{"2026-03-13T20:00:00Z", "false"}, {"2026-03-14T09:00:00Z", "true"}, // Friday 22:00 to Saturday 11:00: 4 h and 1 h
		{"2026-03-28T19:00:00Z", "false"}, {"2026-03-29T08:00:00Z", "true"}, // over the change of clock, 21:00 to 11:00: 1 h and 1 h
		{"2026-03-31T08:00:00Z", "false"}, {"2026-03-31T08:30:00Z", "false"}, {"2026-03-31T09:00:00Z", "true"}, // the middle one changed something else
	} {
		row := served
		if i == 10 {
			row = strings.Replace(row, `"position":1`, `"position":2`, 1)
		}
		changing[types.Product](m, "products", row, state)
	}
	m.expect("SELECT sold_out_from, sold_out_to, minutes, open_minutes FROM availability ORDER BY sold_out_from",
		`2026-03-03 20:00:00.000000|2026-03-04 11:00:00.000000|900|\N`, `2026-03-06 14:00:00.000000|2026-03-06 16:00:00.000000|120|\N`,
		`2026-03-13 22:00:00.000000|2026-03-14 11:00:00.000000|780|\N`, `2026-03-28 21:00:00.000000|2026-03-29 11:00:00.000000|780|\N`,
		`2026-03-31 11:00:00.000000|2026-03-31 12:00:00.000000|60|\N`)
	put[types.Location](m, "biz", "locations", openFromTen())
	m.expect("SELECT open_minutes FROM availability ORDER BY sold_out_from", "180", "0", "300", "120", "60")
	m.expect("SELECT DISTINCT open_minutes_a_week FROM availability", "4560") // five days of 12 hours, and Friday's 16
	m.expect("SELECT count() FROM (SELECT business_id, product_id, product_name, location_id, sold_out_from, sold_out_to, open_minutes, open_minutes_a_week FROM availability EXCEPT SELECT business_id, product_id, product_name, location_id, sold_out_from, sold_out_to, open_minutes, open_minutes_a_week FROM availability_by_id)", "0")
	m.expect("SELECT product_name, location_name FROM availability LIMIT 1", "Ciorbă|L")
}

func TestStockMovements(t *testing.T) {
	m := newMirror(t)
	flour := strings.Replace(ingredientJSON, "STOCK", "VALUE", 1)
	changing[types.Ingredient](m, "ingredients", flour, [2]string{"2026-03-01T10:00:00Z", "10.000"}, [2]string{"2026-03-02T10:00:00Z", "8.500"},
		[2]string{"2026-03-03T10:00:00Z", "20.000"}, [2]string{"2026-03-04T10:00:00Z", "-1.250"})
	changing[types.Ingredient](m, "ingredients", strings.Replace(flour, `"min_stock":"5.000"`, `"min_stock":"6.000"`, 1), [2]string{"2026-03-05T10:00:00Z", "-1.250"}) // no movement
	changing[types.Ingredient](m, "ingredients", strings.Replace(flour, `"unit":"kg"`, `"unit":"g"`, 1), [2]string{"2026-03-06T10:00:00Z", "4000.000"})
	m.remove("biz", "ingredients", "s1", "deleted")
	changing[types.Ingredient](m, "ingredients", strings.Replace(flour, `"unit":"kg"`, `"unit":"g"`, 1), [2]string{"2026-03-08T10:00:00Z", "3000.000"})
	m.expect("SELECT at, unit, stock_before, stock_after, difference, direction, kind FROM stock_movements ORDER BY at",
		`2026-03-01 12:00:00.000000|kg|\N|10|\N|\N|first_seen`,
		`2026-03-02 12:00:00.000000|kg|10|8.5|-1.5|out|\N`,
		`2026-03-03 12:00:00.000000|kg|8.5|20|11.5|in|\N`,
		`2026-03-04 12:00:00.000000|kg|20|-1.25|-21.25|out|\N`,
		`2026-03-06 12:00:00.000000|g|-1.25|4000|\N|\N|unit_changed`,
		`2026-03-06 12:01:00.000000|g|4000|4000|\N|\N|removed`,
		`2026-03-08 12:00:00.000000|g|4000|3000|-1000|out|returned`)
}

// TestStockCover counts from today, as the view does.
func TestStockCover(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Bucharest")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 26, 15, 0, 0, 0, zone)
	m := newMirrorAt(t, now)
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, zone)
	flour := strings.Replace(ingredientJSON, "STOCK", "VALUE", 1)
	stock := 100.0
	states := [][2]string{{noon.AddDate(0, 0, -29).UTC().Format(time.RFC3339), fmt.Sprintf("%.3f", stock)}}
	for day := -28; day < 0; day++ { // 2 kg a day
		stock -= 2
		states = append(states, [2]string{noon.AddDate(0, 0, day).UTC().Format(time.RFC3339), fmt.Sprintf("%.3f", stock)})
	}
	changing[types.Ingredient](m, "ingredients", flour, states...)
	left := now.Sub(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)).Hours() / 24
	want := 44/2.0 - 0 // days of 2 kg, what is left of today counted as its part
	m.expect("SELECT ingredient_name, stock, days_seen, used, use_by_weekday, abs(days_left - "+fmt.Sprint(want)+") < 0.11 FROM stock_cover",
		"Făină|44|28|56|[2,2,2,2,2,2,2]|1")
	last := noon.AddDate(0, 0, int(want+left-0.0001)).Format(time.DateOnly)
	m.expect("SELECT runs_out_on FROM stock_cover", last)
	changing[types.Ingredient](m, "ingredients", flour, [2]string{noon.AddDate(0, 0, -1).Add(time.Hour).UTC().Format(time.RFC3339), "-1.000"})
	m.expect("SELECT days_left, runs_out_on FROM stock_cover", "0|"+now.Format(time.DateOnly))
	m.expect("SELECT days_left FROM stock_cover WHERE ingredient_id = 'nothing used'")
}

// TestStockCoverCountsWhatMovementsShow takes stock whose history is as bad as it can be:
// states repeat, are dated before others or later than they were seen, units change,
// ingredients go and come back, Larder's clock steps back, over the day from which use counts.
// Versions follow that clock and never fall, or are years behind the service's.
func TestStockCoverCountsWhatMovementsShow(t *testing.T) {
	for name, slow := range map[string]bool{"clock that steps back": false, "slow clock": true} {
		t.Run(name, func(t *testing.T) { coverCountsWhatMovementsShow(t, slow) })
	}
}

func coverCountsWhatMovementsShow(t *testing.T, slow bool) {
	now := time.Date(2026, 11, 26, 13, 0, 0, 0, time.UTC)
	m := newMirrorAt(t, now)
	random := rand.New(rand.NewPCG(28, 1))
	began := now.AddDate(0, 0, -45)
	const ingredients, looks = 40, 36
	for look := range looks {
		at := began.Add(time.Duration(look) * 30 * time.Hour)
		if !slow && random.IntN(4) == 0 {
			at = at.AddDate(0, 0, -random.IntN(12)) // the clock steps back
		}
		m.at = at
		if !slow {
			m.version = max(m.version, uint64(at.UnixMicro()))
		}
		var rows []string
		for n := range ingredients {
			if random.IntN(3) == 0 {
				continue
			}
			stamp := `"` + at.Add(-time.Duration(random.IntN(100)-4)*time.Hour).Format(time.RFC3339) + `"`
			if random.IntN(6) == 0 {
				stamp = "null"
			}
			row := strings.NewReplacer(`"s1"`, fmt.Sprintf(`"s%d"`, n), "STOCK", fmt.Sprintf("%d.000", random.IntN(6)), `"STAMP"`, stamp).Replace(ingredientJSON)
			if random.IntN(8) == 0 {
				row = strings.Replace(row, `"unit":"kg"`, `"unit":"g"`, 1)
			}
			rows = append(rows, row)
		}
		put[types.Ingredient](m, "biz", "ingredients", rows...)
		if random.IntN(3) == 0 {
			m.remove("biz", "ingredients", fmt.Sprint("s", random.IntN(ingredients)), "deleted")
		}
	}
	m.expect("SELECT count() > 20, countIf(used > 0) > 20, countIf(days_seen = 28) > 20 FROM stock_cover", "1|1|1")
	m.expect(simulated.Clock{At: now}.In(`SELECT ingredient_id, used, counted
FROM (SELECT ingredient_id, unit, days_seen, used FROM stock_cover) AS cover
LEFT JOIN
(
    SELECT ingredient_id, unit, groupArray((toDate32(at), assumeNotNull(-difference))) AS outs FROM stock_movements WHERE direction = 'out' AND kind IS NULL GROUP BY ingredient_id, unit
) AS movements USING (ingredient_id, unit)
ARRAY JOIN [arraySum(out -> if(out.1 < toDate32(now('Europe/Bucharest')) AND out.1 >= toDate32(now('Europe/Bucharest')) - days_seen, out.2, 0), outs)] AS counted
WHERE used != counted`))
}
