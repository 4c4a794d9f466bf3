// Package menus follows the orderable menus of a source's locations, one row for each
// (DESIGN R10).
//
// What may live here: which locations are asked for their menu, with which version, and
// what the answers change. What may not: how rows become commits (package write), and when
// a walk's turn comes (packages schedule and syncer).
//
// A walk (walk.go) asks for each location that the key may use and the configuration wants.
// It sends the ETag of what is stored along, after a restart too, so that a menu which is
// the same costs a request without a body, and writes nothing.
//
// # States
//
// There is no backfill. What is stored of each location is its version (version.go): the
// ETag that the service named last, a digest of the menu, and the version of its row. A
// location whose menu could not be understood has none, so that it is asked for whole the
// next time.
//
// # What holds
//
//   - The versions are in the same commit as the rows they stand for, or in a later one.
//   - Whether a menu is another one is known by its digest: a row is not written again for an
//     ETag alone, and it is for another menu under the same ETag.
//   - The first walk of a process sends no ETag of a row that is not there or is another:
//     it was damaged, another source has written it, or a process died between a row and
//     its version.
//   - A full resync sends no ETag at all, and writes every row.
//   - A menu is removed as no_access when the key has lost its location, and as gone when the
//     service knows none, unless another source of the restaurant has it.
//
// # When something fails
//
// What was brought until then is stored. A location that is refused or answers nonsense
// holds up no other; the walk fails all the same, and is made anew at its next turn. While
// online ordering is off, all locations answer so: the menus stay as they were.
package menus
