// Package rows is what the lists of an invented restaurant have in common: ids, stamps,
// tombstones, the order of change, pages, and the truth that a mirror is compared with.
//
// Contents: what holds for the rows of any list. The lock of the restaurant guards all of it.
package rows
