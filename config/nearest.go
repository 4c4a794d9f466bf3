package config

import "strings"

// nearest returns the candidate that a typo most likely meant, or "" when none
// is near. A right key in a wrong section counts as near.
func nearest(typo string, candidates []string) string {
	best, bestAt := "", max(3, len(typo)/3+1)
	for _, c := range candidates {
		d := distance(typo, c)
		if last(typo) == last(c) {
			d = min(d, 1)
		}
		if d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// nearestSection is the section that a typo most likely meant, or "". Their names are
// short, so that little may differ.
func nearestSection(typo string, sections []string) string {
	best, bestAt := "", max(1, len(typo)/3)+1
	for _, s := range sections {
		if d := distance(typo, s); d < bestAt {
			best, bestAt = s, d
		}
	}
	return best
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
