package api

import (
	"context"
	"net/http"
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

// maxETag bounds what is kept of a version and sent back.
const maxETag = 1024

// entityTag is the ETag of an answer, empty for one that cannot be sent back: it would
// name another version, or several. What HTTP wants in quotes is taken without them too.
func entityTag(h http.Header) string {
	tag := h.Get("ETag")
	opaque := tag
	if len(opaque) > 2 && opaque[:2] == "W/" {
		opaque = opaque[2:]
	}
	quoted := len(opaque) > 1 && opaque[0] == '"' && opaque[len(opaque)-1] == '"'
	if quoted {
		opaque = opaque[1 : len(opaque)-1]
	}
	if len(tag) > maxETag || opaque == "" && !quoted {
		return ""
	}
	for _, c := range []byte(opaque) {
		if c <= ' ' || c > '~' || c == '"' || !quoted && (c == ',' || c == '*') {
			return ""
		}
	}
	return tag
}
