package polling

import (
	"bytes"
	"sync"
)

// Text can be read while it is written: a log, or what another process prints. The zero
// Text is empty.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// Take returns what has been written so far, and forgets it.
func (t *Text) Take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.text.Reset()
	return t.text.String()
}

// String is what has been written so far.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
