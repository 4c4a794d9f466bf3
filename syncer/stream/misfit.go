package stream

import (
	"errors"

	"github.com/larder-sync/larder/internal/exit"
)

// MisfitError means that the configuration wants what the key does not have.
type MisfitError struct{ Text string }

func (e *MisfitError) Error() string { return e.Text }

// ExitCode is that of the configuration.
func (e *MisfitError) ExitCode() int { return exit.Usage }

// ErrNoScope is what errors.Is finds when the key lacks the scope for what was asked.
var ErrNoScope error = &exit.Error{Err: errors.New("the key lacks the scope"), Code: exit.API}
