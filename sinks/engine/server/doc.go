// Package server speaks ClickHouse's HTTP interface over the embedded engine, for those
// who ask it: the daemon and commands of the same user over a socket in the data folder,
// readers over TCP.
//
// Contents: listeners, who may come in and with which rights, requests as they arrive and answers
// as they leave, what readers may have.
package server
