// Package exception is errors in the form of ClickHouse: a code, a text, an HTTP status. Contents:
// that form, for the engine's errors and the server's own.
package exception

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Exception is an error of the engine, with ClickHouse's code and text.
type Exception struct {
	Code    int
	Message string // "Code: 60. DB::Exception: … (UNKNOWN_TABLE)"
	Answer  int    // HTTP status; 0 for that of the code
}

func (e *Exception) Error() string { return e.Message }

// The codes that the server itself gives or acts on.
const (
	BadArguments     = 36
	UnknownSetting   = 115
	CodeReadonly     = 164
	Timeout          = 159
	TooManyQueries   = 202
	Authentication   = 516
	Syntax           = 62
	MissingParameter = 456
	TooLarge         = 1000 // no code of ClickHouse's own; see Status
	NotImplemented   = 48
	Unknown          = 1001 // STD_EXCEPTION
)

var (
	exceptionCode = regexp.MustCompile(`^Code: (\d+)\. `)
	// The library puts some of its exceptions into others of the same code.
	headAgain = regexp.MustCompile(`^(?:Code: \d+\. DB::Exception: )+(Code: \d+\. DB::Exception: )`)
	tailAgain = regexp.MustCompile(`(\([A-Z_]+\) \(version [^()]*\))(?:\. \([A-Z_]+\)(?: \(version [^()]*\))?)+$`)
)

// Parse reads the text of an exception as the engine writes it.
func Parse(message string) *Exception {
	message = strings.TrimSpace(message)
	message = tailAgain.ReplaceAllString(headAgain.ReplaceAllString(message, "$1"), "$1")
	if m := exceptionCode.FindStringSubmatch(message); m != nil {
		if code, err := strconv.Atoi(m[1]); err == nil {
			return &Exception{Code: code, Message: message}
		}
	}
	return &Exception{Code: Unknown, Message: fmt.Sprintf("Code: %d. DB::Exception: %s (STD_EXCEPTION)", Unknown, message)}
}

// Refuse makes an exception of the server's own, in the engine's form.
func Refuse(code int, name, format string, args ...any) *Exception {
	return &Exception{Code: code, Message: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", code, fmt.Sprintf(format, args...), name)}
}

// Readonly refuses what would be more than reading.
func Readonly(format string, args ...any) error {
	return Refuse(CodeReadonly, "READONLY", format, args...)
}

// As turns any error into one that can be answered.
func As(err error) *Exception {
	var exception *Exception
	if errors.As(err, &exception) {
		return exception
	}
	return Parse(err.Error())
}

// statuses are ClickHouse's HTTP statuses for exceptions; others are 500. Code
// 164 (readonly) is 403 here, so that clients do not take a refusal for a
// failure worth a retry.
var statuses = map[int]int{
	193: http.StatusForbidden, 192: http.StatusForbidden, 516: http.StatusForbidden, 164: http.StatusForbidden,
	194: http.StatusUnauthorized,
	6:   http.StatusBadRequest, 26: http.StatusBadRequest, 27: http.StatusBadRequest, 36: http.StatusBadRequest,
	38: http.StatusBadRequest, 41: http.StatusBadRequest, 43: http.StatusBadRequest, 53: http.StatusBadRequest,
	62: http.StatusBadRequest, 69: http.StatusBadRequest, 70: http.StatusBadRequest, 72: http.StatusBadRequest,
	167: http.StatusBadRequest, 718: http.StatusBadRequest,
	117: http.StatusBadRequest, 130: http.StatusBadRequest, 131: http.StatusBadRequest, 168: http.StatusBadRequest,
	321: http.StatusBadRequest, 456: http.StatusBadRequest, 457: http.StatusBadRequest,
	46: http.StatusNotFound, 47: http.StatusNotFound, 50: http.StatusNotFound, 56: http.StatusNotFound,
	60: http.StatusNotFound, 63: http.StatusNotFound, 73: http.StatusNotFound, 78: http.StatusNotFound,
	81: http.StatusNotFound, 115: http.StatusNotFound,
	48:  http.StatusNotImplemented,
	159: http.StatusRequestTimeout,
	209: http.StatusServiceUnavailable, TooManyQueries: http.StatusServiceUnavailable, 439: http.StatusServiceUnavailable,
	TooLarge: http.StatusRequestEntityTooLarge,
}

// Status is the HTTP status of an answer that is an exception.
func (e *Exception) Status() int {
	if e.Answer != 0 {
		return e.Answer
	}
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}
