// Package api is the client of the restaurant data API: requests, pages, documents, errors,
// and limits as the service reports them. Its package types has what the answers hold.
//
// What may live here: anything that api.md says about the wire. What may not:
// storage, schedules, and decisions about when to ask (package budget decides
// that).
package api
