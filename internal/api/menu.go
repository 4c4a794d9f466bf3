package api

import (
	"context"
	"net/http"
	"regexp"
)

// MenuAnswer is the orderable menu of a location; its row is an [OrderableMenu].
type MenuAnswer struct {
	// Unchanged: the menu is the one of the ETag that was sent along, and Raw is empty.
	Unchanged bool
	Raw       Raw
	ETag      string // the version of the menu; empty when the service names none
	Received
}

// Menu asks for the orderable menu of a location, unless it is still the one of an ETag
// that an answer gave before; an empty one asks for the menu whatever it is. The answer is
// the caller's to release.
func (c *Client) Menu(ctx context.Context, location, etag string) (MenuAnswer, error) {
	raw, k, err := get(ctx, c, target{routeMenu, location, etag}, nil, parseMenu)
	return MenuAnswer{Unchanged: k.status == http.StatusNotModified, Raw: raw, ETag: k.etag, Received: k.Received}, err
}

// parseMenu checks that a body is a menu, as [parseRow] does of a row.
func parseMenu(body []byte) (Raw, error) {
	var menu struct {
		LocationID there `json:"location_id"`
		Categories there `json:"categories"`
	}
	if err := parseObject(body, &menu); err != nil {
		return nil, err
	}
	if !menu.LocationID && !menu.Categories {
		return nil, shapeWrong(0, `it has neither "location_id" nor "categories"`)
	}
	return body, nil
}

// sendable are the ETags that can be sent back, in the quotes that HTTP wants or without: others
// would name another version, or several.
var sendable = regexp.MustCompile(`^((W/)?"[!#-~]*"|[!#-)+\-./0-~]+)$`)

const maxETag = 1024

// entityTag is the ETag of an answer, empty for one that cannot be sent back.
func entityTag(h http.Header) string {
	tag := h.Get("ETag")
	if tag == "" || len(tag) > maxETag || !sendable.MatchString(tag) {
		return ""
	}
	return tag
}
