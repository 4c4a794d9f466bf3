package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
)

// SalesDays implements [sinks.Sink]. Orders and refunds are added up apart, since a
// refund counts on a day of its own; what is left after each first step is a few rows
// a day.
func (r *reader) SalesDays(ctx context.Context, q sinks.DayQuery) ([]sinks.DayFigures, error) {
	days, err := r.days.ask(ctx, spanOf(q), q)
	if err != nil {
		return nil, fmt.Errorf("add up the orders of %s from %s to %s: %w", q.Business, q.From, q.To, err)
	}
	return days, nil
}

// gatherSums is how long sums wait for others of the same days, and gatherPatient how long patient ones do
// ([sinks.DayQuery]). A statement costs 20 ms of CPU to plan, for one restaurant or for 300, and turns come together.
const gatherSums, gatherPatient = 250 * time.Millisecond, time.Second

// gathersSums is how long a query of sums waits.
func gathersSums(q sinks.DayQuery) time.Duration {
	if q.Patient {
		return gatherPatient
	}
	return gatherSums
}

// spanOf is the same for queries that one statement can answer: all but whose figures they ask for.
func spanOf(q sinks.DayQuery) string {
	return fmt.Sprintf("%s %s %t %q %q %q %t", q.From, q.To, q.Location != "", q.Source, q.Locations, q.Except, q.Patient)
}

// daysOf is how many days a query is about.
func daysOf(q sinks.DayQuery) int {
	from, _ := time.Parse(time.DateOnly, q.From)
	to, _ := time.Parse(time.DateOnly, q.To)
	return max(1, int(to.Sub(from)/(24*time.Hour))+1)
}

// whose figures they are; an empty location is all of them.
type whose struct{ business, location string }

// answers are what each of some queries has of their sums.
func answers(queries []sinks.DayQuery, sums map[whose][]sinks.DayFigures) [][]sinks.DayFigures {
	all := make([][]sinks.DayFigures, len(queries))
	for i, q := range queries {
		all[i] = sums[whose{q.Business, q.Location}]
	}
	return all
}

func (r *reader) readDays(ctx context.Context, _ string, queries []sinks.DayQuery) ([][]sinks.DayFigures, error) {
	sums := map[whose][]sinks.DayFigures{}
	err := r.warehouse.Rows(longStatement(ctx), r.salesDays(queries), func(rows driver.Rows) error {
		var own whose
		var day, figure, amount string
		if err := rows.Scan(&own.business, &own.location, &day, &figure, &amount); err != nil {
			return err
		}
		days := sums[own]
		if len(days) == 0 || days[len(days)-1].Day != day {
			days = append(days, sinks.DayFigures{Day: day, Figures: sinks.Figures{}})
			sums[own] = days
		}
		days[len(days)-1].Figures[figure] = amount
		return nil
	})
	return answers(queries, sums), err
}

func (r *reader) salesDays(queries []sinks.DayQuery) string {
	q := queries[0]
	return fmt.Sprintf(`SELECT business, place, toString(day), figure, if(figure = 'orders', toString(toInt64(sum(amount))), toDecimalString(sum(amount), 2))
FROM
(
    SELECT business, place, day, parts.1 AS figure, parts.2 AS amount
    FROM
    (
        SELECT
            business_id AS business,
            %[5]s AS place,
            business_day AS day,
            [('orders', CAST(count(), 'Decimal(38, 2)')), ('net_sales', sum(totals_net_sales)), ('items', sum(totals_items)),
                ('discounts', sum(totals_discount)), ('delivery_fees', sum(totals_delivery_fee)),
                ('tips', sum(totals_tip)), ('deposits', sum(totals_deposit)),
                ('by_type/' || type, sum(totals_net_sales)), ('by_channel/' || channel, sum(totals_net_sales))] AS own,
            sumMap(`+"`payments.method`, `payments.amount`"+`) AS paid,
            arrayConcat(own, arrayMap((method, amount) -> ('payments/' || method, amount), paid.1, paid.2)) AS figures
        FROM %[1]s FINAL
        WHERE %[2]s AND %[3]s
        GROUP BY business, place, business_day, type, channel
    )
    ARRAY JOIN figures AS parts

    UNION ALL

    SELECT business, place, day, 'refunds' AS figure, sum(refund) AS amount
    FROM
    (
        SELECT business, place, toDate32(toTimeZone(at, 'Europe/Bucharest')) AS day, refund
        FROM
        (
            SELECT business_id AS business, %[5]s AS place, `+"`refunds.at`, `refunds.amount`"+`
            FROM %[1]s FINAL
            WHERE %[2]s AND notEmpty(`+"`refunds.at`"+`)
        )
        ARRAY JOIN `+"`refunds.at` AS at, `refunds.amount`"+` AS refund
    )
    WHERE %[4]s
    GROUP BY business, place, day
)
GROUP BY business, place, day, figure
HAVING sum(amount) != 0
ORDER BY business, place, day, figure
SETTINGS optimize_move_to_prewhere_if_final = 1`, r.warehouse.Table("sales_orders"), provenRows(queries), between("business_day", q), between("day", q), placeOf(q))
}

// provenRows is the condition of the rows of queries with one key, on any day.
func provenRows(queries []sinks.DayQuery) string {
	businesses, locations := make([]string, len(queries)), make([]string, len(queries))
	for i, q := range queries {
		businesses[i], locations[i] = q.Business, "("+literals([]string{q.Business, q.Location})+")"
	}
	conditions := []string{"business_id IN (" + literals(businesses) + ")", "_deleted = 0"}
	if queries[0].Location != "" {
		conditions = append(conditions, "(business_id, location_id) IN ("+strings.Join(locations, ", ")+")")
	}
	return strings.Join(append(conditions, whoseDays(queries[0])...), " AND ")
}

// placeOf is the location that a row is added up for: its own, or that of all together.
func placeOf(q sinks.DayQuery) string {
	if q.Location != "" {
		return "toString(location_id)"
	}
	return "''"
}

// whoseDays are the conditions of Source, Locations and Except.
func whoseDays(q sinks.DayQuery) (conditions []string) {
	if text := whoseRows(sinks.LiveQuery{Source: q.Source, Locations: q.Locations}, "location_id", true); text != "" {
		conditions = append(conditions, text)
	}
	if len(q.Except) > 0 {
		conditions = append(conditions, "location_id NOT IN ("+literals(q.Except)+")")
	}
	return conditions
}

// between is the condition of the days of q.
func between(column string, q sinks.DayQuery) string {
	return fmt.Sprintf("%s BETWEEN toDate32(%s) AND toDate32(%s)", column, schema.Literal(q.From), schema.Literal(q.To))
}

// productFigures are the figures of a line of products, in the order of the answer.
var productFigures = []string{"quantity", "weight_kg", "gross", "line_discounts", "net", sinks.RoundedLines}

// SalesProducts implements [sinks.Sink].
func (r *reader) SalesProducts(ctx context.Context, q sinks.DayQuery) ([]sinks.DayFigures, error) {
	lines, err := r.lines.ask(ctx, spanOf(q), q)
	if err != nil {
		return nil, fmt.Errorf("add up the lines of %s from %s to %s: %w", q.Business, q.From, q.To, err)
	}
	return lines, nil
}

func (r *reader) readLines(ctx context.Context, _ string, queries []sinks.DayQuery) ([][]sinks.DayFigures, error) {
	sums := map[whose][]sinks.DayFigures{}
	err := r.warehouse.Rows(longStatement(ctx), r.salesProducts(queries), func(rows driver.Rows) error {
		var own whose
		line := sinks.DayFigures{Figures: sinks.Figures{}}
		var amounts []string
		if err := rows.Scan(&own.business, &own.location, &line.Day, &line.Line, &amounts); err != nil {
			return err
		}
		for i, figure := range productFigures {
			if strings.Trim(amounts[i], "0.") != "" {
				line.Figures[figure] = amounts[i]
			}
		}
		for _, figure := range productFigures[:2] {
			if amount, ok := line.Figures[figure]; ok {
				line.Figures[figure] = strings.TrimSuffix(strings.TrimRight(amount, "0"), ".")
			}
		}
		sums[own] = append(sums[own], line)
		return nil
	})
	return answers(queries, sums), err
}

// salesProducts computes with 76 digits: a quantity of 38 times a price has more than
// 38.
func (r *reader) salesProducts(queries []sinks.DayQuery) string {
	q := queries[0]
	return fmt.Sprintf(`SELECT business, place, toString(day), line, [toDecimalString(sold, 10), toDecimalString(weight, 10), toDecimalString(gross, 2), toDecimalString(gross - net, 2), toDecimalString(net, 2), toString(rounded)]
FROM
(
    WITH toDecimal256(quantity, 10) * toDecimal256(unit_price + extras, 2) AS exact
    SELECT
        business,
        place,
        business_day AS day,
        if(isNull(product_id), 'n/' || name, 'p/' || assumeNotNull(product_id)) AS line,
        sum(toDecimal256(quantity, 10)) AS sold,
        sum(toDecimal256(ifNull(weight_kg, 0), 10)) AS weight,
        toDecimal256(sum(round(exact, 2)), 2) AS gross,
        countIf(isNotNull(weight_kg) OR exact != round(exact, 2)) AS rounded,
        toDecimal256(sum(total), 2) AS net
    FROM
    (
        SELECT
            business_id AS business, %[4]s AS place, business_day, `+"`items.product_id`, `items.name`, `items.quantity`, `items.weight_kg`, `items.unit_price`, `items.total`"+`,
            arrayMap(prices -> arraySum(prices), `+"`items.extras_price`"+`) AS items_extras
        FROM %[1]s FINAL
        WHERE %[2]s AND %[3]s
    )
    ARRAY JOIN
        `+"`items.product_id` AS product_id, `items.name` AS name, `items.quantity` AS quantity, `items.weight_kg` AS weight_kg,\n        `items.unit_price` AS unit_price, `items.total` AS total"+`, items_extras AS extras
    GROUP BY business, place, business_day, line
)
ORDER BY business, place, day, line
SETTINGS optimize_move_to_prewhere_if_final = 1`, r.warehouse.Table("sales_orders"), provenRows(queries), between("business_day", q), placeOf(q))
}

// RemovedRefunds implements [sinks.Sink]. FINAL would hide the removed orders, so the newest
// version of each is found by itself.
func (r *reader) RemovedRefunds(ctx context.Context, q sinks.DayQuery) (days []sinks.DayFigures, unknownUntil string, err error) {
	err = r.warehouse.Rows(longStatement(ctx), r.removedRefunds(q), func(rows driver.Rows) error {
		var day, figure, amount, until string
		var ids []string
		if err := rows.Scan(&day, &figure, &amount, &until, &ids); err != nil {
			return err
		}
		if day == "" {
			unknownUntil = max(unknownUntil, until)
			return nil
		}
		if len(days) == 0 || days[len(days)-1].Day != day {
			days = append(days, sinks.DayFigures{Day: day, Figures: sinks.Figures{}})
		}
		of := &days[len(days)-1]
		if of.Figures[figure] = amount; figure != sinks.UnseenRefunds {
			of.IDs = append(of.IDs, ids...)
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("add up the refunds of removed orders of %s from %s to %s: %w", q.Business, q.From, q.To, err)
	}
	return days, unknownUntil, nil
}

func (r *reader) removedRefunds(q sinks.DayQuery) string {
	business := "business_id = " + schema.Literal(q.Business)
	conditions := append([]string{business, "_deleted = 1", "_delete_reason != 'no_access'"}, whoseDays(q)...)
	if q.Location != "" {
		conditions = append(conditions, "location_id IN ("+schema.Literal(q.Location)+", '')")
	}
	return fmt.Sprintf(`SELECT day, figure, toDecimalString(sum(amount), 2), toString(max(removed)), groupUniqArray(%[7]d)(id)
FROM
(
    SELECT
        id,
        _delete_reason,
        toDate32(toTimeZone(coalesce(_deleted_at, _tombstone_updated_at, _fetched_at), 'Europe/Bucharest')) AS removed,
        toDate32(toTimeZone(ifNull(updated_at, created_at), 'Europe/Bucharest')) AS known,
        toDecimal128(totals_total - arraySum(`+"`refunds.amount`"+`), 2) AS unseen,
        arrayJoin(if(location_id = '', [('', toString(_delete_reason), toDecimal128(0, 2))], arrayConcat(
            arrayMap((at, amount) -> (toString(toDate32(toTimeZone(at, 'Europe/Bucharest'))), toString(_delete_reason), toDecimal128(amount, 2)), `+"`refunds.at`, `refunds.amount`"+`),
            arrayMap(day -> (toString(day), '%[6]s', unseen), arrayFilter(day -> unseen > 0 AND day >= known,
                arrayMap(n -> removed - n, range(if(isNull(_deleted_at), toUInt32(least(greatest(toInt32(removed) - toInt32(known), 0), %[8]d)), 1) + 1))))))) AS refund,
        refund.1 AS day, refund.2 AS figure, refund.3 AS amount
    FROM
    (
        SELECT id, location_id, _delete_reason, _deleted_at, _tombstone_updated_at, _fetched_at, created_at, updated_at, totals_total, `+"`refunds.at`, `refunds.amount`"+`
        FROM %[1]s
        WHERE %[2]s AND (id, _version) IN
        (
            SELECT id, max(_version) FROM %[1]s
            WHERE %[3]s AND id IN (SELECT id FROM %[1]s WHERE %[3]s AND _deleted = 1)
            GROUP BY id
        )
        LIMIT 1 BY id
    )
)
WHERE if(day = '', _delete_reason != 'unpaid', day BETWEEN %[4]s AND %[5]s)
GROUP BY day, figure
ORDER BY day`, r.warehouse.Table("sales_orders"), strings.Join(conditions, " AND "), business, schema.Literal(q.From), schema.Literal(q.To), sinks.UnseenRefunds, sinks.MostRemoved, sinks.MostUnseenDays)
}

// Verdicts implements [sinks.Sink].
func (r *reader) Verdicts(ctx context.Context, business, source, from, to string) ([]sinks.Verdict, error) {
	found, err := r.proofs.ask(ctx, between("day", sinks.DayQuery{From: from, To: to}), [2]string{business, source})
	if err != nil {
		return nil, fmt.Errorf("read the verdicts about source %s: %w", source, err)
	}
	return found, nil
}

// readVerdicts reads the verdicts about days, a condition of SQL, of each (business, source).
func (r *reader) readVerdicts(ctx context.Context, days string, sources [][2]string) ([][]sinks.Verdict, error) {
	keys := make([]string, len(sources)) // of a business and a source
	for i, of := range sources {
		keys[i] = "(" + literals(of[:]) + ")"
	}
	sql := "SELECT business_id, source, location_id, toString(day), subject, verdict, `differences.figure`, `differences.service`, `differences.mirror`," + `
    order_ids, requests, reason, healing_tried, found_version, asked_at
FROM ` + r.warehouse.Table("proofs") + ` FINAL
WHERE (business_id, source) IN (` + strings.Join(keys, ", ") + ") AND " + days + `
    AND verdict != ` + schema.Literal(sinks.VerdictWithdrawn) + `
ORDER BY day, location_id, subject`
	found := map[[2]string][]sinks.Verdict{}
	err := r.warehouse.Rows(ctx, sql, func(rows driver.Rows) error {
		var of [2]string
		v, err := scanVerdict(rows, &of)
		found[of] = append(found[of], v)
		return err
	})
	all := make([][]sinks.Verdict, len(sources))
	for i, of := range sources {
		all[i] = found[of]
	}
	return all, err
}

func scanVerdict(rows driver.Rows, of *[2]string) (sinks.Verdict, error) {
	var v sinks.Verdict
	var figures, service, mirror []string
	var requests int64
	var asked time.Time
	err := rows.Scan(&of[0], &of[1], &v.Location, &v.Day, &v.Subject, &v.Verdict, &figures, &service, &mirror, &v.OrderIDs, &requests, &v.Reason, &v.HealingTried, &v.FoundVersion, &asked)
	if err != nil {
		return v, err
	}
	for i := range figures {
		v.Differences = append(v.Differences, sinks.Difference{Figure: figures[i], Service: service[i], Mirror: mirror[i]})
	}
	v.Requests, v.AskedAt = uint64(requests), notEpoch(asked)
	return v, nil
}
