// Package seeded is random numbers and hashes that are the same for the same seed. Contents:
// arithmetic alone.
package seeded
