package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// largeSizes are the bodies measured, in MB: what is refused, and what is taken.
var largeSizes = []int{60, 15}

const largeFor = 90 * time.Second

// large lets every list of a restaurant answer with bodies far larger than the API's,
// all from the daemon's first second on, and watches the memory of the process.
func large(ctx context.Context, r *report) error {
	if err := measureLarge(ctx, r, 0); err != nil {
		return err
	}
	for _, size := range largeSizes {
		if err := measureLarge(ctx, r, size); err != nil {
			return err
		}
	}
	return nil
}

func measureLarge(ctx context.Context, r *report, size int) error {
	b := bed{sandbox: []string{"-orders", "1000", "-days", "30", "-no-limits", "-pad", strconv.Itoa(size)}, streams: "[]"}
	return b.started(ctx, func(s *service, d *daemon) error {
		anonymous := int64(0)
		end := time.Now().Add(largeFor)
		for time.Now().Before(end) {
			if err := wait(ctx, 50*time.Millisecond); err != nil {
				return err
			}
			used, err := d.memory("RssAnon")
			if err != nil {
				return err
			}
			anonymous = max(anonymous, used)
		}
		highest, err := d.memory("VmHWM")
		if err != nil {
			return err
		}
		heap, err := d.metric(ctx, "go_memstats_heap_sys_bytes")
		if err != nil {
			return err
		}
		var rows int
		status, err := d.status(ctx)
		if err != nil {
			return err
		}
		for _, st := range status.Sources[0].Streams {
			if st.Rows != nil {
				rows += int(*st.Rows) //nolint:gosec // a few thousand
			}
		}
		what := fmt.Sprintf("bodies of %d MB", size)
		if size == 0 {
			what = "bodies as they are"
		}
		r.row(what+": memory of the processes, engine and its library included, highest", "%d MB", highest/1e6)
		r.row(what+": of it anonymous; taken by Larder's own heap from the system", "%d MB; %.0f MB", anonymous/1e6, heap/1e6)
		r.row(what+": rows stored", "%d", rows)
		return nil
	})
}

// memory is a figure of /proc/<pid>/status, in bytes, of the daemon and its engine together.
func (d *daemon) memory(name string) (sum int64, err error) {
	for _, pid := range family(d.cmd.Process.Pid) {
		raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			return 0, err
		}
		_, rest, found := strings.Cut(string(raw), "\n"+name+":")
		if !found {
			return 0, fmt.Errorf("no %s in /proc", name)
		}
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += kb * 1024
	}
	return sum, nil
}

// padded spreads so many bytes over the rows of each list, in a field that nobody
// knows.
func padded(api http.Handler, size int) http.Handler {
	if size == 0 {
		return api
	}
	padding := strings.Repeat("larder ", size/7+1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		got := httptest.NewRecorder()
		api.ServeHTTP(got, r)
		for name, values := range got.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(got.Code)
		_, _ = w.Write(pad(got.Body.Bytes(), padding, size)) // the client may have gone
	})
}

// pad puts the padding into the rows of an answer, if that is a list with some.
func pad(answer []byte, padding string, size int) []byte {
	var list map[string]json.RawMessage
	var rows []json.RawMessage
	if json.Unmarshal(answer, &list) != nil || json.Unmarshal(list["data"], &rows) != nil || len(rows) == 0 {
		return answer
	}
	before, after, found := bytes.Cut(answer, list["data"])
	if !found {
		panic("a value that was read from an answer does not stand in it")
	}
	all := append(slices.Clone(before), '[')
	for i, row := range rows {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(append(all, `{"future":"`+padding[:size/len(rows)]+`",`...), row[1:]...)
	}
	return append(append(all, ']'), after...)
}
