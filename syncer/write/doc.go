// Package write turns rows into commits: what of a page is news, what of it cannot be
// understood, and which version it has.
//
// Contents: deduplication, quarantine, versions, and the way of a commit to the sink.
//
// # The way of a row
//
// A stream has one [Writer], whatever walks it has. For each page a walk begins an
// [Intake] and gives it the rows one by one. [Intake.Row] maps a row into the commit: as
// a live row, as a tombstone, or as a quarantine entry; or not at all, when it was last
// written just like this. The commit goes to the sink through the [Committer]. When the
// sink has taken it, [Intake.Remember] has the writer remember what it wrote.
//
// # What holds
//
//   - A writer remembers a row only after the sink has taken it. What is forgotten is
//     written again, which is harmless.
//   - The newest fetch of a row has the highest version ([VersionClock]), and an older one
//     never replaces the memory of it.
//   - A bad row is never dropped: it is in quarantine, whole, until a good one comes in
//     its place, or until a full resync has not brought it.
package write
