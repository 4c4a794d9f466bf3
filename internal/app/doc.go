// Package app carries out the commands, each in a form that can be tested without a
// terminal, and runs the daemon.
//
// Contents: the order in which things start and stop, and what each command does.
//
// The daemon starts from the outside in: the page's port is bound first (taken:
// the start fails before anything has happened), then the engine is opened, the
// warehouse is reached and migrated, and last the syncer runs. A remote warehouse
// that is down is waited for, with the page already up and saying so. Everything
// that is created registers its clean-up beside the creation (internal/lifecycle);
// clean-ups run in reverse order, each with a deadline, after a failed start too.
//
// While it runs, the configuration is read anew on SIGHUP and when its file changes
// (reload.go): loaded, checked and its new keys read before anything is touched, then
// handed to the syncer as a whole. What was refused changes nothing.
//
// Beside a running daemon the other commands go through it (passes.go, sql.go): the engine's socket
// in the data folder carries SQL for all of them, and the routes of the daemon's own (control.go)
// passes and status.
package app
