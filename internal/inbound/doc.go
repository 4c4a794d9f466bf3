// Package inbound bounds what unknown clients can do to Larder's HTTP listeners: the
// status page, webhooks, and the engine's read-only interface.
//
// It refuses requests that a web page of another site makes in the browser of
// somebody on this machine ([Foreign], [CheckName]). It slows down those who guess
// passwords ([Passwords]). It limits how many connections a listener holds, and
// how long one may take to send its request ([Listen]).
//
// Contents: what concerns every HTTP listener, whatever it serves.
package inbound
