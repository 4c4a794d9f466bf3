package writer

import (
	"context"
	"time"
)

// OpenImpatient is Open with another silence after which the program is taken to hang.
func OpenImpatient(ctx context.Context, o Options, silence time.Duration) (*Writer, error) {
	return open(ctx, o, silence)
}

// PID is that of the program, 0 when this process has none.
func (w *Writer) PID() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.program == nil {
		return 0
	}
	return w.program.PID()
}

// Start starts the program, unless it runs.
func (w *Writer) Start(ctx context.Context) error { return w.start(ctx) }

// Answers reports whether the program answers.
func (w *Writer) Answers() bool {
	client := w.client()
	defer client.CloseIdleConnections()
	return w.answers(w.life, client)
}
