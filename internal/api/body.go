package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// scratch holds the buffers that bodies are read into before their size is
// known; rows point into an exact copy, which lives as long as they do.
var scratch = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxScratch is the largest buffer that goes back to the pool.
const maxScratch = 8 << 20

// readBody reads the whole body, decompressed, at most limit bytes.
func readBody(resp *http.Response, p *phases, limit int64) ([]byte, error) {
	r := p.body(resp.Body)
	switch encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		if resp.ContentLength > limit {
			return nil, tooLarge(limit)
		}
		return readUpTo(r, limit)
	case "gzip", "x-gzip":
		return readGzip(r, limit)
	default:
		return nil, &shapeError{kind: BodyEncoding, reason: fmt.Sprintf("its encoding is %.40q, only gzip was asked for", encoding)}
	}
}

// unzippers are pooled: one costs 40 KB.
var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

func readGzip(r io.Reader, limit int64) ([]byte, error) {
	z := unzippers.Get().(*gzip.Reader)
	defer unzippers.Put(z)
	if err := z.Reset(r); err != nil {
		if errors.Is(err, io.EOF) { // an empty body, whatever its encoding
			return []byte{}, nil
		}
		return nil, fmt.Errorf("unzip the body: %w", err)
	}
	return readUpTo(z, limit)
}

func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	buf := scratch.Get().(*bytes.Buffer)
	buf.Reset()
	defer func() {
		if buf.Cap() <= maxScratch {
			scratch.Put(buf)
		}
	}()
	n, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the body after %d bytes: %w", n, err)
	case n > limit:
		return nil, tooLarge(limit)
	}
	return slices.Clone(buf.Bytes()), nil
}

func tooLarge(limit int64) error {
	return &shapeError{kind: BodyTooLarge, reason: fmt.Sprintf("it is larger than %d bytes", limit)}
}
