package server

import (
	"context"
	"log/slog"
	"time"
)

// ListenReadersOf opens the read-only way in with limits that a test can wait for, before an
// engine of this process.
func ListenReadersOf(ctx context.Context, s *Server, user, password string, request, stall time.Duration) (*Readers, error) {
	return listenReaders(ctx, "127.0.0.1:0", user, password, readersOf(s), slog.New(slog.DiscardHandler), request, stall)
}

// readersOf answers readers as a mirror does, from an engine that nothing confines.
func readersOf(s *Server) *Server {
	return &Server{engine: s.engine, log: s.log, settings: s.settings, readers: &mirror{
		pool: s.engine.Readers(ReaderSettings(""), readerPlaces, readerPatience), end: func(string) {},
	}}
}

// LongestStatement is how long a statement may be.
const LongestStatement = longestStatement

// ReadAhead reads a body in pieces.
var ReadAhead = readAhead
