package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/internal/lifecycle"
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
meanwhile. The API is not asked.`,
		Example: `  larder forget --source bistro --phone -
  larder forget --source bistro --order ord_1 --order ord_2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.Phone == "-" {
				in := bufio.NewScanner(g.in)
				in.Scan()
				if in.Err() != nil {
					return lifecycle.UsageError(fmt.Errorf("read the phone from the standard input: %w", in.Err()))
				}
				if r.Phone = strings.TrimSpace(in.Text()); r.Phone == "" {
					return lifecycle.UsageError(errors.New("there is no phone on the standard input"))
				}
			}
			if err := r.Check(); err != nil {
				return lifecycle.UsageError(err)
			}
			a, err := g.load(false, g.err, "")
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
				p.sentence("Erased the customer of %s, and of %s in quarantine.", text.Plural(len(report.Orders), "order"), text.Plural(report.Entries, "row"))
			}
			for _, id := range report.Orders {
				p.printf("  %s\n", text.Visible(id))
			}
			if report.Detached > 0 {
				p.sentence("%s of those tables%s aside in detached/: nothing of it was touched. Look at it, and remove it.",
					text.Plural(report.Detached, "part"), text.Verb(report.Detached, " lies", " lie"))
			}
			return p.err
		},
	}
	cmd.Flags().StringVar(&r.Source, "source", "", "the `source` whose restaurant it is")
	cmd.Flags().StringVar(&r.Phone, "phone", "", "`phone` of the customer; - reads it from the standard input")
	cmd.Flags().StringArrayVar(&r.Orders, "order", nil, "`id` of an order; may be repeated")
	waitFlag(cmd, &wait)
	return cmd
}
