package embedded

import (
	"context"
	"net"
	"time"
)

// ListenImpatiently is ListenTCP with limits that a test can wait for.
func (e *Engine) ListenImpatiently(ctx context.Context, request, statement, stall time.Duration) (net.Addr, error) {
	return e.listenReaders(ctx, "127.0.0.1:0", "", "", readerLimits{request: request, statement: statement, stall: stall})
}

// HurryReaders makes readers wait this long for a place, and returns what undoes it.
func (e *Engine) HurryReaders(d time.Duration) (undo func()) {
	before := e.readers.patience
	e.readers.patience = d
	return func() { e.readers.patience = before }
}

// What readers may have, for tests that exceed it.
const (
	ReaderPlaces = readerPlaces
	ReaderTime   = readerTime
)

// MostStatement is how long a reader's statement may be.
var MostStatement = readingBounds.statement
