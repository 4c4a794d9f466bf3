package dashboards

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Choice is what a person has chosen on a dashboard.
type Choice struct {
	From, To    time.Time
	Restaurants []string // one of an owner's dashboard
	Locations   []string // none: all
	Every       bool     // all restaurants, where that may be chosen
}

// Expand does to a query what Grafana and the plugin do (4.20): the browser first resolves
// $__conditionalAll, then variables; the plugin resolves the other macros.
func (c Choice) Expand(sql string) (string, error) {
	sql, err := c.conditional(sql)
	if err != nil {
		return "", err
	}
	sql = strings.NewReplacer(
		"${restaurant:singlequote}", singleQuoted(c.Restaurants), "${location:singlequote}", singleQuoted(c.Locations),
	).Replace(sql)
	from, to := fmt.Sprintf("toDateTime(%d)", c.From.Unix()), fmt.Sprintf("toDateTime(%d)", c.To.Unix())
	sql = timeFilter.ReplaceAllString(sql, "$1 >= "+from+" AND $1 <= "+to)
	sql = timeInterval.ReplaceAllString(sql, "toStartOfInterval(toDateTime($1), INTERVAL 3600 second)")
	sql = strings.NewReplacer("$__fromTime", from, "$__toTime", to).Replace(sql)
	if strings.Contains(sql, "$") {
		return "", fmt.Errorf("something of Grafana is left in %s", sql)
	}
	return sql, nil
}

var (
	timeFilter   = regexp.MustCompile(`\$__timeFilter\((\w+)\)`)
	timeInterval = regexp.MustCompile(`\$__timeInterval\((\w+)\)`)
)

// conditional keeps a condition, or drops it when all of its variable is chosen.
func (c Choice) conditional(sql string) (string, error) {
	const name = "$__conditionalAll("
	for {
		at := strings.LastIndex(sql, name)
		if at < 0 {
			return sql, nil
		}
		end, comma := arguments(sql, at+len(name))
		if end < 0 || comma < 0 {
			return "", fmt.Errorf("$__conditionalAll without two arguments in %s", sql)
		}
		kept := sql[at+len(name) : comma]
		all := len(c.Locations) == 0
		if strings.TrimSpace(sql[comma+1:end]) == "$restaurant" {
			all = c.Every
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
