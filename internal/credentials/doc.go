// Package credentials makes the syncer's sources of the configured ones: it reads their API
// keys, the secrets of their webhooks and the key of pseudonyms. Keys and secrets it reads
// anew every five seconds. It also says which streams the scopes of a key allow.
//
// No value of a secret is in an error or a log.
package credentials
