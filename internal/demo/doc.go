// Package demo runs Larder on invented restaurants: `larder demo`, and `larder sandbox`,
// which serves them alone.
//
// What may live here: how large the demo is, its configuration, and what happens in it
// while one looks. What may not: the restaurants (internal/sandbox), and the daemon, which
// is the real one (internal/app).
package demo
