package server

import (
	"compress/flate"
	"compress/zlib"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/larder-sync/larder/sinks/engine/exception"
)

func contentEncoding(r *http.Request) string {
	if encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding != "identity" {
		return encoding
	}
	return ""
}

// decoded undoes Content-Encoding, then ClickHouse's own framing.
func decoded(body io.Reader, encoding string, framed bool) (io.Reader, error) {
	var err error
	switch encoding {
	case "":
	case "gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	case "zstd":
		var z *zstd.Decoder
		if z, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(largestWindow)); err == nil {
			body = z
		}
	case "br":
		body = brotli.NewReader(body)
	case "lz4":
		body = lz4.NewReader(body)
	default:
		return nil, exception.Refuse(exception.NotImplemented, "UNKNOWN_COMPRESSION_METHOD", "Content-Encoding %q is not known here: use gzip, deflate, br, zstd or lz4", encoding)
	}
	if err != nil {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The body is not in the encoding that its header names: %v", err)
	}
	if framed {
		body = newUnframer(body)
	}
	return body, nil
}

// encodings of an answer, the cheapest first.
var encodings = []string{"zstd", "lz4", "gzip", "deflate", "br"}

func acceptedEncoding(r *http.Request, values url.Values) string {
	if v := values.Get("enable_http_compression"); v != "" && !isOn(v) {
		return ""
	}
	accepted := map[string]bool{}
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if q := strings.ReplaceAll(quality, " ", ""); q != "q=0" && q != "q=0.0" {
			accepted[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	for _, name := range encodings {
		if accepted[name] {
			return name
		}
	}
	return ""
}

// flushCloser is a writer that can hand on what it holds before it ends.
type flushCloser interface {
	io.WriteCloser
	Flush() error
}

// encoder wraps w for a Content-Encoding; nil for none.
func encoder(w io.Writer, encoding string) (flushCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "deflate":
		return zlib.NewWriterLevel(w, flate.BestSpeed)
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	case "br":
		return brotli.NewWriterLevel(w, 1), nil
	case "lz4":
		return lz4.NewWriter(w), nil
	}
	return nil, nil
}

// framer writes ClickHouse's own compressed frames (compress=1).
type framer struct {
	w io.Writer
	c *compress.Writer
}

const frameSize = 1 << 20

func newFramer(w io.Writer, method string) *framer {
	m := compress.LZ4
	switch method {
	case "ZSTD":
		m = compress.ZSTD
	case "NONE":
		m = compress.None
	}
	return &framer{w: w, c: compress.NewWriter(compress.LevelZero, m)}
}

func (f *framer) Write(p []byte) (int, error) {
	for from := 0; from < len(p); from += frameSize {
		if err := f.c.Compress(p[from:min(from+frameSize, len(p))]); err != nil {
			return from, err
		}
		if _, err := f.w.Write(f.c.Data); err != nil {
			return from, err
		}
	}
	return len(p), nil
}
