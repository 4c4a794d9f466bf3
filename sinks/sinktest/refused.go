package sinktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-sync/larder/sinks"
)

// refusedCommits are commits of two sources, of which some rows and tombstones are refused,
// and the state that is left of their rows. told collects the ids given to Refused.
func refusedCommits(h Harness, told *[]string) (commits []*sinks.Commit, want map[string]string) {
	want = map[string]string{}
	for n := range 6 {
		version := uint64(100 * (n + 1))
		var rows []sinks.Row
		for i := range 9 {
			id := fmt.Sprintf("id-%d-%d", n, i)
			if n%2 == 1 && i%4 == 0 {
				id = "refused-" + id
			} else {
				want[id] = fmt.Sprintf("live %d", version)
			}
			rows = append(rows, row(id, version))
		}
		c := ingredients(h, rows...)
		c.Source = fmt.Sprintf("source-%d", n%2)
		c.Refused = func(refused []sinks.Quarantined) {
			for _, q := range refused {
				*told = append(*told, q.ID)
			}
		}
		if n == 3 {
			c.Tombstones = []sinks.Tombstone{tombstone("id-0-1", version, "deleted"), tombstone("refused-tombstone", version, "deleted")}
			want["id-0-1"] = fmt.Sprintf("deleted %d", version)
		}
		// The first of them closes an entry that it opens anew.
		c.Released = []string{"refused-id-1-0"}
		c.Checkpoint = &sinks.Checkpoint{Source: c.Source, Stream: "ingredients", Walk: sinks.WalkBackfill, Cursor: fmt.Sprint(n), StartedAt: now, UpdatedAt: now}
		commits = append(commits, c)
		if n > 1 {
			c.Released = nil
		}
	}
	return commits, want
}

var refusedIDs = []string{
	"refused-id-1-0", "refused-id-1-4", "refused-id-1-8", "refused-id-3-0", "refused-id-3-4", "refused-id-3-8",
	"refused-id-5-0", "refused-id-5-4", "refused-id-5-8", "refused-tombstone",
}

// testRefused writes rows that the warehouse refuses, with others in the same flush: of the
// same commit, of the same source and of another one.
func testRefused(t *testing.T, h Harness) {
	h.Refuse("ingredients")
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	f.Down() // so that everything gathers in one or two flushes
	var told []string
	commits, want := refusedCommits(h, &told)
	var receipts []*sinks.Receipt
	for _, c := range commits {
		receipts = append(receipts, write(t, s, c))
	}
	f.Up()
	for _, r := range receipts {
		if err := r.Wait(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, h, want)
	expectRefused(t, s)
	slices.Sort(told)
	if diff := cmp.Diff(refusedIDs, told); diff != "" {
		t.Errorf("told of (-want +got):\n%s", diff)
	}
}

func expectRefused(t *testing.T, s sinks.Sink) {
	t.Helper()
	entries, err := s.Quarantine(within(t), "source-1", "ingredients")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, q := range entries {
		ids = append(ids, q.ID)
		if !strings.HasPrefix(q.Reason, "the warehouse refuses it: ") || strings.Contains(q.Reason, "Column values") || q.Version == 0 || q.FetchedAt.IsZero() {
			t.Errorf("entry %s: version %d, fetched at %s: %s", q.ID, q.Version, q.FetchedAt, q.Reason)
		}
	}
	if diff := cmp.Diff(refusedIDs, ids); diff != "" {
		t.Errorf("in quarantine (-want +got):\n%s", diff)
	}
	for source, cursor := range map[string]string{"source-0": "4", "source-1": "5"} {
		state, err := s.State(within(t), source)
		if err != nil {
			t.Fatal(err)
		}
		if len(state.Checkpoints) != 1 || state.Checkpoints[0].Cursor != cursor {
			t.Errorf("%s: %+v, want the cursor %s", source, state.Checkpoints, cursor)
		}
	}
}

// testRefusedCuts cuts connections in between.
func testRefusedCuts(t *testing.T, h Harness) {
	h.Refuse("ingredients")
	f := NewFlaky(h.Dial)
	s := open(t, h, Options{Dial: f.Dial})
	chance := rand.New(rand.NewPCG(3, 4))
	var told []string
	commits, want := refusedCommits(h, &told)
	for _, c := range commits {
		f.CutAfter(100 + chance.Int64N(6000))
		store(t, s, c)
	}
	expect(t, h, want)
	expectRefused(t, s)
}

// testRefusedValues has one row refused between others that hold values of every kind.
func testRefusedValues(t *testing.T, h Harness) {
	const rows, refused = 24, 10
	s := open(t, h, Options{})
	for _, name := range []string{"products", "sales_orders"} {
		h.Refuse(name)
		b := extreme(h.Tables[name], rows, 100)
		b.Rows[refused].ID = "refused"
		want, raws := slices.Delete(Values(b), refused, refused+1), slices.Delete(slices.Clone(b.Rows), refused, refused+1)
		store(t, s, &sinks.Commit{Source: source, Business: business, Stream: name, Batch: b})
		got := h.Rows(name, business)
		if len(got) != len(raws) {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(raws))
		}
		for i, g := range got {
			checkRow(t, name, g, raws[i], want[i])
		}
	}
}
