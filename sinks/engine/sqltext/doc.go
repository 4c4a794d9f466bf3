// Package sqltext reads ClickHouse's SQL as text: tokens, where a statement ends, its FORMAT,
// the head of an INSERT; and it quotes names and texts. What may live here: what a server must
// know of a statement to take its data and to head its answer, found out without the engine.
// What may not: what a statement may do; that is the engine's and the kernel's.
package sqltext
