package server

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/exception"
	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// Bounds of one request, in bytes.
const (
	longestStatement = 16 << 20 // without its data, the values of parameters put in
	largestWindow    = 64 << 20 // that a ZSTD stream may make the server remember
)

func tooLong() error {
	return exception.Refuse(exception.TooLarge, "QUERY_IS_TOO_LARGE", "The statement is longer than %d bytes", longestStatement)
}

// maxHead is how far the server looks for the data of an INSERT in a body.
const maxHead = 256 << 10

// request is a statement as it came in.
type request struct {
	id       string
	get      bool
	text     string    // the statement; of an INSERT perhaps with its first data
	body     io.Reader // the data behind text
	database string
	zone     string // the session's time zone; empty is UTC
	format   string // when the statement names none
	settings map[string]string
	params   map[string]string
	protocol uint64 // the revision that Native blocks are framed for; 0 for none
	compress string // of the answer: "" or the method of ClickHouse's own framing
	encoding string // of the answer: "" or a Content-Encoding
	whole    bool   // the answer begins when the statement has ended
	progress bool   // X-ClickHouse-Progress is wanted
	rowsOnly bool   // no columns are wanted where there are no rows
}

// transport are the parameters that are about HTTP or a session, not settings of
// a query. What they ask for is either done by the server or of no meaning here.
var transport = map[string]bool{
	"query": true, "database": true, "default_format": true, "user": true, "password": true,
	"quota_key": true, "query_id": true, "session_id": true, "session_timeout": true,
	"session_check": true, "close_session": true, "stacktrace": true, "compress": true,
	"decompress": true, "client_protocol_version": true, "wait_end_of_query": true,
	"buffer_size": true, "role": true, "profile": true, "add_http_cors_header": true,
	"send_progress_in_http_headers": true, "http_headers_progress_interval_ms": true,
	"enable_http_compression": true, "http_zlib_compression_level": true,
	"network_compression_method": true, "network_zstd_compression_level": true,
	"http_native_compression_disable_checksumming_on_decompress": true,
	"http_write_exception_in_output_format":                      true,
	"async_insert":                                               true, "wait_for_async_insert": true, "cancel_http_readonly_queries_on_client_close": true,
}

func (s *Server) parseRequest(r *http.Request) (*request, error) {
	// A semicolon belongs to the SQL, not to the query string.
	values, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if err != nil {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The query string cannot be read: %v", err)
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err := addForm(values, r); err != nil {
			return nil, err
		}
	}
	q := &request{
		id:       first(printable(values.Get("query_id")), printable(r.Header.Get("X-ClickHouse-Query-Id")), rand.Text()),
		get:      r.Method != http.MethodPost,
		database: first(values.Get("database"), r.Header.Get("X-ClickHouse-Database"), "default"),
		format:   first(values.Get("default_format"), r.Header.Get("X-ClickHouse-Format"), "TabSeparated"),
		settings: map[string]string{},
		params:   map[string]string{},
		encoding: acceptedEncoding(r, values),
		whole:    isOn(values.Get("wait_end_of_query")),
		progress: isOn(values.Get("send_progress_in_http_headers")),
		rowsOnly: r.Header.Get("Prefer") == "return=minimal",
	}
	q.protocol, err = strconv.ParseUint(first(values.Get("client_protocol_version"), "0"), 10, 32)
	if err != nil {
		return nil, exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "client_protocol_version must be a number")
	}
	if isOn(values.Get("compress")) {
		q.compress = first(strings.ToUpper(values.Get("network_compression_method")), "LZ4")
	}
	if err := s.takeSettings(q, values); err != nil {
		return nil, err
	}
	return q, q.takeBody(r, values)
}

// addForm adds the fields of a multipart body to those of the URL: some clients send a
// statement and its parameters there when they are too long for a URL. All of them together
// may be as long as a statement.
func addForm(values url.Values, r *http.Request) error {
	form, err := r.MultipartReader()
	if err != nil {
		return unreadable(err)
	}
	for left := longestStatement; ; {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		name := part.FormName()
		if part.FileName() != "" {
			return exception.Refuse(exception.NotImplemented, "NOT_IMPLEMENTED", "The file %q is not taken: there are no external tables here. Send its values as a parameter, such as param_ids for {ids:Array(String)}", name)
		}
		if name != "query" && !strings.HasPrefix(name, "param_") { // what may be set has been decided by the URL
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The field %q is not taken: a form has the statement (query) and its parameters (param_…). Put settings into the URL", name)
		}
		text, err := io.ReadAll(io.LimitReader(part, int64(left)+1))
		if err != nil {
			return unreadable(err)
		}
		if left -= len(text); left < 0 {
			return tooLong()
		}
		values.Add(name, string(text))
	}
}

func (s *Server) takeSettings(q *request, values url.Values) error {
	for name, given := range values {
		value := given[len(given)-1]
		switch param, isParam := strings.CutPrefix(name, "param_"); {
		case isParam:
			q.params[param] = value
		case transport[name]:
		case !s.settings[name] || name == engine.WritesFiles && s.readers == nil:
			return exception.Refuse(exception.UnknownSetting, "UNKNOWN_SETTING", "Unknown setting '%s'", name)
		case strings.ContainsRune(value, 0):
			return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The value of setting '%s' cannot be read", name)
		default:
			q.settings[name] = value
		}
	}
	return nil
}

// takeBody puts statement and data together: the query parameter, and behind it
// the body.
func (q *request) takeBody(r *http.Request, values url.Values) error {
	body, err := decoded(r.Body, contentEncoding(r), isOn(values.Get("decompress")))
	if err != nil {
		return err
	}
	q.text, q.body = values.Get("query"), body
	if _, inserts := sqltext.ParseInsert(q.text); inserts {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(body, maxHead))
	if err != nil {
		return unreadable(err)
	}
	q.append(head)
	if _, inserts := sqltext.ParseInsert(q.text); inserts {
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(body, int64(longestStatement)))
	if err != nil {
		return unreadable(err)
	}
	if len(q.text)+len(rest) > longestStatement {
		return tooLong()
	}
	q.text += string(rest)
	q.body = bytes.NewReader(nil)
	return nil
}

// append puts the statement's part of the body behind that of the URL.
func (q *request) append(body []byte) {
	if len(body) > 0 {
		q.text = strings.TrimPrefix(q.text+"\n"+string(body), "\n")
	}
}

func unreadable(err error) error {
	var thrown *exception.Exception
	if errors.As(err, &thrown) {
		return err
	}
	return exception.Refuse(exception.BadArguments, "BAD_ARGUMENTS", "The body cannot be read: %v", err)
}

func isOn(value string) bool { return value == "1" || strings.EqualFold(value, "true") }

// printable is a name that may be repeated in a header, else nothing: control characters
// would reach the terminal of who looks at it.
func printable(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

// first returns the first that is not empty.
func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
