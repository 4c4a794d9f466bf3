// Package api is the client of the restaurant data API: requests, pages, documents, errors,
// and limits as the service reports them. Its package types has what the answers hold.
//
// Contents: anything that the API's description says about the wire.
package api
