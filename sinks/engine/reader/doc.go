// Package reader serves who only reads from a process of its own: `larder engine`. That
// process follows the data folder which the daemon writes, can write nothing and reach
// nothing else (Landlock), and may be lost: whoever starts it starts it again.
//
// Contents: the program, and who starts and watches it.
package reader
