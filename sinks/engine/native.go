package engine

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// handle is a pointer of the engine, opaque to us.
type handle = uintptr

// native is the part of the engine's C interface that Larder uses. Pointers to
// text go with a length: the engine copies what it keeps.
type native struct {
	connect   func(argc int32, argv unsafe.Pointer) *handle
	closeConn func(conn *handle)
	signals   func(enabled int32)

	query       func(conn handle, sql unsafe.Pointer, n uintptr, format unsafe.Pointer, fn uintptr) handle
	streamQuery func(conn handle, sql unsafe.Pointer, n uintptr, format unsafe.Pointer, fn uintptr) handle
	streamFetch func(conn, stream handle) handle
	streamStop  func(conn, stream handle)
	destroy     func(result handle)

	buffer       func(result handle) unsafe.Pointer
	length       func(result handle) uintptr
	failureText  func(result handle) unsafe.Pointer
	rowsRead     func(result handle) uint64
	bytesRead    func(result handle) uint64
	scannedRows  func(result handle) uint64
	scannedBytes func(result handle) uint64
	rowsWritten  func(result handle) uint64
	bytesWritten func(result handle) uint64

	insert            func(conn handle, sql unsafe.Pointer, n uintptr, format unsafe.Pointer, fn uintptr) handle
	insertAppend      func(stream handle, data unsafe.Pointer, n uintptr) int32
	insertDone        func(stream handle) handle
	insertCancel      func(stream handle)
	insertFailureText func(stream handle) unsafe.Pointer
	insertDestroy     func(stream handle)

	classify func(conn handle, sql unsafe.Pointer, n uintptr, target unsafe.Pointer, tn uintptr, out unsafe.Pointer) int32
}

// loadNative opens the library. A file that is no engine, or is for another
// machine, is ErrEngineMissing too: the person has the same thing to do.
func loadNative(path string) (lib *native, err error) {
	so, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, unloadable(path, err)
	}
	lib = &native{}
	for name, fn := range lib.symbols() {
		symbol, err := purego.Dlsym(so, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s has no %s: it is another version than the one Larder needs; run `make engine`", ErrEngineMissing, path, name)
		}
		purego.RegisterFunc(fn, symbol)
	}
	return lib, nil
}

func unloadable(path string, err error) error {
	return fmt.Errorf("%w: load %s: %w; run `make engine` to fetch it anew, or set %s", ErrEngineMissing, path, err, LibraryEnv)
}

func (l *native) symbols() map[string]any {
	return map[string]any{
		"chdb_connect":                     &l.connect,
		"chdb_close_conn":                  &l.closeConn,
		"chdb_set_signal_handlers_enabled": &l.signals,
		"chdb_query_n":                     &l.query,
		"chdb_stream_query_n":              &l.streamQuery,
		"chdb_stream_fetch_result":         &l.streamFetch,
		"chdb_stream_cancel_query":         &l.streamStop,
		"chdb_destroy_query_result":        &l.destroy,
		"chdb_result_buffer":               &l.buffer,
		"chdb_result_length":               &l.length,
		"chdb_result_error":                &l.failureText,
		"chdb_result_rows_read":            &l.rowsRead,
		"chdb_result_bytes_read":           &l.bytesRead,
		"chdb_result_storage_rows_read":    &l.scannedRows,
		"chdb_result_storage_bytes_read":   &l.scannedBytes,
		"chdb_result_rows_written":         &l.rowsWritten,
		"chdb_result_bytes_written":        &l.bytesWritten,
		"chdb_stream_insert_n":             &l.insert,
		"chdb_stream_append":               &l.insertAppend,
		"chdb_stream_done":                 &l.insertDone,
		"chdb_stream_cancel_insert":        &l.insertCancel,
		"chdb_stream_insert_error":         &l.insertFailureText,
		"chdb_destroy_insert_stream":       &l.insertDestroy,
		"chdb_classify_query_n":            &l.classify,
	}
}

// dial opens a connection with command-line arguments such as --path=….
func (l *native) dial(args []string) *handle {
	argv := make([]*byte, len(args)+1)
	for i, arg := range args {
		text := append([]byte(arg), 0)
		argv[i] = &text[0]
	}
	conn := l.connect(int32(len(args)), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	return conn
}

// text is a string as the engine takes it; the caller keeps s alive.
func text(s string) (unsafe.Pointer, uintptr) {
	return unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s))
}

// content copies what a result holds.
func (l *native) content(result handle) []byte {
	n := l.length(result)
	if n == 0 {
		return nil
	}
	p := l.buffer(result)
	if p == nil {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(p), n)...)
}

func (l *native) failure(result handle) string       { return failureAt(l.failureText(result)) }
func (l *native) insertFailure(stream handle) string { return failureAt(l.insertFailureText(stream)) }

// A failure that quotes a type or a value can be as long as that, a hundred megabytes, and
// would be held as long as its reader takes to read it: a long one is cut in its middle.
const (
	longestFailure = 64 << 10
	endOfFailure   = 1 << 10 // with the name of its code
)

// failureAt copies the text of a failure.
func failureAt(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	text := unsafe.Slice((*byte)(p), n)
	if n <= longestFailure {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:longestFailure-endOfFailure])+" … "+string(text[n-endOfFailure:]), "")
}
