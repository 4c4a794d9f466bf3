// Package control connects a command to the daemon beside it: the routes of the daemon's socket in
// the data folder of an embedded warehouse, and their client.
//
// So `larder sync` beside a daemon is carried out by the daemon, which has the sources. Contents:
// routes, and what goes over them.
package control
