// Package warehouse finds the way to the warehouse of a configuration: the process of its
// engine, or another host.
//
// Contents: opening and waiting for a warehouse, its readers, its memory, its health, and what its
// damaged parts mean.
package warehouse
