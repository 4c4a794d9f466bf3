package sinks

import "errors"

// ErrUnreachable is what an error of a sink is when the warehouse could not be reached. The
// sink itself logs when such a time begins and when it ends, so its callers do not log the
// error.
var ErrUnreachable = errors.New("the warehouse is away")
