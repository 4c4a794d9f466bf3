package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/server"
)

// Orders are what the program is started with, as its only argument.
type Orders struct {
	Writer     string // the data folder
	Scratch    string // its own folder
	Databases  []string
	Hidden     []string
	Memory     int64
	Zone       string
	Unconfined bool // no Landlock, see warehouse.http_unconfined
	Confined   bool // it is in force already
}

// socketIn is the program's socket in its scratch folder.
func socketIn(scratch string) string { return filepath.Join(scratch, "data", "reader.sock") }

// lineReady is what the program prints once it answers; lineStuck, when it ends because a
// statement does not stop.
const (
	lineReady = "ready"
	lineStuck = "stuck"
)

// Main is the program. It ends when its input does: with the process that started it,
// however that ends.
func Main(ctx context.Context, orders string, command []string, in io.Reader, out io.Writer, log *slog.Logger) error {
	var o Orders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return fmt.Errorf("larder engine is started by the daemon, not by hand: %w", err)
	}
	mirror := embedded.MirrorOptions{Writer: o.Writer, Scratch: o.Scratch, Databases: o.Databases, Hidden: o.Hidden, Memory: o.Memory, Logger: log}
	if !o.Confined {
		if err := mirror.Prepare(); err != nil {
			return err
		}
		if err := limit(o); err != nil {
			return fmt.Errorf("limit the reader: %w", err)
		}
		if !o.Unconfined {
			return confined(o, command)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end, too
		os.Exit(0)                     // at once: there is nothing to lose
	}()
	err := server.ServeMirror(ctx, server.MirrorOptions{
		Engine: mirror, Socket: socketIn(o.Scratch), ReaderZone: o.Zone,
		Stuck: func() {
			fmt.Fprintln(out, lineStuck)
			os.Exit(1)
		},
	}, func() { fmt.Fprintln(out, lineReady) })
	if errors.Is(err, server.ErrStale) {
		return nil
	}
	return err
}

// confined starts the program again, behind Landlock.
func confined(o Orders, command []string) error {
	o.Confined = true
	orders, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return embedded.ExecConfined(o.Writer, o.Scratch, append(command, string(orders)), os.Environ())
}
