package server

import (
	"errors"
	"io"

	"github.com/ClickHouse/ch-go/compress"
)

// unframer reads frames of ClickHouse's own compression (decompress=1). Its end is io.EOF
// between two frames, and io.ErrUnexpectedEOF within one. It keeps to its end: what it reads
// by would give the last frame once more.
type unframer struct {
	frames *compress.Reader
	body   counted
	ended  error
}

func newUnframer(body io.Reader) *unframer {
	u := &unframer{body: counted{r: body}}
	u.frames = compress.NewReader(&u.body)
	return u
}

func (u *unframer) Read(p []byte) (n int, err error) {
	if u.ended != nil {
		return 0, u.ended
	}
	u.body.read = 0
	n, u.ended = u.frames.Read(p)
	switch {
	case !errors.Is(u.ended, io.EOF):
	case u.body.read > 0:
		u.ended = io.ErrUnexpectedEOF
	default:
		u.ended = io.EOF
	}
	return n, u.ended
}

// counted counts what is read.
type counted struct {
	r    io.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += n
	return n, err
}
