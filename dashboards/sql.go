package dashboards

import "strings"

// Pieces of queries. The variables are quoted by singlequote, which escapes what a name
// holds. Days are told from the range with the zone written out: $__dateFilter would take
// those of UTC, which begin two or three hours late.
const (
	mine = "business_id = ${restaurant:singlequote}"
	here = "$__conditionalAll(location_id IN (${location:singlequote}), $location)"

	clock    = "now('Europe/Bucharest')"
	today    = "toDate32(now('Europe/Bucharest'))"
	firstDay = "toDate32($__fromTime, 'Europe/Bucharest')"
	lastDay  = "toDate32($__toTime, 'Europe/Bucharest')"
)

// place is a location as its own people call it: without the name of the restaurant before
// it, which stands at the head of the dashboard, and takes the room on a phone. Where the
// name of the restaurant goes on in the same word, all of it stays: Bistroul is not Bistro.
const (
	place     = `coalesce(if(startsWith(location_name, business_name) AND match(` + afterName + `, '^[ ,:|·–—]'), nullIf(replaceRegexpOne(` + afterName + `, '^[ ,:|·–—-]+', ''), ''), NULL), location_name, location_id)`
	afterName = "substring(location_name, length(business_name) + 1)"
)

// signed is a change in whole percent as people say it: with its sign, which no unit of
// Grafana writes.
func signed(ratio string) string {
	return "if(isNull(" + ratio + "), NULL, concat(if(round(" + ratio + ") > 0, '+', ''), toString(round(" + ratio + ") + 0), ' %'))"
}

// query fills the pieces into a statement and takes its indentation away.
func query(sql string) string {
	sql = strings.NewReplacer(
		"{mine}", mine, "{here}", here, "{place}", place, "{clock}", clock, "{today}", today,
		"{first}", firstDay, "{last}", lastDay,
	).Replace(sql)
	var kept []string
	lines := strings.Split(strings.Trim(sql, "\n\t "), "\n")
	for _, line := range lines {
		kept = append(kept, strings.ReplaceAll(strings.TrimPrefix(strings.TrimRight(line, "\t "), "\t\t\t"), "\t", "  "))
	}
	return strings.Join(kept, "\n")
}
