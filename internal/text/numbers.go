// Package text writes what people read, on the page, the terminal and in the log: numbers and
// times, and text from outside, which may be of any length and hold anything.
//
// Contents: counts, spans of time and lists of names in words; control characters escaped; long
// text cut; how a line of the log looks.
package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Count writes 1430 as 1,430.
func Count[N int | uint64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes "1 row" and "2 rows".
func Plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Verb is the form of a verb that goes with a number of things: "differs", "differ".
func Verb[N int | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Counted writes "1 day differs" and "2 days differ".
func Counted[N int | uint64](n N, noun, one, many string) string {
	return Plural(n, noun) + " " + Verb(n, one, many)
}

// Span writes a duration, from ten hours on in one unit.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour && (d >= 10*time.Hour || d.Truncate(time.Hour) == d.Truncate(time.Minute)):
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// Ago writes how long before now a time was.
func Ago(now, t time.Time) string {
	switch ago := now.Sub(t); {
	case t.IsZero():
		return "never"
	case ago < 2*time.Second:
		return "just now"
	case ago >= 2*time.Hour && ago < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(ago.Hours()))
	default:
		return Span(ago) + " ago"
	}
}

// Sentence makes one of words: with a capital letter and a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	if first := s[0]; first >= 'a' && first <= 'z' {
		s = string(first-'a'+'A') + s[1:]
	}
	if !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return s
}

// Few are some of the names, in order, each once, and how many more there are.
func Few(names []string) []string {
	const most = 10
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) <= most {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
}

// Short returns s in at most so many bytes, not cut inside a character, and "…" where more
// followed. Bytes that are no characters stay: without them, what was found in a text before
// could come together in it.
func Short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for range utf8.UTFMax - 1 {
		if most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
	}
	return s[:most] + "…"
}
