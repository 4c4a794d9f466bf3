// Package replace follows what is replaced as a whole: a list without a cursor, the key's row,
// and the menu of each location (docs/rules.md R10).
//
// Contents: how the parts of such a stream are asked for, what of them has changed, and what has
// vanished.
//
// A stream has parts: a list without a cursor is one, the menu of each location is one. A walk
// asks for each part, compares it with the one that is stored by a digest, and writes it when it
// is another. What the stored part had and the new one has not is removed as "gone", and a part
// whose location the key has lost as "no_access", unless another source of the restaurant has it.
// A row that could not be understood has not vanished.
//
// A menu is asked for with the ETag of what is stored, after a restart too: one that is the same
// costs a request without a body, and writes nothing.
//
// # States
//
// There is no backfill. What is stored of each part is in the checkpoint (part.go): its digest,
// the ids of a list, the ETag of a menu and the version of its row.
//
// # What holds
//
//   - The parts in the checkpoint are in the same commit as the rows they stand for, or in a
//     later one.
//   - Whether a menu is another one is known by its digest: a row is not written again for an
//     ETag alone, and it is for another menu under the same ETag.
//   - The first walk of a process sends no ETag of a row that is not there or is another:
//     it was damaged, another source has written it, or a process died between a row and
//     its checkpoint.
//   - A full resync sends no ETag at all, writes every row, and removes rows of the source that
//     no part has.
//
// # When something fails
//
// What was brought until then is stored. A location that is refused or answers nonsense
// holds up no other; the walk fails all the same, and is made anew at its next turn. While
// online ordering is off, all locations answer so: the menus stay as they were.
package replace
