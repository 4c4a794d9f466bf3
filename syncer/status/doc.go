// Package status is a snapshot of the syncer: what state each source and stream is in, how
// far long walks are, and how well the whole is.
//
// Contents: the words for states, and what follows from a snapshot alone.
//
// How well the mirror is, is judged here and nowhere else ([SourceStatus.Concerns]), so that
// the page, larder status, /readyz and the metrics say the same.
package status
