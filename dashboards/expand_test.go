package dashboards

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// choice is what a person has chosen on a dashboard.
type choice struct {
	from, to    time.Time
	restaurants []string // one of an owner's dashboard
	locations   []string // none: all
	every       bool     // all restaurants, where that may be chosen
}

// expand does to a query what Grafana and the plugin do (4.20): the browser first resolves
// $__conditionalAll, then variables; the plugin resolves the other macros.
func (c choice) expand(t *testing.T, sql string) string {
	t.Helper()
	sql = c.conditional(t, sql)
	sql = strings.NewReplacer(
		"${restaurant:singlequote}", singleQuoted(c.restaurants), "${location:singlequote}", singleQuoted(c.locations),
	).Replace(sql)
	from, to := fmt.Sprintf("toDateTime(%d)", c.from.Unix()), fmt.Sprintf("toDateTime(%d)", c.to.Unix())
	sql = timeFilter.ReplaceAllString(sql, "$1 >= "+from+" AND $1 <= "+to)
	sql = timeInterval.ReplaceAllString(sql, "toStartOfInterval(toDateTime($1), INTERVAL 3600 second)")
	sql = strings.NewReplacer("$__fromTime", from, "$__toTime", to).Replace(sql)
	if strings.Contains(sql, "$") {
		t.Fatalf("something of Grafana is left in %s", sql)
	}
	return sql
}

var (
	timeFilter   = regexp.MustCompile(`\$__timeFilter\((\w+)\)`)
	timeInterval = regexp.MustCompile(`\$__timeInterval\((\w+)\)`)
)

// conditional keeps a condition, or drops it when all of its variable is chosen.
func (c choice) conditional(t *testing.T, sql string) string {
	t.Helper()
	const name = "$__conditionalAll("
	for {
		at := strings.LastIndex(sql, name)
		if at < 0 {
			return sql
		}
		end, comma := arguments(sql, at+len(name))
		if end < 0 || comma < 0 {
			t.Fatalf("$__conditionalAll without two arguments in %s", sql)
		}
		kept := sql[at+len(name) : comma]
		all := len(c.locations) == 0
		if strings.TrimSpace(sql[comma+1:end]) == "$restaurant" {
			all = c.every
		}
		if all {
			kept = "1=1"
		}
		sql = sql[:at] + kept + sql[end+1:]
	}
}

// arguments finds the bracket that ends those which begin at from, and the comma between two.
func arguments(sql string, from int) (end, comma int) {
	depth, comma := 0, -1
	for i := from; i < len(sql); i++ {
		switch sql[i] {
		case '(':
			depth++
		case ',':
			if depth == 0 {
				comma = i
			}
		case ')':
			if depth == 0 {
				return i, comma
			}
			depth--
		}
	}
	return -1, -1
}

// singleQuoted is Grafana's format singlequote, which leaves backslashes as they are.
func singleQuoted(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = "'" + strings.ReplaceAll(v, "'", `\'`) + "'"
	}
	if len(quoted) == 0 {
		return "''"
	}
	return strings.Join(quoted, ",")
}
