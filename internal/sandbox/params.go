package sandbox

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/refusal"
	"github.com/larder-sync/larder/internal/sandbox/units"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	maxDays      = 92
)

// query reads the parameters of a request and collects what is wrong with them.
// A parameter that is there must make sense, an empty one too; unknown ones are
// ignored.
type query struct {
	values url.Values
	bad    refusal.Invalid
	short  int // Readings.ShortPages
	parse  func(string) (int64, error)
}

func newQuery(raw string, r *Readings) *query {
	values, err := url.ParseQuery(raw)
	q := &query{values: values, bad: refusal.Invalid{}, short: r.ShortPages, parse: units.ParseInstant}
	if r.StampPrecision > 0 && r.StampPrecision < time.Microsecond {
		q.parse = units.ParseFineInstant
	}
	if err != nil {
		q.bad.Add("query", "The query is malformed: %v.", err)
	}
	return q
}

func (q *query) has(name string) bool { return q.values.Has(name) }

func (q *query) text(name string) (string, bool) {
	if !q.has(name) {
		return "", false
	}
	s := q.values.Get(name)
	if s == "" {
		q.bad.Add(name, "The %s is empty.", name)
	}
	return s, true
}

// limit is how many rows the page has at most.
func (q *query) limit(most int) int {
	n := defaultLimit
	if s, given := q.text("limit"); given {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 || n > most || s[0] == '+' {
			q.bad.Add("limit", "The limit must be an integer between 1 and %d.", most)
		}
	}
	if q.short > 0 {
		return min(n, q.short)
	}
	return n
}

// flag reads true or false.
func (q *query) flag(name string) (value, given bool) {
	s, ok := q.text(name)
	if !ok {
		return false, false
	}
	if s != "true" && s != "false" {
		q.bad.Add(name, "The %s must be true or false.", name)
	}
	return s == "true", true
}

// optionalFlag reads true or false, nil when it is not given.
func (q *query) optionalFlag(name string) *bool {
	value, given := q.flag(name)
	if !given {
		return nil
	}
	return &value
}

func (q *query) choice(name, fallback string, allowed ...string) string {
	s, ok := q.text(name)
	if !ok {
		return fallback
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	q.bad.Add(name, "The %s must be one of: %s.", name, strings.Join(allowed, ", "))
	return fallback
}

// instant reads an ISO 8601 instant in microseconds.
func (q *query) instant(name string) (int64, bool) {
	s, ok := q.text(name)
	if !ok {
		return 0, false
	}
	us, err := q.parse(s)
	switch {
	case errors.Is(err, units.ErrInstantRange):
		q.bad.Add(name, "The %s must be between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.", name)
	case err != nil:
		q.bad.Add(name, "The %s must be an ISO 8601 instant.", name)
	}
	return us, true
}

func (q *query) day(name string) (units.Day, bool) {
	s, ok := q.text(name)
	if !ok {
		return 0, false
	}
	d, valid := units.ParseDay(s)
	if !valid {
		q.bad.Add(name, "The %s must be a day YYYY-MM-DD between 1900-01-01 and 9999-12-31.", name)
	}
	return d, true
}

// days reads from and to: to defaults to today, from to six days before to; at
// most 92 days.
func (q *query) days(today units.Day, loose bool) (from, to units.Day) {
	to, given := q.day("to")
	if !given {
		to = today
	}
	from, given = q.day("from")
	if !given {
		from = max(to-6, firstDay)
	}
	if len(q.bad["from"])+len(q.bad["to"]) > 0 {
		return from, to
	}
	most := units.Day(maxDays - 1)
	if loose {
		most = maxDays
	}
	switch {
	case from > to:
		q.bad.Add("from", "The from must not be after to.")
	case to-from > most:
		q.bad.Add("to", "The range must have at most %d days.", maxDays)
	}
	return from, to
}

// firstDay is 1900-01-01.
const firstDay = units.Day(-25567)
