// Package syncer serves sources: it decides which process does, which key is sent, what the
// key may read, and when each job's turn comes.
//
// Contents: the facade ([Syncer]) with its options, passes and status, and the life of a source.
//
// # The packages
//
// A [Syncer] has sources, and a source (source.go) has streams. They are made from one
// registry (package registry). A stream's kind decides which package makes it:
//
//   - package list: lists with a cursor
//   - package replace: lists that are replaced as wholes, the key's row, and the menu of each
//     location
//   - package proof: the service's totals, and the days that they prove
//
// What all streams have is package stream. A source's way to the API, and how well it can be
// served, is package link. Rows go into the sink through package write.
// Package verify compares them. Package schedule says when each job is due.
//
// # What holds at every instant
//
//   - A source is served one life after another, by one supervisor (supervisor.go): the next
//     life is built when nothing works on the last one and what that handed to the sink is
//     durable. Status and counters go on.
//
//   - Where other processes can reach the warehouse, a source asks and writes only
//     while this process holds it (package lease, held.go). The loss of the lease ends its life.
//
//   - Only a key with which /me has answered is sent with anything else (package link).
//
// # When something fails
//
// A walk's error is its stream's: it is tried again at its next turn, from its checkpoint.
// If the error may be the whole source's, /me is asked (key.go). If that fails
// too, the source is in trouble, and nothing but /me is asked until it answers. One queue of
// package link bounds how often that is done with wrong keys, of all sources together. A pass
// (visit.go) does not wait for a next turn: it tries again by itself (retry.go). A panic of a walk
// is an error of its stream; any other panic of a source ends its life, and never the process.
package syncer
