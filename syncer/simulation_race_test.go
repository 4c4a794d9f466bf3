//go:build race

package syncer

const usualEpisodes = 40
