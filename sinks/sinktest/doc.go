// Package sinktest proves that a sink keeps the contract of package sinks.
//
// What may live here: the suite, the values it writes, and the faults it puts
// between a sink and its warehouse. What may not: a warehouse's dialect, which the
// [Harness] hides.
//
// The tables that the suite needs are products (all kinds, maps, arrays of
// arrays, nulls), ingredients and sales_orders.
package sinktest
