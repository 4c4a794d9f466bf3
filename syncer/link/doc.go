// Package link is a source's way to the API: its keys, and one client that asks through the
// lanes of the source's budget.
//
// What always holds: a key is sent with nothing but /me until /me has answered with it. The
// key in use stays in use until another has answered, so that another restaurant's, put in
// the place of this one's, brings no row. Keys stay in here: no error and no log line has
// one.
//
// Contents: keys, how soon one that may be wrong is tried, lanes, limits.
package link
