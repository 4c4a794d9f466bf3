// Package config is what can be configured. One table (options.go) has every option
// with its type, default, meaning and validator. The package loads in layers (YAML,
// then environment, then --set). Validation names every problem at once, and secrets
// do not print.
//
// What may live here: options and what makes their values right by themselves.
// What may not: anything that opens a connection, and anything of the rooms that
// are configured: they take what they need from package app, in their own types.
package config
