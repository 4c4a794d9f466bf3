// Command bench measures Larder as a whole, on the real engine and against the
// sandbox in a process of its own: `make bench`, or `go run ./internal/bench
// NAME …` for some of it. docs/benchmarks.md reports what it prints.
//
// What may live here: starting processes, driving them, reading clocks and
// counters. What may not: anything that the daemon needs.
package main
