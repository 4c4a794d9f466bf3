// Command bench measures Larder as a whole, on the real engine and against the
// sandbox in a process of its own: `make bench`, or `go run ./internal/bench
// NAME …` for some of it. docs/benchmarks.md reports what it prints.
//
// Contents: starting processes, driving them, reading clocks and counters.
package main
