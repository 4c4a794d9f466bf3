// Package memory finds out how much memory this process may use: what its control
// groups allow (both versions, nested groups), or what the machine has. It knows
// nothing of who shares it.
package memory
