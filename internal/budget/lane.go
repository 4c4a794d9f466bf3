package budget

// Lane is the precedence of a request (DESIGN B4): a lower lane takes what the
// ones above leave, all of it, and a twentieth where they leave nothing. Within a
// lane, first come, first served.
type Lane uint8

// The lanes, most urgent first.
const (
	Probe     Lane = iota // the key itself, and probes of sources in trouble
	Fresh                 // incremental walks and snapshots
	Reconcile             // reconcile and heal
	Deep                  // reconcile, of many days
	Backfill              // backfill and full resync
	lanes
)

func (l Lane) String() string {
	switch l {
	case Probe:
		return "probe"
	case Fresh:
		return "fresh"
	case Reconcile:
		return "reconcile"
	case Deep:
		return "deep"
	case Backfill:
		return "backfill"
	}
	return "unknown"
}

// paced is true of the lanes that spread their requests, so that the others find
// room (DESIGN R7).
func (l Lane) paced() bool { return l >= Reconcile }
