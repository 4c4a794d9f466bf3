// Package budget decides when a request may be sent: the stacked limits of a
// key, a restaurant and the heavy routes, in lanes (docs/rules.md, Budget).
//
// What may live here: counting, waiting and forecasting. What may not: HTTP, the
// API's routes, knowledge of what a request is for beyond its lane and weight.
//
// # How a limit is kept
//
// Each limit is a sliding log of Larder's own requests ([window]). The service counts a
// request at some instant between its sending and its answer. So in the log it
// counts from its sending until 60 seconds and a small margin after its answer. No
// 60 seconds at the service then hold more than the limit, wherever its minutes begin.
// That is enough for a fixed minute, a sliding one and a bucket alike.
//
// # How lower lanes spread themselves
//
// A burst would use up the limit and hold fresh requests up for a minute. So a request
// of a lower lane is sent only if the log shows that afterwards a fresh one can be sent
// in every interval of 66 s/limit, until all requests in the log have stopped counting
// ([window.opens]). A backfill spreads itself over the minute in this way, and
// still uses the whole limit. The next request can even be sent a little sooner, so that
// a single fresh one rarely waits.
//
// A lower lane uses what the higher ones leave, all of it. Where they leave nothing, the
// lower lanes' oldest request is the twenty-first: fresh walks can need more than a small
// key allows, for hours.
//
// # What the process before has spent
//
// A process that was killed leaves no log. So the first request of a limit goes alone. Its
// X-RateLimit-Remaining shows what was spent, and the log takes that over; where it is about
// another limit, half of what it shows may be sent. The first request itself must find the limit not used up, however often
// processes are killed. So the urgent lanes leave something as well: one request in every
// interval of 360 s/limit, and where a process was at work before ([Key.FollowProcess]),
// the first request waits for one such interval. Both intervals are computed from [DefaultLimits]
// where the limit is lower, since a process has no answer of /me before its first request.
//
// # What others use
//
// limit − X-RateLimit-Remaining − what the log holds is what another program used of the key
// within the last minute. Twice that is left to them, once for what they used and once for
// what they are about to use, but at most half of what they do not use ([window.most]). The
// most that was seen holds for two minutes; where less is seen then, it is halved, and so on.
// A 429 stops all that it covers until Retry-After and some jitter have passed; then one
// request goes ahead alone, and a quarter of the limit counts as used by others.
// (A program that comes in bursts after minutes of silence finds its key in use all the
// same; budget_share is for that.)
package budget
