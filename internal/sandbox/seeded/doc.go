// Package seeded is random numbers and hashes that are the same for the same seed. What
// may live here: arithmetic alone. What may not: what is made of it.
package seeded
