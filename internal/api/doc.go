// Package api is the client of the restaurant data API: requests, pages, documents, errors,
// and limits as the service reports them. Its package types has what the answers hold.
//
// Contents: what the API's description has about requests and answers.
package api
