// Package proof stores the service's own totals day by day, and proves days by them: it
// compares each figure with what the mirrored orders add up to, and heals a day that differs.
//
// It decides which days are asked for, keeps what is found about them, and heals a day. How
// orders are walked is in package list, and when a turn comes in packages schedule and syncer.
//
// Where what happens:
//
//   - ask: [Totals] asks for days and stores them (ask.go, lines.go; fill.go for all of
//     them). backfill is how far back they have been asked for.
//   - compare: a bracket compares days with the mirrored orders (bracket.go, figures.go, explain.go).
//   - heal: days that differ are looked at once more and healed (recheck.go, heal.go). Each source
//     has its healings.
//   - what was found: each stream has its verdicts (verdicts.go).
//   - what is proven: [Shared], which the streams of a source have in common (proven.go).
//   - which days: a run does all of that for some days (run.go): in the turns of a daemon (deep.go with
//     deepRuns), and in a [Pass] of larder reconcile (pass.go, report.go).
//
// # States
//
// The backfill goes back in steps of 92 days to the first sale. Yesterday and today are asked for at
// every turn, and the last 92 days, of each location too, in deep runs. A full resync is the backfill
// made once more, and of each location the days that deep runs have asked for. A key that does not see
// all locations asks by location, one that does for all of them together. Other locations than before
// begin the backfill anew, and owe a deep run.
//
// A bracket walks the orders before and after it asks for a day. The day is then proven, explained,
// unsettled, unproven, or it differs. One that differs is looked at once more minutes later. If it
// shows the same difference its orders are fetched anew. If that does not help it is a drift, and the
// orders owe a full resync. A deep run follows it. What is found about a day is a verdict in the
// warehouse.
//
// # What holds
//
//   - A day is written only when it is not what was last written of it; a full resync writes
//     every day.
//   - A line that vanished from a day is removed, unless a line of that day cannot be
//     identified: it may be any.
//   - A day is a drift only when two brackets, more than two minutes apart, show the same
//     difference.
//   - A row is removed by a healing only when the service answers 404 for it, and the key has
//     its location.
//   - A day that differs owes one full resync: one that began after it was found, and did not
//     help, is not repeated until the day was right once. All days owe one in 20 hours at most.
//   - Five days in a row that fetching their orders anew did not help end that for the run.
//
// # When something fails
//
// A backfill or full resync goes on from the step that was not durable; until a full resync ends, the
// stored checkpoint is that of the walk before. A day that could not be asked for is unproven, and the
// earlier verdict is kept. A day whose orders cannot be fetched holds up no other: it owes a full
// resync, and a later turn tries again. A deep run that could not ask for all its days is repeated
// before its turn.
package proof
