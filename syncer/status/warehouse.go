package status

import "slices"

// Warehouse is what is known of the warehouse beside what the walks say: they may go well
// while nothing of what they bring is stored.
type Warehouse struct {
	Unavailable bool     // it takes no rows
	Damaged     []string // the streams of which rows are lost
}

// Mark changes the state of every source of a snapshot by what is known of the warehouse.
func (w Warehouse) Mark(s *Status) {
	for i := range s.Sources {
		w.Source(&s.Sources[i])
	}
}

// Source changes the state of one source and its streams in the same way. A source in trouble
// of its own keeps its state. So does a stream that neither stores rows nor fails.
func (w Warehouse) Source(s *SourceStatus) {
	for i := range s.Streams {
		s.Streams[i].Damaged = s.Streams[i].State != StateOff && slices.Contains(w.Damaged, s.Streams[i].Name)
	}
	if !w.Unavailable || !storing(s.State) {
		return
	}
	s.State, s.Detail = StateUnstored, ""
	for i := range s.Streams {
		if st := &s.Streams[i]; storing(st.State) || st.State == StateFailing {
			st.State, st.Detail = StateUnstored, ""
		}
	}
}

// storing are the states of what has rows to store, or will have.
func storing(state string) bool {
	return state == StateRunning || state == StateBackfill || state == StateStarting
}
