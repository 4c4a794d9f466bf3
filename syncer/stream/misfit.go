package stream

import "errors"

// MisfitError means that the configuration wants what the key does not have.
type MisfitError struct{ Text string }

func (e *MisfitError) Error() string { return e.Text }

// ErrNoScope is what errors.Is finds when the key lacks the scope for what was asked.
var ErrNoScope = errors.New("the key lacks the scope")
