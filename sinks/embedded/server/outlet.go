package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/larder-sync/larder/sinks/embedded"
	"github.com/larder-sync/larder/sinks/embedded/sqltext"
)

// What the engine hands over it keeps in memory that no limit of a statement counts. An
// answer of 1 GB as JSON took 1.5 GB, and the daemon's writes failed for it. A chunk can be
// as large: JSONEachRow repeats a long name in each row, and a block of 20,000 rows that share
// one text as LowCardinality holds it once. So a reader's answer is written into a named
// pipe, INTO OUTFILE, and goes on to the client as it comes. So is Native: columns of a block
// may share what they hold, and 200 of 4 MB each were 800 MB in a chunk, and once more here.

// outletName is how the pipes in the engine's folder are called.
const outletName = "larder-answer-"

const (
	answerHead  = 64 << 10 // an answer that is no longer is sent with its counts and its length
	answerWhole = 1 << 20  // what is kept for a client that wants to wait for the end
)

// outlet is a named pipe from the engine to an answer.
type outlet struct {
	path        string
	read, write *os.File
}

// openOutlet makes a pipe. Its writing end is open from the start, so that it does not end
// before the engine has come.
func (s *Server) openOutlet() (*outlet, error) {
	o := &outlet{path: filepath.Join(s.Path(), outletName+strconv.FormatUint(s.outlets.Add(1), 10))}
	err := syscall.Mkfifo(o.path, 0o600)
	if err == nil {
		o.read, err = os.OpenFile(o.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		o.write, err = os.OpenFile(o.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pipe for an answer: %w", err), o.close())
	}
	return o, nil
}

// removeOutlets removes what a process before this one has left.
func removeOutlets(folder string) error {
	left, err := os.ReadDir(folder) // no pattern: the folder's name may hold what is one
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), outletName) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

// written ends the pipe, once the engine has ended its own part.
func (o *outlet) written() error { return o.write.Close() }

func (o *outlet) close() error {
	var err error
	if o.read != nil {
		err = o.read.Close()
	}
	if removed := os.Remove(o.path); !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// inChunks is true when an answer to a SELECT is sent chunk by chunk.
func (a *answer) inChunks() bool { return !a.outside && streams(a.format) && !a.q.whole }

// flows is true when an answer to a SELECT that is not in chunks goes through a pipe.
func (a *answer) flows() bool { return a.outside }

func (a *answer) native() bool { return strings.EqualFold(a.format, "Native") }

// clause has the engine write an answer into the pipe.
func (o *outlet) clause(s *sqltext.Statement, format string) string {
	return s.Bare + "\nINTO OUTFILE " + sqltext.QuoteString(o.path) + " APPEND FORMAT " + format
}

// piped answers a SELECT as the engine writes it.
func (a *answer) piped(ctx context.Context, c *embedded.Conn, s *sqltext.Statement, out *outlet) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer func() { err = errors.Join(err, out.close()) }()
	var counted embedded.Stats
	ended := make(chan error, 1)
	go func() {
		var err error
		_, counted, err = c.Query(ctx, out.clause(s, a.format), "Null")
		ended <- errors.Join(err, out.written())
	}()
	head := make([]byte, answerHead)
	if a.q.whole {
		head = make([]byte, answerWhole)
	}
	n, err := io.ReadFull(out.read, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if err := <-ended; err != nil {
			return err
		}
		if n == 0 && a.native() {
			return a.empty(ctx, c, s, "", counted)
		}
		return a.whole(head[:n], counted)
	}
	if err == nil {
		send := a.copied
		if a.turns() {
			send = a.turned
		}
		err = send(head, out.read)
	}
	if err != nil { // the engine's thread has to come back, and must not write into a pipe that nobody reads
		stop()
		_, rest := io.Copy(io.Discard, out.read)
		ran := <-ended
		_ = ran // it was stopped: why it ended is err
		return errors.Join(err, rest)
	}
	if err := <-ended; err != nil {
		return err
	}
	return a.finish()
}

// copied sends the head of an answer and what comes after it.
func (a *answer) copied(head []byte, rest io.Reader) error {
	if err := a.start(embedded.Stats{}); err != nil {
		return err
	}
	if _, err := a.out.Write(head); err != nil {
		return err
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{a.out}, struct{ io.Reader }{rest}, head)
	return err
}
