package spool

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Set collects texts. What does not fit in its memory goes, in sorted runs, to one
// temporary file. The file loses its name once it is open, so the system takes it back when
// the set is closed, and when the process is killed.
type Set struct {
	dir   string
	limit int

	held  []string
	bytes int
	file  *os.File
	size  int64
	runs  []run
}

// run is a sorted part of the file.
type run struct{ from, to int64 }

// overhead is what a text in memory costs beside its bytes.
const overhead = 32

// buffer is read of each run at a time.
const buffer = 16 << 10

// New returns a set that holds about limit bytes in memory. The temporary file, if
// one is needed, is made in dir; empty is the system's folder for them.
func New(dir string, limit int) *Set { return &Set{dir: dir, limit: limit} }

// Add puts a text into the set.
func (s *Set) Add(text string) error {
	if s.bytes+len(text)+overhead > s.limit && len(s.held) > 0 {
		if err := s.spill(); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	s.held = append(s.held, text)
	s.bytes += len(text) + overhead
	return nil
}

// spill writes what is in memory behind what is in the file.
func (s *Set) spill() error {
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	slices.Sort(s.held)
	s.held = slices.Compact(s.held)
	w := &counter{w: bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 64<<10)}
	for _, text := range s.held {
		if err := w.put(text); err != nil {
			return err
		}
	}
	if err := w.w.Flush(); err != nil {
		return err
	}
	s.runs = append(s.runs, run{s.size, s.size + w.n})
	s.size += w.n
	clear(s.held)
	s.held, s.bytes = s.held[:0], 0
	return nil
}

func (s *Set) create() error {
	f, err := os.CreateTemp(s.dir, "larder-verify-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		return errors.Join(err, f.Close())
	}
	s.file = f
	return nil
}

// counter writes texts, each behind its length.
type counter struct {
	w *bufio.Writer
	n int64
}

func (c *counter) put(text string) error {
	length := binary.AppendUvarint(nil, uint64(len(text)))
	if _, err := c.w.Write(length); err != nil {
		return err
	}
	c.n += int64(len(length) + len(text))
	_, err := c.w.WriteString(text)
	return err
}

// Close gives memory and file back. A set that is closed is empty.
func (s *Set) Close() error {
	f := s.file
	*s = Set{dir: s.dir, limit: s.limit}
	if f == nil {
		return nil
	}
	return f.Close()
}

// Sorted reads the set in order of bytes, each text once. Nothing may be added
// while it is read.
func (s *Set) Sorted() (*Reader, error) {
	slices.Sort(s.held)
	r := &Reader{}
	for _, part := range s.runs {
		section := io.NewSectionReader(s.file, part.from, part.to-part.from)
		if err := r.open(&source{file: bufio.NewReaderSize(section, buffer)}); err != nil {
			return nil, err
		}
	}
	return r, r.open(&source{held: s.held})
}

// Reader reads a set in order.
type Reader struct {
	heap sources
	last string
	any  bool
	read uint64
}

// source is one sorted run with its next text.
type source struct {
	file *bufio.Reader // or
	held []string
	next string
}

func (r *Reader) open(s *source) error {
	more, err := s.advance()
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if more {
		heap.Push(&r.heap, s)
	}
	return nil
}

func (s *source) advance() (more bool, err error) {
	if s.file == nil {
		if len(s.held) == 0 {
			return false, nil
		}
		s.next, s.held = s.held[0], s.held[1:]
		return true, nil
	}
	length, err := binary.ReadUvarint(s.file)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(s.file, text); err != nil {
		return false, err
	}
	s.next = string(text)
	return true, nil
}

// Next returns the next text, false behind the last.
func (r *Reader) Next() (string, bool, error) {
	for len(r.heap) > 0 {
		first := r.heap[0]
		text := first.next
		more, err := first.advance()
		if err != nil {
			return "", false, fmt.Errorf("spool: %w", err)
		}
		if more {
			heap.Fix(&r.heap, 0)
		} else {
			heap.Pop(&r.heap)
		}
		if r.any && text == r.last {
			continue
		}
		r.last, r.any = text, true
		r.read++
		return text, true, nil
	}
	return "", false, nil
}

// Has is true when a text is in the set. It reads on to there: texts must be
// asked for in order.
func (r *Reader) Has(text string) (bool, error) {
	for !r.any || r.last < text {
		_, more, err := r.Next()
		if err != nil {
			return false, err
		}
		if !more {
			return false, nil
		}
	}
	return r.last == text, nil
}

// Rest reads to the end and returns how many different texts there are in all.
func (r *Reader) Rest() (uint64, error) {
	for {
		_, more, err := r.Next()
		if err != nil || !more {
			return r.read, err
		}
	}
}

// sources is a heap by the next text.
type sources []*source

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return s[i].next < s[j].next }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// Push implements [heap.Interface].
func (s *sources) Push(x any) { *s = append(*s, x.(*source)) }

// Pop implements [heap.Interface].
func (s *sources) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
