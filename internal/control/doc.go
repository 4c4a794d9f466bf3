// Package control is what a command and the daemon beside it say to each other: the routes of
// the daemon's socket in the data folder of an embedded warehouse, and the client of them.
//
// So `larder sync` beside a daemon is carried out by the daemon, which has the sources. Contents:
// routes, and what goes over them.
package control
