package status

import "slices"

// Warehouse is what is known of the warehouse beside what the walks say: they may go well
// while nothing of what they bring is stored.
type Warehouse struct {
	Unavailable bool     // it takes no rows
	Damaged     []string // the streams of which rows are lost
}

// Mark changes the state of every source of a snapshot and of its streams by what is known of the
// warehouse. A source in trouble of its own keeps its state. So does a stream that neither stores
// rows nor fails.
func (w Warehouse) Mark(snapshot *Status) {
	for i := range snapshot.Sources {
		s := &snapshot.Sources[i]
		away := w.Unavailable && storing(s.State)
		if away {
			s.State, s.Detail = StateUnstored, ""
		}
		for j := range s.Streams {
			st := &s.Streams[j]
			st.Damaged = st.State != StateOff && slices.Contains(w.Damaged, st.Name)
			if away && (storing(st.State) || st.State == StateFailing) {
				st.State, st.Detail = StateUnstored, ""
			}
		}
	}
}

// storing are the states of what has rows to store, or will have.
func storing(state string) bool {
	return state == StateRunning || state == StateBackfill || state == StateStarting
}
