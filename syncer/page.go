package syncer

import "time"

// page is one answer of a list.
type page struct {
	rows [][]byte  // as received
	next string    // the cursor behind it
	more bool      // has_more
	at   time.Time // by the service's clock

	bytes   int
	release func() // nil: nothing is to be released
}

// done says that the rows are not needed any more.
func (p *page) done() {
	if p.release != nil {
		p.release()
	}
}
