// Package link is a source's way to the API: its keys, one client that asks through the lanes of
// the source's budget, and how well the source can be served.
//
// Contents: keys, how soon one that may be wrong is tried, lanes, limits (link.go, queue.go); states,
// their log lines, the pauses between probes (condition.go, probe.go).
//
// # States
//
// A source is starting until /me has answered. It is running then, or in trouble, in which
// nothing is asked but /me, at the next probe:
//
//	starting ──/me answers──▶ running ──a walk fails, and so does /me──▶ in trouble
//	                             ▲                                           │
//	                             └───────────────/me answers────────────────┘
//
// # What holds
//
//   - A key is sent with nothing but /me until /me has answered with it. The key in use stays in
//     use until another has answered, so that another restaurant's, put in the place of this one's,
//     brings no row. No error and no log line has a key.
//   - A trouble is one warning when it begins, and one line when it is over.
//   - Probes that fail come less and less often. What is found out before a probe was due puts it
//     off only for as long as the service asks.
package link
