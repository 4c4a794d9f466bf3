// Package memory finds out how much memory this process may use: what its control groups allow
// (both versions, nested groups), or what the machine has.
package memory
