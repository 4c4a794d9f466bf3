// Package api is the typed client of the restaurant data API: requests, pages,
// errors, limits as the service reports them, and the types of its rows.
//
// What may live here: anything that api.md says about the wire. What may not:
// storage, schedules, and decisions about when to ask (package budget decides
// that). The types of this file's neighbours types_*.go are the only thing the
// sandbox shares with the syncer.
package api
