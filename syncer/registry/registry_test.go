package registry

import "testing"

// What follows a stream by its kind asks what the entry names. A snapshot is not asked by location:
// it would store the rows of locations that the configuration does not name.
func TestEveryEntryNamesWhatItsKindAsks(t *testing.T) {
	for _, d := range All() {
		asks := map[Kind]bool{KeyKind: true, SnapshotKind: !d.ByLocation, ListKind: d.List != nil, TotalsKind: d.Totals != nil, MenuKind: true}
		if !asks[d.Kind] || len(d.Walks()) == 0 || d.Path == "" || (d.One != nil) != d.OneByOne {
			t.Errorf("%s: its entry lacks the function that asks for its kind, or its path", d.Name)
		}
	}
}
