package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/sinks"
)

// UnreachableError says why nobody could be asked, in words that say what to look
// at.
type UnreachableError struct {
	Kind    error  // ErrUnreachable or ErrNotClickHouse
	Address string // host and port, or what stands for them
	Reason  string
	err     error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%v (%s): %s", e.Kind, e.Address, e.Reason)
}

// Is makes it the error of its kind, and the one that every sink has for it.
func (e *UnreachableError) Is(target error) bool {
	return target == e.Kind || target == sinks.ErrUnreachable
}

func (e *UnreachableError) Unwrap() error { return e.err }

// ExitCode is that of a warehouse that could not be reached.
func (e *UnreachableError) ExitCode() int { return lifecycle.ExitWarehouse }

// StatementError is what the server says about a statement: one sentence, with the
// position in the statement where it names one.
type StatementError struct {
	Code int32 // ClickHouse's
	Text string
	err  *clickhousego.Exception
}

func (e *StatementError) Error() string { return e.Text }

func (e *StatementError) Unwrap() error { return e.err }

// ReadOnly is true when the statement would have changed something.
func (e *StatementError) ReadOnly() bool { return e.Code == codeReadOnly }

// UnknownTable is true when the statement names a table or database that is not there.
func (e *StatementError) UnknownTable() bool {
	return e.Code == codeUnknownTable || e.Code == codeUnknownDatabase
}

// UnknownColumn reports whether the statement names a column that its tables lack.
func (e *StatementError) UnknownColumn() bool { return e.Code == codeUnknownIdentifier }

// What the server puts around its sentence: its version, a list of everything that
// could have stood in the place of a mistake, a table of its own that nobody meant,
// and the values of a row, which may be personal and belong in no log.
var (
	versionNoise  = regexp.MustCompile(` \(version [^()]*(\([^()]*\))?\)\.?`)
	expectedNoise = regexp.MustCompile(`(?s) Expected one of: .{60,}?\. (\([A-Z_]+\))`)
	systemHint    = regexp.MustCompile(` Maybe you meant system\.\w+\?\.`)
	columnValues  = regexp.MustCompile(`(?s) Column values: .*?\.?( \([A-Z_]{4,}\))?$`)
	repeatedName  = regexp.MustCompile(`(\([A-Z_]{4,}\))(\.? \([A-Z_]{4,}\))+`)
)

func sentence(e *clickhousego.Exception) string {
	text := strings.TrimPrefix(strings.TrimSpace(e.Message), "DB::Exception: ")
	text = versionNoise.ReplaceAllString(text, "")
	text = expectedNoise.ReplaceAllString(text, " $1")
	text = columnValues.ReplaceAllString(text, "$1")
	text = repeatedName.ReplaceAllString(text, "$1")
	if !strings.Contains(text, "'system.") {
		text = systemHint.ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "?. (", "? (")
	if text == "" {
		return fmt.Sprintf("the server refuses the statement with code %d", e.Code)
	}
	return text
}

// reasonOf is why nobody could be asked.
func (t Target) reasonOf(err error) string {
	var refused *clickhousego.Exception
	switch {
	case errors.As(err, &refused) && refusesUser(refused.Code):
		return fmt.Sprintf("it refuses the user or the password (code %d)", refused.Code)
	case errors.As(err, &refused):
		return redact(errors.New(sentence(refused)), t.secrets).Error()
	case t.inside():
		return t.reasonInside(err)
	default:
		return t.reasonOutside(err)
	}
}

// reasonInside is of the embedded engine, with no network between.
func (t Target) reasonInside(err error) string {
	var dialled *net.OpError // it could not be started
	switch {
	case timedOut(err):
		return "no answer in time; it is busy with other statements, or the machine is: try again, and end statements that take long"
	case cut(err), errors.Is(err, syscall.ECONNREFUSED):
		return "its process has ended, or is ending; try again"
	case errors.As(err, &dialled):
		return redact(dialled.Err, t.secrets).Error()
	default:
		return redact(innermost(err), t.secrets).Error()
	}
}

func (t Target) reasonOutside(err error) string {
	var host *net.DNSError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &host):
		return fmt.Sprintf("the host name %q is not known to the DNS", host.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there; is ClickHouse running, and the port right?"
	case gateway(err) != 0:
		return fmt.Sprintf("the proxy in front of it answers %d %s", gateway(err), http.StatusText(gateway(err)))
	case errors.As(err, &record):
		return "it does not speak TLS there; is the port right?"
	case timedOut(err):
		return "no answer in time; does a firewall stand between, is the port right?"
	case cut(err):
		return "the connection was cut"
	default:
		return redact(innermost(err), t.secrets).Error()
	}
}

func cut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, net.ErrClosed)
}

func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, clickhousego.ErrAcquireConnTimeout) || errors.As(err, &network) && network.Timeout()
}

// gateway is the status of a proxy whose server is down; 0 for any other error.
func gateway(err error) int {
	var answer *clickhousego.HTTPError
	var refused *clickhousego.Exception
	if !errors.As(err, &answer) || errors.As(err, &refused) {
		return 0
	}
	switch answer.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return answer.StatusCode
	}
	return 0
}

// How clickhouse-go begins errors, without a type of their own, about a first
// answer that is not of the native protocol, or no block over HTTP.
const (
	handshakeNoise = "[handshake] unexpected packet"
	helloNoise     = "failed to query server hello"
)

// foreign is true of an answer that no ClickHouse gives over this protocol.
func foreign(err error) bool {
	var answer *clickhousego.HTTPError
	var refused *clickhousego.Exception
	if errors.As(err, &refused) || unreachable(err) {
		return false
	}
	text := err.Error()
	return errors.As(err, &answer) || strings.Contains(text, handshakeNoise) || strings.Contains(text, helloNoise)
}

func (t Target) foreignReason(err error) string {
	if t.Native {
		return "is the port that of the native protocol (usually 9000, with TLS 9440)?"
	}
	what := "it answers HTTP 200 with something else"
	if answer, ok := errors.AsType[*clickhousego.HTTPError](err); ok {
		what = fmt.Sprintf("it answers HTTP %d", answer.StatusCode)
	}
	return what + "; is the port that of ClickHouse's HTTP interface (usually 8123, with TLS 8443)?"
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
