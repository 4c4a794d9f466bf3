// Package condition is how well a source can be served: its state, the trouble that it is
// in, and when /me is asked next.
//
// A source is starting until /me has answered. It is running then, or in trouble, in which
// nothing is asked but /me, at the next probe:
//
//	starting ──/me answers──▶ running ──a walk fails, and so does /me──▶ in trouble
//	                             ▲                                           │
//	                             └───────────────/me answers────────────────┘
//
// What holds in all of them: a trouble is one warning when it begins, and one line when it
// is over. Probes that fail come less and less often. What is found out before a probe was
// due puts it off only for as long as the service asks.
//
// Contents: states, their log lines, the pauses between probes.
package condition
