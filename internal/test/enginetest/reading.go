package enginetest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/larder-sync/larder/internal/test/polling"
	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/reader"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// engineCommand is the first argument of a binary that is to be an engine, as it is of larder.
const engineCommand = "engine"

// Reading serves the reading interface of an engine's databases until the test ends, as the
// daemon does (warehouse.http_listen), and returns its address. The databases with _raw behind
// their names are hidden. It returns when the first question was answered, which may take longer
// on a busy machine than a request waits (503). What is in the tables by then is seen at once,
// what comes later within some two seconds.
func Reading(t testing.TB, of *server.Server, databases ...string) (address string) {
	t.Helper()
	var hidden []string
	for _, name := range databases {
		hidden = append(hidden, name+"_raw")
	}
	supervisor, err := reader.Start(reader.Options{
		Log:    slog.New(slog.DiscardHandler),
		Orders: reader.Orders{Mirror: engine.MirrorOptions{Writer: of.Path(), Databases: databases, Hidden: hidden}, Zone: "Europe/Bucharest"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := supervisor.Close(); err != nil {
			t.Error(err)
		}
	})
	readers, err := server.ListenReaders(t.Context(), "127.0.0.1:0", "", "", supervisor, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- readers.Serve() }()
	t.Cleanup(func() {
		if err := readers.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	address = readers.Addr().String()
	polling.Page(t, "http://"+address+"/?query=SELECT+1", http.StatusOK, "1")
	return address
}
