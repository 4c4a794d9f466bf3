package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/larder-sync/larder/config"
	"github.com/larder-sync/larder/internal/app"
	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
)

// terminal is what a command reads from and prints to.
type terminal struct {
	in       io.Reader
	out, err io.Writer
}

// escaped is t with control characters escaped in all that is printed, so that no text from
// outside acts on a terminal.
func (t terminal) escaped() terminal {
	return terminal{in: t.in, out: text.NewWriter(t.out), err: text.NewWriter(t.err)}
}

// unescaped is what w writes to in the end, without the escaping.
func unescaped(w io.Writer) io.Writer {
	if wrapper, ok := w.(interface{ Unwrap() io.Writer }); ok {
		return unescaped(wrapper.Unwrap())
	}
	return w
}

// interactive reports whether a person is watching w.
func interactive(w io.Writer) bool {
	f, ok := unescaped(w).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// globals are the flags that every command takes.
type globals struct {
	terminal
	args      []string // the command line
	config    string
	logFormat string
	set       []string
	reload    app.Reload   // once the configuration is loaded
	log       *slog.Logger // once it is there
	format    string       // of log
	begun     bool         // the command line was understood
}

func newRoot(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "larder",
		Short: "Mirror restaurants' data into ClickHouse, incrementally and politely",
		Long: `Larder mirrors what a restaurant's API lists - locations, menu, stock, sales -
into ClickHouse: a remote one, or the engine that it carries itself.`,
		Example: `  larder demo                       everything at once, on invented restaurants
  larder check --config larder.yaml is the configuration right, and do the keys work?
  larder run --config larder.yaml   the daemon
  larder sql 'SELECT count() FROM sales_orders'`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			switch g.logFormat {
			case "":
			case text.LogText, text.LogJSON:
				g.set = append(g.set, "log.format="+g.logFormat)
			default:
				return fmt.Errorf("--log-format %q: allowed: text, json", g.logFormat)
			}
			g.begun = true
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&g.config, "config", "", "configuration `file` (default larder.yaml, then /etc/larder/larder.yaml)")
	flags.StringVar(&g.logFormat, "log-format", "", "`form` of the log on standard error: text or json")
	flags.StringArrayVar(&g.set, "set", nil, "configuration `key=value`, stronger than file and environment; may be repeated")
	root.SetHelpTemplate(root.HelpTemplate() + `
Exit codes: 0 done; 1 it ran and found something wrong; 2 usage or configuration;
3 the API refused (key, scope); 4 the warehouse could not be reached. Of several the
largest counts.
`)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = version
	root.SetVersionTemplate(versionLine())
	root.Flags().Bool("version", false, "print the version")
	root.AddCommand(
		runCommand(g), syncCommand(g), reconcileCommand(g), verifyCommand(g), checkCommand(g), statusCommand(g), sqlCommand(g),
		migrateCommand(g), forgetCommand(g), backupCommand(g), restoreCommand(g), dashboardsCommand(g), sandboxCommand(g), demoCommand(g), versionCommand(g),
		engineCommand(g),
	)
	return root
}

// load reads the configuration and makes the logger, which writes to w; level, if it is not empty, is
// instead of the configured one, unless that is debug.
func (g *globals) load(withoutSources bool, w io.Writer, level string) (*app.App, error) {
	g.reload.Request = config.Request{File: g.config, Set: g.set, WithoutSources: withoutSources}
	cfg, err := config.Load(g.reload.Request)
	if err != nil {
		return nil, err
	}
	if level == "" || cfg.Log.Level == "debug" {
		level = cfg.Log.Level
	}
	log, err := g.logger(w, cfg.Log.Format, level)
	if err != nil {
		return nil, err
	}
	for _, warning := range cfg.Warnings {
		log.Warn("configuration: " + warning)
	}
	return app.New(cfg, log, version), nil
}

// logger makes the logger, which writes to w.
func (g *globals) logger(w io.Writer, format, level string) (_ *slog.Logger, err error) {
	if g.reload.Level, err = text.LogLevel(level); err != nil {
		return nil, lifecycle.UsageError(err)
	}
	if g.log, err = text.NewLogger(w, format, g.reload.Level); err != nil {
		return nil, lifecycle.UsageError(err)
	}
	g.format = format
	return g.log, nil
}

// inJSON reports whether the log is JSON, and so all else on standard error, as far as the format
// is known: an error of the configuration has the configured one.
func (g *globals) inJSON(err error) bool {
	format := cmp.Or(g.format, g.logFormat)
	if refused, ok := errors.AsType[*config.Error](err); ok {
		format = cmp.Or(format, refused.LogFormat)
	}
	return format == text.LogJSON || format == "" && slices.Contains(g.set, "log.format=json")
}

// fail prints why a command ends, in the form of the log.
func (g *globals) fail(cmd *cobra.Command, err error, code int) {
	why := lifecycle.Explain(err)
	if !g.begun { // flags behind the mistake were not parsed
		flags := cmd.Root().PersistentFlags()
		flags.ParseErrorsAllowlist.UnknownFlags = true
		flags.Usage = func() {}
		_ = flags.Parse(g.args) // the first mistake is the one reported
	}
	if !g.inJSON(err) {
		if interactive(g.err) && errors.Is(err, context.Canceled) {
			fmt.Fprint(unescaped(g.err), "\r") // over the ^C
		}
		if why != "" {
			fmt.Fprintf(g.err, "larder: %s\n", why)
		}
		if !g.begun {
			fmt.Fprintf(g.err, "%s --help tells more.\n", cmd.CommandPath())
		}
		return
	}
	if log, err := text.NewLogger(g.err, text.LogJSON, slog.LevelInfo); err == nil && why != "" {
		log.Error(cmd.CommandPath()+" ends", "error", why, "exit_code", code)
	}
}
