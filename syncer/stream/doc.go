// Package stream holds what every stream of a source has, whatever its kind, and what a
// stream knows of its source.
//
// Contents: the state that comes of how walks end, the slots that keep walks apart, the service's
// clock, the lanes to the API, outages in one line of the log.
//
// # States
//
// A [Stream] is starting until its source has been admitted, then off, or in backfill until
// it is complete, then running; or held, when a sweep waits for a person. It is failing, or
// in the state that its error names, while the last run of any kind of its walks has failed.
//
// # What holds
//
//   - One incremental walk, snapshot or totals pass of a stream runs at a time
//     ([Stream.Guard]), and one long walk ([Stream.Filler]).
//   - A stream that was switched off stays off, whatever a walk under way finds.
//
// # When something fails
//
// A walk's error is its stream's ([Stream.Attempt]). If it may be the whole source's, the
// source's owner is told ([Owner.CheckSource]). A Retry-After holds up this stream alone.
package stream
