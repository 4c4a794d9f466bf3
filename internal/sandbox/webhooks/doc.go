// Package webhooks brings events to the addresses that restaurants entered for their keys:
// signed, tried again, and on demand lost, doubled, late, in another order or forged.
//
// An Outbox holds what is to be delivered, each at its time on the sandbox's clock. It sends
// when it is told to, in the caller's goroutines: Deliver sends everything that is due and
// returns when it has been answered.
//
// Contents: signatures, attempts, retries. Nothing here outlives a call.
package webhooks
