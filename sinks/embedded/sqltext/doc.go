// Package sqltext reads ClickHouse's SQL as text: tokens, where a statement ends, its
// FORMAT and SETTINGS, the head of an INSERT; and it quotes names and texts. What may live
// here: what can be found out without the engine. What may not: what readers may ask (package
// guard).
package sqltext
