// Package ordering is the online orders of an invented restaurant: what can be ordered,
// the checks of the API's description that an order passes, its prices, its life, and the guests who order
// by themselves.
//
// A Book holds the orders of one restaurant. It reads the restaurant as a key would, through
// world.View, and puts its orders on the restaurant's Till. Everything in it happens at an
// instant of the sandbox's clock, in order; what is drawn comes from the seed and the number
// of the order, so steps of any size give the same book.
//
// Contents: orders, menus, checks, prices, and what restaurant and guests do. Nothing here starts
// a goroutine.
package ordering
