// Package sinktest proves that a sink keeps the contract of package sinks.
//
// Contents: the suite, the values it writes, and the faults it puts between a sink and its
// warehouse.
//
// The tables that the suite needs are products (all kinds, maps, arrays of
// arrays, nulls), ingredients and sales_orders.
package sinktest
