package reader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"

	"github.com/larder-sync/larder/sinks/engine"
	"github.com/larder-sync/larder/sinks/engine/child"
	"github.com/larder-sync/larder/sinks/engine/server"
)

// Role is what [Orders] of this program have as their role.
const Role = "reader"

// Orders are what the program is started with, as its only argument.
type Orders struct {
	Role     string
	Mirror   engine.MirrorOptions
	Zone     string // see server.MirrorOptions
	Confined bool   // it is, to what it may reach
}

// socketFile is the program's listening socket: the first file that it is given.
const socketFile = 3

// What the program prints: that it answers; why it ends; that another should take its place,
// since tables or views have changed.
const (
	lineReady = child.Ready
	lineEnd   = "end: "
	lineStale = "stale"
)

// Main is the program. It ends when its input does: with the process that started it,
// however that ends.
func Main(ctx context.Context, orders string, command []string, in io.Reader, out io.Writer, log *slog.Logger) error {
	var o Orders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return fmt.Errorf("larder engine is started by the daemon, not by hand: %w", err)
	}
	o.Mirror.Logger = log
	if !o.Confined {
		runtime.LockOSThread() // a priority is a thread's, and what is started again has that of this one
		if err := o.Mirror.Prepare(); err != nil {
			return err
		}
		if err := limit(o.Mirror.Memory); err != nil {
			return fmt.Errorf("limit the reader: %w", err)
		}
		o.Confined = true
		return again(o, command)
	}
	socket := os.NewFile(socketFile, "the socket")
	listener, err := net.FileListener(socket)
	if err = errors.Join(err, socket.Close()); err != nil {
		return fmt.Errorf("the reader's socket: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error is an end, too
		os.Exit(0)                     // at once: there is nothing to lose
	}()
	return server.ServeMirror(ctx, listener, server.MirrorOptions{
		Engine: &o.Mirror, ReaderZone: o.Zone,
		End: func(why string) {
			fmt.Fprintln(out, lineEnd+why)
			os.Exit(1)
		},
		Stale: func() { fmt.Fprintln(out, lineStale) },
	}, func() { fmt.Fprintln(out, lineReady) })
}

// again starts the program again, behind Landlock.
func again(o Orders, command []string) error {
	orders, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return engine.ExecConfined(o.Mirror.Writer, o.Mirror.Scratch, append(command, string(orders)), os.Environ())
}
