// Package memory finds out how much memory this process may use: what its control
// groups allow (both versions, nested groups), or what the machine has. What may not live
// here: who shares it.
package memory
