package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// chunk is a piece of a body whose size is not known yet.
type chunk [64 << 10]byte

// chunks are pooled: rows point into an exact copy, which lives as long as they do.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// reading is one body on its way in.
type reading struct {
	limit  int64 // of bytes, decompressed
	cut    bool  // of a refusal: what is longer, or cannot be read, is left out, and no error
	tenant *tenant
	phases *phases

	hold  *hold // nil while the body is small
	size  int64
	parts [][]byte // a chunk each
}

// body reads the whole body, decompressed. What it takes of the memory stays taken
// until the hold, nil for a small body, is released.
func (rd *reading) body(resp *http.Response) (body []byte, held *hold, err error) {
	defer func() {
		for _, part := range rd.parts {
			chunks.Put((*chunk)(part[:len(chunk{})]))
		}
		if err != nil {
			rd.hold.release()
		}
	}()
	r := &idleReader{resp.Body, rd.phases}
	switch encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		if resp.ContentLength > rd.limit && !rd.cut {
			return nil, nil, tooLarge(rd.limit)
		}
		err = rd.all(r)
	case "gzip", "x-gzip":
		err = rd.unzip(r)
	default:
		err = &BodyError{Kind: BodyEncoding, Reason: fmt.Sprintf("its encoding is %.40q, only gzip was asked for", encoding)}
	}
	if err != nil && !rd.cut {
		return nil, nil, err
	}
	body = bytes.Join(rd.parts, nil)[:min(rd.size, rd.limit)]
	if rd.hold != nil {
		rd.hold.shrink(int64(len(body)))
	}
	return body, rd.hold, nil
}

// unzippers are pooled: one costs 40 KB.
var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

func (rd *reading) unzip(r io.Reader) error {
	z := unzippers.Get().(*gzip.Reader)
	defer unzippers.Put(z)
	if err := z.Reset(r); err != nil {
		if errors.Is(err, io.EOF) { // an empty body, whatever its encoding
			return nil
		}
		return fmt.Errorf("unzip the body: %w", err)
	}
	return rd.all(z)
}

// all reads to the end, chunk by chunk.
func (rd *reading) all(r io.Reader) error {
	for {
		if err := rd.reserve(); err != nil {
			return err
		}
		c := chunks.Get().(*chunk)
		n, err := fill(c[:], r)
		rd.parts = append(rd.parts, c[:n])
		rd.size += int64(n)
		switch {
		case rd.size >= rd.limit && rd.cut:
			return nil
		case rd.size > rd.limit:
			return tooLarge(rd.limit)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the body after %d bytes: %w", rd.size, err)
		}
	}
}

// fill reads until b is full; unlike [io.ReadFull] it tells an end from a body that
// was cut.
func fill(b []byte, r io.Reader) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = r.Read(b[n:])
		n += more
	}
	return n, err
}

// reserve takes what the chunks behind the first one need, the next one with them, twice: they are
// copied once. While it waits no time-out runs, the service is not at fault.
func (rd *reading) reserve() error {
	need := 2 * int64(len(rd.parts)*len(chunk{}))
	if need < 2*freeMemory {
		return nil
	}
	if rd.hold == nil {
		rd.hold = &hold{of: rd.tenant}
	}
	if rd.hold.bytes < need {
		if err := rd.hold.take(rd.phases.ctx); err != nil {
			return fmt.Errorf("wait for memory for the body: %w", err)
		}
	}
	return nil
}

func tooLarge(limit int64) error {
	return &BodyError{Kind: BodyTooLarge, Reason: fmt.Sprintf("it is larger than %d MiB, the most that is taken of this answer", limit>>20)}
}
