// Package spool collects any number of texts in bounded memory, to be read once
// in order.
//
// What may live here: that set and its temporary file. What may not: what the
// texts are, or anything of package syncer.
package spool
