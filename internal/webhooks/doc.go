// Package webhooks takes the events of online orders in that the service sends (the API's description,
// "Events"), on a listener of its own.
//
// Contents: which events are accepted, and what is answered.
//
// # What holds
//
//   - Nothing but POST /webhooks/<source> is served, and no answer says more than its status.
//   - The signature is checked before anything of a body is understood.
//   - 2xx is answered when the warehouse has the order durably, or holds a newer one; the
//     service sends again whatever is answered otherwise.
//   - No body reaches a log or an error: it contains personal data.
//
// # When something fails
//
// The warehouse is unreachable, or the source is not served by this process: 503. What is lost in
// spite of all tries, polling brings: a webhook is a faster poll (docs/rules.md R15).
package webhooks
