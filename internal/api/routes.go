package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/larder-sync/larder/internal/api/types"
)

// route is one path of the API; the last segment may be an id.
type route struct {
	path  string // with {id} where an id goes
	heavy bool
	most  int64 // bytes of an answer, decompressed; 0: mostOfList
	post  bool  // asked with POST
	// personal: its answers tell of people, and no error shows a piece of one.
	personal bool
}

// The most that is taken of an answer. A page has at most 200 rows, and a location
// or a day is no larger than those: 16 MiB leave 80 KB for each, some ten times an
// order with a hundred lines. Only the products sold by day have no bound in
// The API's description: of 92 days, a thousand products a day are 25 MB.
const (
	mostOfList     = 16 << 20
	mostOfProducts = 64 << 20
	mostOfObject   = 4 << 20
	maxRefusal     = 64 << 10 // of what is no 200; the rest is not read
)

func (r route) name() string { return r.method() + " " + r.path }

func (r route) method() string {
	if r.post {
		return http.MethodPost
	}
	return http.MethodGet
}

// target is a route with the id in it.
type target struct {
	route
	id string
	// unless is an ETag: an answer of another version is wanted only. 304 is an answer then.
	unless string
}

// in puts the id into the address of a service.
func (t target) in(base *url.URL) (*url.URL, error) {
	if t.id == "" && strings.Contains(t.path, "{id}") {
		return nil, errors.New("an empty id names nothing")
	}
	at := *base
	at.RawPath = base.EscapedPath() + strings.Replace(t.path, "{id}", escapeID(t.id), 1)
	at.Path = base.Path + strings.Replace(t.path, "{id}", t.id, 1)
	return &at, nil
}

// escapeID makes one path segment of an id. Ids hold any character (the API's description,
// "Conventions"); "." and ".." would be taken for steps of the path by clients
// and proxies on the way, so their dots are escaped too.
func escapeID(id string) string {
	if strings.Trim(id, ".") == "" {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

var (
	routeMe            = route{path: "/me", most: mostOfObject}
	routeMenu          = route{path: "/locations/{id}/menu"}
	routeOrders        = route{path: "/orders", personal: true}
	routeOrder         = route{path: "/orders/{id}", most: mostOfObject, personal: true}
	routeWebhookTest   = route{path: "/webhooks/test", most: mostOfObject, post: true}
	routeSalesDaily    = route{path: "/sales/daily", heavy: true}
	routeSalesProducts = route{path: "/sales/products", heavy: true, most: mostOfProducts}
)

// Document is one object of the API, typed and as received.
type Document[T any] struct {
	Value T
	Raw   Raw
	Received
}

// Me asks for the key itself. It needs no scope and works while online ordering
// is off.
//
// An answer without the restaurant, the scopes or the locations is none: what a key may
// no longer read, or use, is acted upon.
func (c *Client) Me(ctx context.Context) (Document[types.Me], error) {
	me, k, err := get(ctx, c, target{route: routeMe}, nil, parseMe)
	k.Release()
	return Document[types.Me]{Value: me, Raw: k.body, Received: k.Received}, err
}

// maxBusiness bounds the id that every row and checkpoint carries.
const maxBusiness = 1024

func parseMe(body []byte) (types.Me, error) {
	var me types.Me
	err := parseObject(body, &me)
	switch {
	case err != nil:
		return me, err
	case me.Business.ID == "":
		return me, shapeWrong(0, "it has no business.id: is the base URL right?")
	case len(me.Business.ID) > maxBusiness:
		return me, shapeWrong(0, fmt.Sprintf("its business.id has %d bytes, and more than %d are none", len(me.Business.ID), maxBusiness))
	case me.Scopes == nil:
		return me, shapeWrong(0, "it has no scopes")
	case me.LocationIDs == nil:
		return me, shapeWrong(0, "it has no location_ids")
	}
	return me, nil
}

// Snapshot asks for the list without a cursor of a path, whose only page it is.
func (c *Client) Snapshot(ctx context.Context, path string) (Page, error) {
	s, k, err := get(ctx, c, target{route: route{path: path}}, nil, parseSnapshot)
	k.Release()
	s.Received = k.Received
	return s, err
}

func parseSnapshot(body []byte) (Page, error) {
	v := struct {
		Data rows `json:"data"`
	}{Data: rows{body: body, most: maxRows}}
	err := parseObject(body, &v)
	if err == nil && v.Data.list == nil {
		err = errNoData
	}
	return Page{Rows: v.Data.list}, err
}

// Row is one row, as received.
type Row struct {
	Raw Raw
	Received
}

// RowAt asks for one row by its id, behind the path of its list.
func RowAt(ctx context.Context, c *Client, path, id string) (Row, error) {
	raw, k, err := get(ctx, c, target{route: route{path: path + "/{id}", most: mostOfObject}, id: id}, nil, parseRow)
	k.Release()
	return Row{raw, k.Received}, err
}
