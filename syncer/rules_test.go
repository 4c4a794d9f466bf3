package syncer

import (
	"fmt"
	"testing"
)

func TestShardsShareTheSources(t *testing.T) {
	moved, counts := 0, make([]int, 4)
	for i := range 1000 {
		name, owners := fmt.Sprintf("source%d", i), 0
		for index := range 4 {
			if (Shard{index, 4}).Takes(name) {
				owners++
				counts[index]++
				if index < 3 && !(Shard{index, 3}).Takes(name) {
					moved++
				}
			}
		}
		if owners != 1 {
			t.Fatalf("%s has %d owners", name, owners)
		}
	}
	if moved != 0 {
		t.Errorf("%d sources moved between the shards that stayed", moved)
	}
	for index, n := range counts {
		if n < 180 || n > 320 {
			t.Errorf("shard %d takes %d of 1000", index, n)
		}
	}
}
