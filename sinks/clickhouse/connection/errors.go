package connection

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
)

var (
	// ErrUnreachable says that the warehouse does not answer, or refuses the user. The
	// commands exit with 4.
	ErrUnreachable = errors.New("the warehouse could not be reached")
	// ErrNotClickHouse says that something answers at the address that is no
	// ClickHouse, or not over this protocol. The commands exit with 4.
	ErrNotClickHouse = errors.New("what answers is no ClickHouse")
)

// The codes of ClickHouse that are told apart.
const (
	codeAuthenticationFailed = 516
	codeUnknownUser          = 192
	codeWrongPassword        = 193
	codeRequiredPassword     = 194
	codeAllConnectionsFailed = 279
	codeNetworkError         = 210
	codeSocketTimeout        = 209
	codeUnknownIdentifier    = 47
	codeUnknownTable         = 60
	codeUnknownDatabase      = 81
	codeReadOnly             = 164
)

// Explain makes an error of the driver one of ours: without secrets, without the
// driver's own words, and known as [ErrUnreachable] or [ErrNotClickHouse] when
// nobody could be asked.
func (t Target) Explain(err error) error {
	if err == nil {
		return nil
	}
	if foreign(err) {
		return &UnreachableError{Kind: ErrNotClickHouse, Address: t.Address(), Reason: t.foreignReason(err), err: err}
	}
	if unreachable(err) {
		return &UnreachableError{Kind: ErrUnreachable, Address: t.Address(), Reason: t.reasonOf(err), err: err}
	}
	if refused, ok := errors.AsType[*clickhousego.Exception](err); ok {
		return redact(&StatementError{Code: refused.Code, Text: sentence(refused), err: refused}, t.secrets)
	}
	return redact(err, t.secrets)
}

func unreachable(err error) bool {
	var refused *clickhousego.Exception
	if errors.As(err, &refused) {
		return refusesUser(refused.Code) || refused.Code == codeAllConnectionsFailed ||
			refused.Code == codeNetworkError || refused.Code == codeSocketTimeout
	}
	if errors.Is(err, context.Canceled) { // whoever asked has stopped: that tells nothing of the warehouse
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) || gateway(err) != 0 ||
		errors.Is(err, clickhousego.ErrAcquireConnTimeout) || errors.Is(err, context.DeadlineExceeded)
}

func refusesUser(code int32) bool {
	switch code {
	case codeAuthenticationFailed, codeUnknownUser, codeWrongPassword, codeRequiredPassword:
		return true
	}
	return false
}

// redacted is an error whose text had a secret in it.
type redacted struct {
	text string
	err  error
}

func (r *redacted) Error() string { return r.text }
func (r *redacted) Unwrap() error { return r.err }

func redact(err error, secrets []string) error {
	text := err.Error()
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return &redacted{text: text, err: err}
}

// codesOfValues are the errors of ClickHouse that are about a value of a row. All others pass
// when the warehouse recovers or is repaired: memory, disk, rights, the schema. Those that a
// damaged part causes as well (INCORRECT_DATA, TOO_LARGE_STRING_SIZE) are left out.
var codesOfValues = map[int32]string{
	6: "CANNOT_PARSE_TEXT", 25: "CANNOT_PARSE_ESCAPE_SEQUENCE", 26: "CANNOT_PARSE_QUOTED_STRING",
	27: "CANNOT_PARSE_INPUT_ASSERTION_FAILED", 38: "CANNOT_PARSE_DATE", 41: "CANNOT_PARSE_DATETIME", 72: "CANNOT_PARSE_NUMBER",
	69: "ARGUMENT_OUT_OF_BOUND", 153: "ILLEGAL_DIVISION", 190: "SIZES_OF_ARRAYS_DONT_MATCH",
	321: "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE",
	349: "CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN", 376: "CANNOT_PARSE_UUID", 395: "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO",
	407: "DECIMAL_OVERFLOW", 469: "VIOLATED_CONSTRAINT", 691: "UNKNOWN_ELEMENT_OF_ENUM",
}

// RefusesValues reports whether a statement failed for a value of the rows that it brought:
// the same rows would be refused again.
func RefusesValues(err error) bool {
	var refused *StatementError
	return errors.As(err, &refused) && codesOfValues[refused.Code] != ""
}

// Missing is true when a table or database does not exist (yet).
func Missing(err error) bool {
	var refused *clickhousego.Exception
	return errors.As(err, &refused) && (refused.Code == codeUnknownTable || refused.Code == codeUnknownDatabase)
}
