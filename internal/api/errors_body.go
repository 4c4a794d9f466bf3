package api

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/larder-sync/larder/internal/text"
)

// BodyKind is what is wrong with the body of an answer.
type BodyKind string

// Kinds of a [BodyError].
const (
	BodyEmpty     BodyKind = "empty"
	BodyHTML      BodyKind = "html"
	BodyTruncated BodyKind = "truncated" // the JSON ends in the middle
	BodySyntax    BodyKind = "syntax"    // not JSON, or something follows it
	BodyShape     BodyKind = "shape"     // JSON, but not of the form that the API's description has
	BodyTooLarge  BodyKind = "too_large"
	BodyEncoding  BodyKind = "encoding" // a Content-Encoding that was not asked for
)

// BodyError is an answer 200 that makes no sense (docs/rules.md R8).
type BodyError struct {
	Route       string
	Kind        BodyKind
	Reason      string
	ContentType string
	Size        int    // bytes received, decompressed
	Offset      int    // where it goes wrong
	Seen        string // what stands there, cut short
}

func (e *BodyError) Error() string {
	said := fmt.Sprintf("%s: the answer cannot be used: %s (content type %q", e.Route, e.Reason, e.ContentType)
	if e.Kind != BodyTooLarge && e.Kind != BodyEncoding { // of those nothing was kept
		said += fmt.Sprintf(", %d bytes", e.Size)
	}
	if e.Seen != "" {
		said += ", at " + strconv.Itoa(e.Offset) + ": " + strconv.Quote(e.Seen)
	}
	return text.Visible(said + "); " + e.advice())
}

// advice is what to do next.
func (e *BodyError) advice() string {
	if e.Kind == BodyHTML {
		return "is base_url right, or does a proxy answer in the service's place?"
	}
	return askedAgain
}

const askedAgain = "it is asked for again by itself; if it stays so, show this to the service"

// TransportError is a request without a whole answer: no connection, a reset, a
// time-out, a body that was cut.
type TransportError struct {
	Route    string
	Attempts int
	Err      error
}

func (e *TransportError) Error() string {
	said := e.Route + ": no answer: " + e.Err.Error()
	if e.Attempts > 1 {
		said += " (" + strconv.Itoa(e.Attempts) + " attempts)"
	}
	if advice := adviceOn(e.Err); advice != "" {
		said += "; " + advice
	}
	return text.Visible(said)
}

// adviceOn is what to do about a request that was not answered, empty when the error
// says it by itself.
func adviceOn(err error) string {
	if _, ok := errors.AsType[*TimeoutError](err); ok {
		return "the service is slow or silent; it is asked again by itself"
	}
	if IsProxyLogin(err) {
		return wantsPassword
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "base_url must have a host name that the certificate is for; nothing was sent"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "somebody else may be answering; if the authority is your own, add its certificate to this machine's, or name a file of it in SSL_CERT_FILE; nothing was sent"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the service has to renew its certificate, unless this machine's clock is wrong; nothing was sent"
	}
	if untrusted(err) {
		return "base_url must lead to a server that speaks TLS and has a valid certificate; nothing was sent"
	}
	return ""
}

// Unwrap gives the last attempt's error.
func (e *TransportError) Unwrap() error { return e.Err }

// TimeoutError is a phase of an attempt that took too long.
type TimeoutError struct {
	Phase string
	After time.Duration
}

// Phases of a [TimeoutError].
const (
	phaseHeader = "no complete headers"
	phaseIdle   = "the body stood still"
	phaseWhole  = "the answer did not end"
)

func (e *TimeoutError) Error() string { return "time-out after " + e.After.String() + ": " + e.Phase }

// Timeout makes it a net.Error's kind of error.
func (e *TimeoutError) Timeout() bool { return true }

// maxSeen is how much of a body an error shows, and of a text of the service.
const maxSeen = 200

// excerpt is a piece of a body around offset, fit for a log: cut, valid UTF-8, and without the
// key, which a service or proxy may have repeated. The key goes before the cut: half a key is
// still half a secret.
func excerpt(body []byte, offset int, key string) string {
	offset = min(offset, len(body))
	start := 0
	if offset >= maxSeen {
		start = offset - maxSeen/4
	}
	end := min(start+maxSeen, len(body))
	from, to := max(start-len(key), 0), min(end+len(key), len(body))
	seen := string(body[from:to])
	if key != "" {
		seen = strings.ReplaceAll(seen, key, strings.Repeat("*", len(key)))
	}
	return strings.ToValidUTF8(seen[start-from:len(seen)-(to-end)], "?")
}

// brief cuts a text that came from outside, or repeats one that did.
func brief(s string) string {
	const most = 2 * maxSeen
	short := text.Short(s, most)
	if len(s) > most {
		short += fmt.Sprintf(" (%d bytes)", len(s))
	}
	return strings.ToValidUTF8(short, "?")
}

// redact takes a key out of a text.
func redact(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "[key]")
}
