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

	hold *hold
}

// Release gives the menu back. It is not needed any more, nor what points into it. Until then
// it counts in the client's [Memory]. More than once does no harm.
func (a *MenuAnswer) Release() { a.hold.release() }

// Menu asks for the orderable menu of a location, unless it is still the one of an ETag
// that an answer gave before; an empty one asks for the menu whatever it is. The answer is
// the caller's to release.
func (c *Client) Menu(ctx context.Context, location, etag string) (MenuAnswer, error) {
	t := routeMenu.to(location)
	t.unless = etag
	answer, err := c.get(ctx, t, nil, func(body []byte) error {
		var menu struct {
			LocationID there `json:"location_id"`
			Categories there `json:"categories"`
		}
		if err := parseObject(body, &menu); err != nil || menu.LocationID || menu.Categories {
			return err
		}
		return shapeWrong(0, `it has neither "location_id" nor "categories"`)
	})
	if err != nil {
		return MenuAnswer{}, err
	}
	a := MenuAnswer{ETag: answer.etag, Received: answer.Received, hold: answer.hold}
	if a.Unchanged = answer.status == http.StatusNotModified; !a.Unchanged {
		a.Raw = answer.body
	}
	return a, nil
}

// sendable are the ETags that can be sent back, in the quotes that HTTP wants or without: others
// would name another version, or several.
var sendable = regexp.MustCompile(`^((W/)?"[!#-~]*"|[!#-)+\-./0-~]+)$`)

const maxETag = 1024

// entityTag is the ETag of an answer, empty for one that cannot be sent back.
func entityTag(h http.Header) string {
	tag := h.Get("ETag")
	if len(tag) > maxETag || !sendable.MatchString(tag) {
		return ""
	}
	return tag
}
