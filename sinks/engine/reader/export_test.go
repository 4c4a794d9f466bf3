package reader

import "time"

// StartIdle is Start with another time without a request after which the program ends.
func StartIdle(o Options, idle time.Duration) (*Supervisor, error) { return start(o, idle) }

// StartWait is how long a request waits for a start.
const StartWait = startWait
