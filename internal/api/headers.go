package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what a Retry-After is believed. The limits are of a minute
// (docs/openapi.yaml, Limits a minute); a service that means a day is asked once an hour until then,
// and one that was mistaken is not left alone for a day.
const maxRetryAfter = time.Hour

// A Date that cannot be is no clock, and counts as not said: it would decide from
// when on changes are asked for, and what day it is. A clock of ours from before
// Larder was written has not been set yet, and judges nobody.
const (
	firstYear = 1980
	lastYear  = 2199
	ourYear   = 2026
	farOff    = 400 * 24 * time.Hour
)

// believable is true when a service's clock may stand where it says, by ours.
func believable(date, now time.Time) bool {
	if date.Year() < firstYear || date.Year() > lastYear {
		return false
	}
	return now.Year() < ourYear || date.Sub(now).Abs() < farOff
}

// readVerdict reads what an answer's headers say about limits and time.
func readVerdict(resp *http.Response, now time.Time) Verdict {
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || !believable(date, now) {
		date = time.Time{}
	}
	return Verdict{
		Status:     resp.StatusCode,
		Limit:      headerCount(resp.Header, "X-Ratelimit-Limit"),
		Remaining:  headerCount(resp.Header, "X-Ratelimit-Remaining"),
		RetryAfter: parseRetryAfter(resp.Header.Get("Retry-After")),
		Date:       date,
	}
}

// headerCount reads a number; the name is written as net/http does.
func headerCount(h http.Header, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get(name)))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// parseRetryAfter reads seconds (docs/openapi.yaml, Limits a minute). A date, which only a proxy would send, counts as
// not said.
func parseRetryAfter(text string) time.Duration {
	if text == "" {
		return 0
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}
