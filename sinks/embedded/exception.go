package embedded

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
	answer  int    // HTTP status; 0 for that of the code
}

func (e *Exception) Error() string { return e.Message }

// The codes that the front itself gives or acts on.
const (
	codeBadArguments     = 36
	codeUnknownFunction  = 46
	codeUnknownSetting   = 115
	codeReadonly         = 164
	codeTimeout          = 159
	codeTooManyQueries   = 202
	codeAuthentication   = 516
	codeCancelled        = 394
	codeSyntax           = 62
	codeMissingParameter = 456
	codeTooLarge         = 1000 // no code of ClickHouse's own; see status
	codeNotImplemented   = 48
	codeUnknown          = 1001 // STD_EXCEPTION
)

var exceptionCode = regexp.MustCompile(`^Code: (\d+)\. `)

func parseException(message string) *Exception {
	message = strings.TrimSpace(message)
	if m := exceptionCode.FindStringSubmatch(message); m != nil {
		if code, err := strconv.Atoi(m[1]); err == nil {
			return &Exception{Code: code, Message: message}
		}
	}
	return &Exception{Code: codeUnknown, Message: fmt.Sprintf("Code: %d. DB::Exception: %s (STD_EXCEPTION)", codeUnknown, message)}
}

// refuse makes an exception of the front's own, in the engine's form.
func refuse(code int, name, format string, args ...any) *Exception {
	return &Exception{Code: code, Message: fmt.Sprintf("Code: %d. DB::Exception: %s. (%s)", code, fmt.Sprintf(format, args...), name)}
}

// asException turns any error into one that can be answered.
func asException(err error) *Exception {
	var exception *Exception
	if errors.As(err, &exception) {
		return exception
	}
	return parseException(err.Error())
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
	209: http.StatusServiceUnavailable, codeTooManyQueries: http.StatusServiceUnavailable, 439: http.StatusServiceUnavailable,
	codeTooLarge: http.StatusRequestEntityTooLarge,
}

func (e *Exception) status() int {
	if e.answer != 0 {
		return e.answer
	}
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}
