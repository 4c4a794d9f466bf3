package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// output is what is answered: rows, and what stands around them.
type output struct {
	out    []byte
	rows   int
	status int                     // 0 is 200
	spoil  func(row []byte) []byte // applies the faults on rows; nil for none
}

func (o *output) write(text string) { o.out = append(o.out, text...) }

func (o *output) openList() { o.write(`{"data":[`) }

// addRow appends a row, maybe spoilt by a fault.
func (o *output) addRow(write func(out []byte) []byte) {
	if o.rows > 0 {
		o.out = append(o.out, ',')
	}
	o.rows++
	start := len(o.out)
	o.out = write(o.out)
	if o.spoil != nil {
		o.out = append(o.out[:start], o.spoil(o.out[start:])...)
	}
}

func (o *output) addJSON(row any) {
	o.addRow(func(out []byte) []byte { return append(out, units.JSON(row)...) })
}

// gzipFrom is the smallest body that is worth compressing.
const gzipFrom = 1024

var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic("sandbox: gzip level: " + err.Error())
	}
	return w
}}

// writeJSON sends a body, compressed when the client takes gzip. Errors of
// writing mean that the client has gone; nobody is left to tell.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Vary", "Accept-Encoding")
	if len(body) >= gzipFrom && acceptsGzip(r) && r.Method != http.MethodHead {
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(z)
		z.Reset(w)
		if _, err := z.Write(body); err == nil {
			_ = z.Close() // the client has gone
		}
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone
	}
}

func acceptsGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
			if (name == "gzip" || name == "*") && strings.ReplaceAll(q, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}
