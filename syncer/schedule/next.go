package schedule

import "time"

// Why is why a stream runs when it does, in a word.
type Why string

// The reasons.
const (
	ByTurn    Why = "turn"      // its job's turn comes then
	UnderWay  Why = "under_way" // a walk runs just now
	Asked     Why = "asked"     // the service has asked to wait: the first turn after that
	Probed    Why = "probe"     // its source is in trouble, and is asked again first
	Elsewhere Why = "elsewhere" // another process serves its source
	Off       Why = "off"       // nothing is asked for it
	Unserved  Why = ""          // no daemon serves its source
)

// Situation is all that decides when a stream runs next.
type Situation struct {
	Off       bool
	Elsewhere bool                      // another process serves its source
	Probe     time.Time                 // when its source in trouble is asked again; zero when it is in none
	Running   bool                      // a walk of its job runs
	NotBefore time.Time                 // what the service has asked for; zero for nothing
	Turn      func(time.Time) time.Time // the first turn of its job from an instant on; nil without a daemon
}

// Next is when a stream runs next, and why then; zero when that is not known. Status and page
// show it. It starts nothing: the syncer's loop begins what [Turns] says is due. When a turn
// has come, the loop asks here only whether the service has asked to wait longer. Whether the
// stream is off, its source is served here and ready, or a walk runs, the loop sees for itself.
func Next(s Situation, now time.Time) (time.Time, Why) {
	switch {
	case s.Off:
		return time.Time{}, Off
	case s.Elsewhere:
		return time.Time{}, Elsewhere
	case s.Turn == nil:
		return time.Time{}, Unserved
	case !s.Probe.IsZero():
		return s.Probe, Probed
	case s.Running:
		return now, UnderWay
	case s.NotBefore.After(now):
		return s.Turn(s.NotBefore), Asked
	}
	return s.Turn(now), ByTurn
}
