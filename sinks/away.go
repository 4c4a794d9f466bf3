package sinks

import "errors"

// ErrAway is what an error of a sink is when the warehouse could not be reached. The
// sink tells of that by itself, once when it begins and once when it is over, so that
// who asked it need not.
var ErrAway = errors.New("the warehouse is away")
