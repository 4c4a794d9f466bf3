package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/visible"
)

// BodyKind is what is wrong with the body of an answer.
type BodyKind string

// Kinds of a [BodyError].
const (
	BodyEmpty     BodyKind = "empty"
	BodyHTML      BodyKind = "html"
	BodyTruncated BodyKind = "truncated" // the JSON ends in the middle
	BodySyntax    BodyKind = "syntax"    // not JSON, or something follows it
	BodyShape     BodyKind = "shape"     // JSON, but not what api.md says
	BodyTooLarge  BodyKind = "too_large"
	BodyEncoding  BodyKind = "encoding" // a Content-Encoding that was not asked for
)

// BodyError is an answer 200 that makes no sense (DESIGN R8).
type BodyError struct {
	Route       string
	Kind        BodyKind
	Reason      string
	ContentType string
	Size        int    // bytes received, decompressed
	Offset      int    // where it goes wrong
	Seen        string // what stands there, cut short
	Attempts    int
}

func (e *BodyError) Error() string {
	text := fmt.Sprintf("%s: the answer cannot be used: %s (content type %q, %d bytes", e.Route, e.Reason, e.ContentType, e.Size)
	if e.Seen != "" {
		text += ", at " + strconv.Itoa(e.Offset) + ": " + strconv.Quote(e.Seen)
	}
	return visible.Text(text + ")")
}

// TransportError is a request without a whole answer: no connection, a reset, a
// time-out, a body that was cut.
type TransportError struct {
	Route    string
	Attempts int
	Err      error
}

func (e *TransportError) Error() string {
	text := e.Route + ": no answer: " + e.Err.Error()
	if e.Attempts > 1 {
		text += " (" + strconv.Itoa(e.Attempts) + " attempts)"
	}
	return visible.Text(text)
}

// Unwrap gives the last attempt's error.
func (e *TransportError) Unwrap() error { return e.Err }

// TimeoutError is a phase of an attempt that took too long.
type TimeoutError struct {
	Phase string // "header", "idle", "whole"
	After time.Duration
}

func (e *TimeoutError) Error() string { return "time-out (" + e.Phase + ") after " + e.After.String() }

// Timeout makes it a net.Error's kind of error.
func (e *TimeoutError) Timeout() bool { return true }

// maxSeen is how much of a body an error shows.
const maxSeen = 200

// excerpt is a piece of a body around offset, fit for a log: cut, valid UTF-8,
// and without the key, which a service or proxy may have echoed. The key goes
// before the cut: half a key is still half a secret.
func excerpt(body []byte, offset int, key string) string {
	offset = min(offset, len(body))
	before := len(redact(string(body[:offset]), key))
	text := redact(string(body), key)
	if start := before - maxSeen/4; before >= maxSeen {
		text = text[start:]
	}
	text = text[:min(len(text), maxSeen)]
	return strings.ToValidUTF8(text, "?")
}

// redact takes a key out of a text.
func redact(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}
