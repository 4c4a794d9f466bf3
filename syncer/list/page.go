package list

import "time"

// Page is one answer of a list.
type Page struct {
	Rows [][]byte  // as received
	Next string    // the cursor behind it
	More bool      // has_more
	at   time.Time // by the service's clock, to the second of its Date header
	came time.Time // the same, as fine as it is known

	bytes   int
	release func() // nil: nothing is to be released
}

// Done says that the rows are not needed any more; once more does no harm.
func (p *Page) Done() {
	if p.release != nil {
		p.release()
		p.release = nil
	}
}
