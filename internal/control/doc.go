// Package control is what two Larder processes say to each other: the routes that the
// holder of a data folder mounts on its engine's socket, and the client of them.
//
// So `larder sync` beside a daemon is carried out by the daemon, and the API never sees two
// of us. What may live here: routes, what goes over them, and errors on their way. What may
// not: how a pass is made, and who holds what; the socket's folder keeps others out.
package control
