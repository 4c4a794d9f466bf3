package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/exit"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
)

func forgetCommand(g *globals) *cobra.Command {
	var r syncer.ForgetRequest
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Erase what is stored of a person who ordered online",
		Long: `Erases what the warehouse holds of a person: name, phone, e-mail, address, notes,
allergies, pseudonym, and the same in the JSON of the order. It does so in every stored
version of the person's online orders, in the quarantine, and in examples of unknown fields.
The orders themselves stay, with their sums. When the command ends well, nothing of the
person is in the files of the warehouse any more.

The orders are found by the customer's phone, written in any way, or named by --order. They
are noted in forgotten_orders, without anything of the person: what the service sends of
them later is stored without its customer. An order that the person places afterwards is
another, and is stored as personal_data says.

With --phone - the phone is read from the standard input, so that it is in no history of a
shell. Beside a running daemon on the same embedded warehouse, the daemon does the work. On
a remote warehouse every daemon that serves a source of that restaurant has to be stopped
meanwhile. The API is not asked.

Exit codes: 0 erased, or nothing was stored; 1 it failed; 2 usage or configuration; 4 the
warehouse could not be reached.`,
		Example: `  larder forget --source bistro --phone -
  larder forget --source bistro --order ord_1 --order ord_2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Phone == "-" {
				phone, err := readPhone(g.in)
				if err != nil {
					return exit.UsageError(err)
				}
				r.Phone = phone
			}
			if err := r.Check(); err != nil {
				return exit.UsageError(err)
			}
			return runForget(cmd, g, r, wait)
		},
	}
	cmd.Flags().StringVar(&r.Source, "source", "", "the `source` whose restaurant it is")
	cmd.Flags().StringVar(&r.Phone, "phone", "", "`phone` of the customer; - reads it from the standard input")
	cmd.Flags().StringArrayVar(&r.Orders, "order", nil, "`id` of an order; may be repeated")
	waitFlag(cmd, &wait)
	return cmd
}

// longestPhone is more than api.md's 40 characters.
const longestPhone = 256

func readPhone(in io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(in, longestPhone)).ReadString('\n')
	phone := strings.TrimSpace(line)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return "", fmt.Errorf("read the phone from the standard input: %w", err)
	case phone == "":
		return "", errors.New("there is no phone on the standard input")
	}
	return phone, nil
}

func runForget(cmd *cobra.Command, g *globals, r syncer.ForgetRequest, wait time.Duration) error {
	a, err := g.load(false)
	if err != nil {
		return err
	}
	report, err := a.Forget(cmd.Context(), r, wait)
	if err != nil {
		return err
	}
	p := &printer{out: g.out}
	if len(report.Orders)+report.Entries == 0 {
		p.sentence("Nothing is stored of that customer.")
	} else {
		p.sentence("Erased the customer of %s%s.", text.Plural(len(report.Orders), "order"), quarantinedToo(report.Entries))
	}
	for _, id := range report.Orders {
		p.printf("  %s\n", text.Visible(id))
	}
	if report.Detached > 0 {
		p.sentence("%s of those tables%s aside in detached/: nothing of it was touched. Look at it, and remove it.",
			text.Plural(report.Detached, "part"), text.Verb(report.Detached, " lies", " lie"))
	}
	return p.err
}

func quarantinedToo(entries int) string {
	if entries == 0 {
		return ""
	}
	return " and of " + text.Plural(entries, "row") + " in quarantine"
}
