// Package sales is the orders of an invented restaurant: what becomes of each, what it says,
// and what they add up to by day and by product.
//
// Of an order only what orders and finds it is kept in memory (64 bytes); its content is
// computed from seed, number and revision whenever it is read.
//
// Contents: orders and their totals, by the rules of the API's description. The lock of the restaurant guards all
// of it.
package sales
