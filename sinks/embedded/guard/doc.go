// Package guard says which statements readers of the embedded engine may run.
//
// It looks at a statement's words with its own lexer, and at its syntax tree with the
// engine's: what stands there must be on lists. What may live here: those lists and the
// looks. What may not: HTTP, connections; the engine is asked through a function.
package guard
