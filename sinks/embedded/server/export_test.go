package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/larder-sync/larder/sinks/embedded"
)

// ListenReadersOf opens the read-only way in with limits that a test can wait for, before an
// engine of this process.
func ListenReadersOf(ctx context.Context, s *Server, user, password string, request, stall time.Duration) (*Readers, error) {
	return listenReaders(ctx, "127.0.0.1:0", user, password, readersOf(s), slog.New(slog.DiscardHandler), request, stall)
}

// readersOf answers readers as a mirror does, from an engine that nothing confines.
func readersOf(s *Server) *handler {
	return &handler{rights: reading, server: &Server{
		engine: s.engine, log: s.log, settings: s.settings, end: func(string) {},
		readers: s.engine.NewPool(embedded.PoolOptions{Who: "readers", Places: readerPlaces, Settings: ReaderSettings(""), Marked: true, Grace: readersGrace}),
	}}
}

// LongestStatement is how long a statement may be.
var LongestStatement = requestBounds.statement
