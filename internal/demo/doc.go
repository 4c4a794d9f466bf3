// Package demo runs Larder on invented restaurants: `larder demo`, and `larder sandbox`,
// which serves them alone.
//
// Contents: how large the demo is, its configuration, and what happens in it while one looks.
package demo
