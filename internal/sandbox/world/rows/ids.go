package rows

import (
	"fmt"

	"github.com/larder-sync/larder/internal/sandbox/seeded"
)

// IDs invents ids, which are opaque.
type IDs struct {
	seed    uint64
	strange bool
	next    map[string]int
}

// NewIDs invents the ids of a seed, or with strange ones that break clients.
func NewIDs(seed uint64, strange bool) *IDs {
	return &IDs{seed: seed, strange: strange, next: map[string]int{}}
}

// Make is the next id of a kind.
func (m *IDs) Make(kind string) string {
	n := m.next[kind]
	m.next[kind]++
	if m.strange {
		return strangeID(kind, n)
	}
	g := seeded.New(m.seed, uint64(n), seeded.Hash(kind))
	return kind + "_" + seeded.Base32(g.Next(), 13)
}

// strangeID makes ids that break clients which parse, trim, fold or forget to
// escape. Two of each eight differ in case only.
func strangeID(kind string, n int) string {
	k := n / 8
	switch n % 8 {
	case 0:
		return fmt.Sprintf("%s/%d/../x", kind, k)
	case 1:
		return fmt.Sprintf("%s%%2F%d%%", kind, k)
	case 2:
		return fmt.Sprintf(`%s"%d'\"`, kind, k)
	case 3:
		return fmt.Sprintf(" %s %d ", kind, k)
	case 4:
		return fmt.Sprintf("%s🍲%dș", kind, k)
	case 5:
		return fmt.Sprintf("%sCase%d", kind, k)
	case 6:
		return fmt.Sprintf("%scASE%d", kind, k)
	default:
		return fmt.Sprintf("%s?a=%d&b=#;+", kind, k)
	}
}
