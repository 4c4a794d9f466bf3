//go:build long

package reader_test

import "testing"

// TestAllAttacksTouchNothing sends the attacks that TestReadersTouchNothing leaves out.
func TestAllAttacksTouchNothing(t *testing.T) {
	attacked(t, newSiege(t, "", ""), func(i int) bool { return i%someAttacks != 0 })
}

func TestManyGrownAttacksTouchNothing(t *testing.T) {
	attackedByGrown(t, newSiege(t, "", ""), append(grownAttacks()[someGrown:], fuzzSeeds()...))
}

// TestViewsUnderOtherDefaults compares every view, of which TestTools compares some.
func TestViewsUnderOtherDefaults(t *testing.T) { testViews(t, served(t), 1) }
