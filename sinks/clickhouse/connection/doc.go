// Package connection is the way to a ClickHouse server: its address, its connections, and
// its errors in words that say what to look at.
//
// Contents: the DSN, TLS, the driver and its settings, how a block of columns is sent, whether the
// server answers.
//
// An error never holds the DSN or a password. [ErrUnreachable] and [ErrNotClickHouse] mean
// that nobody could be asked; a [StatementError] is the server's own answer.
package connection
