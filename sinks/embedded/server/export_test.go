package server

import (
	"context"
	"net"
	"time"
)

// ListenImpatiently is ListenTCP with limits that a test can wait for.
func (s *Server) ListenImpatiently(ctx context.Context, request, statement, stall time.Duration) (net.Addr, error) {
	return s.listenReaders(ctx, "127.0.0.1:0", "", "", readerLimits{request: request, statement: statement, stall: stall})
}

// HurryReaders makes readers wait this long for a place, and returns what undoes it.
func (s *Server) HurryReaders(d time.Duration) (undo func()) {
	before := s.patience
	s.patience = d
	return func() { s.patience = before }
}

// CloseShared closes the engine that tests share, if it is open.
var CloseShared func() error

// What readers may have, for tests that exceed it.
const (
	ReaderPlaces = readerPlaces
	ReaderTime   = readerTime
)

// MostStatement is how long a reader's statement may be.
var MostStatement = readingBounds.statement
