package sinktest

import "testing"

// Run proves the sentences of [sinks.Sink], one test for each. fresh gives every
// test a warehouse of its own.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	run(t, fresh, proofs)
	RunReads(t, fresh)
	RunWrites(t, fresh)
}

// RunWrites proves the sentences about writing and about the state that is read back: all
// that a flush does with a connection.
func RunWrites(t *testing.T, fresh func(t *testing.T) Harness) {
	run(t, fresh, []sentence{
		{"values of every kind at their extremes", testExtremes},
		{"many batches in one flush", testManyBatches},
		{"ids of any text in several businesses", testIDs},
		{"the highest version is live", testVersions},
		{"writing again changes nothing", testAgain},
		{"an empty commit is durable", testEmptyCommit},

		{"a tombstone keeps the values of its row", testTombstone},
		{"a tombstone of a row never seen stands alone", testLoneTombstone},
		{"a removed row lives again", testResurrection},
		{"row and tombstone of one commit go by version", testRowAndTombstone},
		{"many tombstones", testManyTombstones},

		{"a source finds its state again", testState},
		{"sources that begin together find each its own state", testTogether},
		{"the last checkpoint wins", testCheckpoints},
		{"quarantine opens, closes and opens again", testQuarantine},
		{"the open entries of a state are bounded", testManyQuarantined},
		{"highest version and first day", testBounds},

		{"receipts resolve in order", testOrder},
		{"a full queue holds writers back", testBackPressure},
		{"a warehouse that is down makes receipts wait", testDown},
		{"a connection cut anywhere loses and doubles nothing", testCuts},
		{"an answer that is lost doubles nothing", testLostAnswers},
		{"rows refused for their values go to quarantine, all others are stored", testRefused},
		{"values of every kind beside a refused row", testRefusedValues},
		{"refused rows behind connections that are cut", testRefusedCuts},
		{"a verdict is stored after its rows, a checkpoint after both", testCheckpointLast},
		{"close flushes what is queued", testClose},
		{"close in vain fails the receipts", testCloseInVain},
	})
}

// RunReads proves what is said about rows that are read back, claims and fences. It
// needs of a harness neither Dial nor more of Rows than ids.
func RunReads(t *testing.T, fresh func(t *testing.T) Harness) {
	run(t, fresh, []sentence{
		{"live rows by every condition", testLive},
		{"live rows page by page", testPages},
		{"stored rows, removed ones too", testStored},
		{"stored rows by ids of any text", testStoredIDs},
		{"stored rows by a hash", testHashes},
		{"claims of several processes", testClaims},
		{"a process that is silent is not alive", testSilence},
		{"claims outlast the days of a process", testLongLife},
		{"a fenced commit is written no more, its neighbours are", testFence},
	})
}

// RunProof proves what the sentences say about proofs of days alone. It needs no
// more of the harness than Open and the table sales_orders.
func RunProof(t *testing.T, fresh func(t *testing.T) Harness) { run(t, fresh, proofs) }

type sentence struct {
	name string
	run  func(*testing.T, Harness)
}

func run(t *testing.T, fresh func(t *testing.T) Harness, sentences []sentence) {
	t.Helper()
	for _, test := range sentences {
		t.Run(test.name, func(t *testing.T) { test.run(t, fresh(t)) })
	}
}

var proofs = []sentence{
	{"the totals of days", testSalesDays},
	{"what was sold by day", testSalesProducts},
	{"totals of whichever orders are asked for", testWhoseTotals},
	{"totals of the newest versions alone", testNewestTotals},
	{"refunds of removed orders", testRemovedRefunds},
	{"the newest verdicts stand", testVerdicts},
	{"a verdict about no day is refused", testNoDay},
}
