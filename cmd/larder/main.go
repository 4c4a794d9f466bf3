// Command larder mirrors restaurants' data into ClickHouse.
//
// Contents: flags, and how results are shown on a terminal; each command has a file.
package main

import (
	"context"
	"io"
	"log" //nolint:depguard // to silence it, see execute
	"os"
	"os/signal"
	"syscall"

	"github.com/larder-sync/larder/internal/lifecycle"
)

// version is set when the binary is built.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the process at once
	code := execute(ctx, os.Args[1:], terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, t terminal) int {
	t = t.escaped()
	// Libraries print what goes wrong, some of it as a service sent it: net/http what
	// comes behind an answer, where a hostile service repeats the key. Errors reach us
	// as errors.
	log.SetOutput(io.Discard)
	g := &globals{terminal: t, args: args}
	root := newRoot(g)
	root.SetArgs(args)
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return lifecycle.ExitDone
	}
	if !g.begun { // cobra's own errors: unknown commands and flags, wrong arguments
		err = lifecycle.UsageError(err)
	}
	code := lifecycle.ExitCode(err)
	g.fail(cmd, err, code)
	return code
}
