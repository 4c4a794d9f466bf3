// Package world is the invented restaurants behind the sandbox, and how they move in time.
//
// It is made from a seed. What a restaurant consists of is in the packages below: its
// locations, its catalogue, its stock and its sales; rows is what their lists share. Here is
// what brings them together: a View reads a restaurant as somebody sees it who may use some
// of its locations, a Restaurant changes it, a Till takes its online orders, and its timeline
// moves it.
//
// Contents: the lock of a restaurant, who sees what, and when something happens. Nothing here
// starts a goroutine.
package world
