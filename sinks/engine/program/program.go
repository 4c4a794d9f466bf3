// Package program is `larder engine`: the process that loads the engine, in one of its roles.
//
// Contents: which role it plays, and what holds for all of them.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/writer"
)

// Main plays the role that the orders name. It is told to end by its input alone: signals are
// for its starter, which still has rows to store.
func Main(orders string) error {
	var o writer.Orders
	if err := json.Unmarshal([]byte(orders), &o); err != nil || o.Role != writer.Role && o.Role != reader.Role {
		return errors.New("larder engine is started by Larder, not by hand: larder run, larder sync and larder sql start it when they need it")
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, command := context.Background(), []string{os.Args[0], "engine"}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Role == writer.Role {
		return writer.Main(ctx, o, command, os.Stdin, os.Stdout, log)
	}
	return reader.Main(ctx, orders, command, os.Stdin, os.Stdout, log)
}
