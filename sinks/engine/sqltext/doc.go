// Package sqltext reads ClickHouse's SQL as text: tokens, where a statement ends, its FORMAT, the
// head of an INSERT; and it quotes names and texts. Contents: what a server must know of a
// statement to take its data and to head its answer, found out without the engine.
package sqltext
