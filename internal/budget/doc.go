// Package budget decides when a request may be sent: the stacked limits of a
// key, a restaurant and the heavy routes, in lanes (DESIGN §6).
//
// What may live here: counting, waiting and forecasting. What may not: HTTP, the
// API's routes, knowledge of what a request is for beyond its lane and weight.
//
// # How a limit is kept exactly
//
// The service counts a request at some instant between its sending and its
// answer. So a place in a window is taken from the sending, and comes back 60
// seconds and a small margin after the answer. Then no 60 seconds at the service
// hold more than the limit, wherever its minutes begin; and that is enough for a
// fixed minute, a sliding one and a bucket alike.
//
// # How a backfill leaves room
//
// A burst would empty the window and hold fresh requests up for a minute. So the
// lower lanes are paced: they spread the places that are free now, and those
// that will come back, evenly over the time until the next ones do ([pace]). In
// a backfill that makes places come back one by one, each 60 s/limit, and a
// fresh request takes the next one.
//
// # How nothing stands still
//
// A lower lane takes what the higher ones leave, all of it. Where they leave nothing, who
// waits longest gets each twenty-first place. Fresh walks can need more than a small key
// allows, for hours: many rows of one updated_at are read again until a newer one comes. A
// full resync, a reconciliation or a menu would else wait as long.
//
// # What a process before has spent
//
// A process that is killed and started again does not know what it spent a moment
// ago. So the first request of a key, and the first heavy one, goes alone; its
// X-RateLimit-Remaining tells, and until that has come back, within a minute, all
// lanes are paced. The first request itself needs a place. So a sixth of a window is
// never used in a burst. Where the warehouse shows that a process was at work before
// ([Key.FollowProcess]), the first request waits 3 seconds, the first heavy one 12. So
// however often it is killed, the reserve is not used up.
//
// # Who else uses the key
//
// X-RateLimit-Remaining lower than our own count explains means that someone
// else uses the key. What they are seen to use counts like our own for two
// minutes, twice as long: one share for what they used and one for what they are
// about to. (A program that comes in bursts after minutes of silence finds its key
// in use all the same; that is what a share below 1 is for.) A 429 stops all that it covers until Retry-After and some jitter have
// passed; then one request goes ahead alone.
package budget
