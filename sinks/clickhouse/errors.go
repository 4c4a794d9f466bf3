package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	clickhousego "github.com/ClickHouse/clickhouse-go/v2"
)

var (
	// ErrUnreachable says that the warehouse does not answer, or refuses the user. The
	// commands exit with 4.
	ErrUnreachable = errors.New("the warehouse could not be reached")
	// ErrSchemaNewer says that a newer Larder has migrated the warehouse.
	ErrSchemaNewer = errors.New("the warehouse's schema is newer than this program")
	// ErrNotMigrated says that the warehouse lacks migrations that this program needs.
	ErrNotMigrated = errors.New("the warehouse's schema is older than this program")
	// ErrClosed says that the sink was closed; a receipt that fails with it was not durable.
	ErrClosed = errors.New("the sink is closed")
)

// The codes of ClickHouse that mean that nothing can be asked at all.
const (
	codeAuthenticationFailed = 516
	codeUnknownUser          = 192
	codeWrongPassword        = 193
	codeRequiredPassword     = 194
	codeAllConnectionsFailed = 279
	codeNetworkError         = 210
	codeSocketTimeout        = 209
	codeUnknownTable         = 60
	codeUnknownDatabase      = 81
)

// explain makes an error of the driver one of ours: without secrets, and known
// as ErrUnreachable when nothing answered.
func (t target) explain(err error) error {
	if err == nil {
		return nil
	}
	err = redact(err, t.secrets)
	if unreachable(err) {
		return fmt.Errorf("%w (%s): %w", ErrUnreachable, t.address(), err)
	}
	return err
}

func unreachable(err error) bool {
	var refused *clickhousego.Exception
	if errors.As(err, &refused) {
		switch refused.Code {
		case codeAuthenticationFailed, codeUnknownUser, codeWrongPassword, codeRequiredPassword,
			codeAllConnectionsFailed, codeNetworkError, codeSocketTimeout:
			return true
		}
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, clickhousego.ErrAcquireConnTimeout) || errors.Is(err, context.DeadlineExceeded)
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

// missing tells that a table or database does not exist (yet).
func missing(err error) bool {
	var refused *clickhousego.Exception
	return errors.As(err, &refused) && (refused.Code == codeUnknownTable || refused.Code == codeUnknownDatabase)
}
