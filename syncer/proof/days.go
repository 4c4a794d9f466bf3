package proof

import (
	"iter"
	"slices"
	"time"

	"github.com/larder-sync/larder/internal/api/types"
)

// byDay has the values of days, by location. A day without one has the zero value.
type byDay[T any] map[string]*dayValues[T]

// dayValues are the values of consecutive days, without gaps: hardly any day in between has none.
type dayValues[T any] struct {
	first int // the number of the first day
	of    []T
}

// daysAtOnce is by how many days a slice of values grows.
const daysAtOnce = 32

const secondsADay = 24 * 60 * 60

// dayNumber counts days from 1970-01-01 on. It fails on what is no day.
func dayNumber(day types.Date) (n int, ok bool) {
	t, err := time.Parse(time.DateOnly, string(day))
	return int(t.Unix() / secondsADay), err == nil
}

// at returns the value of a day.
func (b byDay[T]) at(day types.Date, location string) (value T) {
	n, ok := dayNumber(day)
	if values := b[location]; ok && values != nil && n >= values.first && n < values.first+len(values.of) {
		return values.of[n-values.first]
	}
	return value
}

// set sets the value of a day; of what is no day, nothing is kept.
func (b byDay[T]) set(day types.Date, location string, value T) {
	n, ok := dayNumber(day)
	if !ok {
		return
	}
	values := b[location]
	if values == nil {
		values = &dayValues[T]{first: n}
		b[location] = values
	}
	if end := values.first + len(values.of); n < values.first || n >= end {
		first := min(n, values.first)
		wider := make([]T, (max(n+1, end)-first+daysAtOnce-1)/daysAtOnce*daysAtOnce)
		copy(wider[values.first-first:], values.of)
		values.first, values.of = first, wider
	}
	values.of[n-values.first] = value
}

// forget forgets the days before one.
func (b byDay[T]) forget(oldest types.Date) {
	n, _ := dayNumber(oldest)
	for location, values := range b {
		if past := n - values.first; past >= len(values.of) {
			delete(b, location)
		} else if past > 0 {
			values.first, values.of = n, slices.Clone(values.of[past:])
		}
	}
}

// all yields every day from the first on, days without a value included.
func (v *dayValues[T]) all() iter.Seq2[types.Date, T] {
	return func(yield func(types.Date, T) bool) {
		for i, value := range v.of {
			day := time.Unix(int64(v.first+i)*secondsADay, 0).UTC().Format(time.DateOnly)
			if !yield(types.Date(day), value) {
				return
			}
		}
	}
}
