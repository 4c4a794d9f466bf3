package main

import (
	"io"
	"testing"

	"github.com/vbauerster/mpb/v8"
)

// Results are printed above bars that are drawn on the same terminal, and else to standard output:
// also when standard error, where progress is shown, is redirected.
func TestResultsArePrintedToStandardOutput(t *testing.T) {
	master, slave := openTerminal(t, 80)
	defer master.Close()
	defer slave.Close()
	standardError := &struct{ io.Writer }{io.Discard}
	p := &progress{out: standardError}
	if p.above(slave) != io.Writer(slave) {
		t.Error("results go to a redirected standard error")
	}
	p.group = mpb.New(mpb.WithOutput(io.Discard))
	defer p.end()
	if p.above(slave) == io.Writer(slave) {
		t.Error("results tear the bars")
	}
	if p.above(standardError) != io.Writer(standardError) {
		t.Error("results for a pipe are drawn above the bars")
	}
}
