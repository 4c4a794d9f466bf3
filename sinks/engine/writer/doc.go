// Package writer is the way to the engine of a data folder: a process of its own, `larder
// engine`, which whoever needs it first starts, and all others connect to. It ends with its
// starter; whoever is left starts it again when it next connects.
//
// Contents: the program, who starts and watches it, and whether its folder is still there.
package writer
