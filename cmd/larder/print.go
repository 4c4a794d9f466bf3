package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

func sourcesFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "source", nil, "only this `source`; may be repeated")
}

func streamsFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "stream", nil, "only this `stream`; may be repeated")
}

func waitFlag(cmd *cobra.Command, wait *time.Duration) {
	cmd.Flags().DurationVar(wait, "wait", 30*time.Second, "how long to wait for a remote warehouse that is down")
}

func formatFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().Func("format", "`form` of what is found: text, or json for one object on a line, at last one of the kind summary", func(format string) error {
		if format != "text" && format != "json" {
			return errors.New("known are text, json")
		}
		*asJSON = format == "json"
		return nil
	})
}

// printer prints what a comparison finds.
type printer struct {
	out  io.Writer
	json bool
	once map[string]bool // what was printed and is not repeated
	err  error           // the first of writing
}

// first reports whether a text was not printed before.
func (p *printer) first(text string) bool {
	before := p.once[text]
	if p.once == nil {
		p.once = map[string]bool{}
	}
	p.once[text] = true
	return !before
}

func (p *printer) failed(err error) {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("print: %w", err)
	}
}

func (p *printer) printf(format string, args ...any) {
	_, err := fmt.Fprintf(p.out, format, args...)
	p.failed(err)
}

// sentence prints one on lines that fit on the terminal.
func (p *printer) sentence(format string, args ...any) {
	p.printf("%s", wrap(fmt.Sprintf(format, args...), "", widthOf(p.out)))
}

// line prints a value as JSON on a line of its own.
func (p *printer) line(v any) { p.failed(json.NewEncoder(p.out).Encode(v)) }
