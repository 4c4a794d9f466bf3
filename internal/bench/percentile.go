package main

import (
	"cmp"
	"slices"
)

// percentile is the p-th percentile (0 to 100), by nearest rank.
func percentile[T cmp.Ordered](all []T, p float64) (none T) {
	if len(all) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(all))
	rank := int(p/100*float64(len(sorted))+0.5) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}
