// Package answers is what the sandbox answered, for tests that hold it against a description.
//
// Contents: one type. It imports nothing of ours, so that the sandbox's own tests can check
// their answers too.
package answers

import "net/http"

// Answer is an answer that no fault struck. Header and Body must not be changed, and are valid
// during the call only.
type Answer struct {
	Route     string // as in [net/http.ServeMux] patterns, "GET /products"; "" for none of the API's
	Status    int
	Header    http.Header
	Body      []byte // not compressed
	NewValues bool   // the world has values that the API's description does not name
}
