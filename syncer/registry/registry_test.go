package registry

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/internal/api/types"
)

// A kind that has no job would be asked for at the turns of another one.
func TestAKindNeedsAJobAndWalks(t *testing.T) {
	var l list
	add[types.Allergen](&l, &Definition{Name: "forgotten", Kind: 99})
	if l.err == nil || !strings.Contains(l.err.Error(), "stream forgotten") || len(l.all) > 0 {
		t.Errorf("%d streams, %v", len(l.all), l.err)
	}
}

// What follows a stream by its kind asks what the entry names.
func TestEveryEntryNamesWhatItsKindAsks(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		asks := map[Kind]bool{KeyKind: true, SnapshotKind: d.Whole != nil, ListKind: d.List != nil, TotalsKind: d.Totals != nil, MenuKind: d.Menu != nil}
		if !asks[d.Kind] || d.Path == "" || (d.One != nil) != d.OneByOne {
			t.Errorf("%s: its entry lacks the function that asks for its kind, or its path", d.Name)
		}
	}
}

// It would store the rows of locations that the configuration does not name.
func TestASnapshotByLocationIsRefused(t *testing.T) {
	var l list
	add[types.Allergen](&l, &Definition{Name: "tables", Kind: SnapshotKind, Path: "/tables", ByLocation: true})
	if l.err == nil {
		t.Error("a snapshot is not asked by location, and its entry says that it is")
	}
}
