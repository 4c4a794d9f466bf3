package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/syncer"
)

func backupCommand(g *globals) *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up the embedded warehouse into a new folder",
		Long: `Writes all that the embedded warehouse stores into a new folder, checkpoints included:
also the histories, removed orders and events that the API does not remember. It works
beside a running daemon, which goes on meanwhile, and without one.

With --base, only what an earlier backup does not have is written. To restore it, the
earlier one is needed, too: where it was, or beside it. What is written passes through the
data folder: its disk needs as much free space. Run it as the owner of that folder.

DIR appears when the backup is complete. What a killed one has left, larder check reports
and the next one removes. The folder has what the warehouse has of people: only its
owner may enter it. A remote warehouse is backed up by its server.`,
		Example: `  larder backup /var/backups/larder/monday
  larder backup /var/backups/larder/tuesday --base /var/backups/larder/monday`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProgress(g, func(a *app.App, progress func(app.BackupProgress)) (string, error) {
				m, err := a.Backup(cmd.Context(), args[0], base, progress)
				return fmt.Sprintf("Backed up %s to %s: %s.", text.Plural(m.Rows, "row"), text.Visible(args[0]), config.Size(m.Bytes)), err
			})
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "an earlier backup's `folder`: what it has is not written again")
	return cmd
}

func restoreCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR",
		Short: "Make the embedded warehouse from a backup",
		Long: `Makes the data folder (warehouse.dsn) from a backup of larder backup. There must be no data
folder, or an empty one: nothing is overwritten. Afterwards the daemon goes on from the
checkpoints of the backup, and what happened since comes with its next walks.

A restore that was interrupted leaves a data folder that the daemon refuses to open. Run it
again, and empty the folder first when it says so; the backup stays as it is.`,
		Example: `  larder restore /var/backups/larder/monday`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProgress(g, func(a *app.App, progress func(app.BackupProgress)) (string, error) {
				m, err := a.Restore(cmd.Context(), args[0], progress)
				return fmt.Sprintf("Restored %s to %s, as they were at %s; larder run goes on from there.",
					text.Plural(m.Rows, "row"), a.Config.Warehouse.DSN.Dir(), m.MadeAt.Format(time.RFC3339)), err
			})
		},
	}
}

// withProgress shows how far a backup or a restore is, and prints what it returns.
func withProgress(g *globals, work func(*app.App, func(app.BackupProgress)) (string, error)) error {
	a, show, err := g.beginPass(true, syncer.Selection{})
	if err != nil {
		return err
	}
	done, err := work(a, func(p app.BackupProgress) {
		amount := func(n uint64) string { return config.Size(int64(n)) }
		if p.Doing == "restore" {
			amount = func(n uint64) string { return text.Plural(n, "file") }
		}
		done := amount(p.Done)
		if p.Of > 0 {
			done += " of " + amount(p.Of)
		}
		show.underWay([]walk{{p.Doing, p.Done, p.Of, done}})
	})
	show.end()
	if err != nil {
		return err
	}
	p := &printer{out: g.out}
	p.sentence("%s It took %s.", done, time.Since(show.began).Round(100*time.Millisecond))
	return p.err
}
