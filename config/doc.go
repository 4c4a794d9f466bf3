// Package config is what can be configured: every option with its type,
// default, meaning and validator in one table (options.go), loading in layers
// (YAML, then environment, then --set), validation that names every problem at
// once, and secrets that do not print.
//
// What may live here: options and what makes their values right by themselves.
// What may not: anything that opens a connection, and anything of the rooms that
// are configured: they take what they need from package app, in their own types.
package config
