package clickhouse

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// The schema: columns/ names the columns once, tables/ has the numbered migrations
// of the storage tables, views/ the views that are made anew when they change.
//
//go:embed schema/columns/*.sql schema/tables/*.sql schema/views/*.sql
var schemaFiles embed.FS

// Zone is the restaurants' time zone (api.md, Dates): instants carry it in their type,
// and people's sessions are in it, so that today(), hours and weekdays are theirs.
const Zone = "Europe/Bucharest"

// The views are one migration, whose number is raised whenever a file of views/ or
// columns/ has changed: so warehouses get the new ones, and older programs refuse
// them. A test holds the number to the hash.
const (
	firstViewsVersion = 1001
	viewsVersion      = 1001
	viewsHash         = "b2bfe7033d0ec30b"
)

// migration is a file of tables/, or all of views/: forward-only, and harmless when
// applied twice.
type migration struct {
	version int      // the number that its name begins with
	name    string   // its file name without directory and extension
	files   []string // with placeholders, see dialect
}

// migrations are all that this program knows, in order: the views come last.
func migrations() ([]migration, error) {
	files, err := fs.Glob(schemaFiles, "schema/tables/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]migration, 0, len(files)+1)
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".sql")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s: the name must begin with a number: %w", file, err)
		}
		all = append(all, migration{version: version, name: name, files: []string{file}})
	}
	views, err := fs.Glob(schemaFiles, "schema/views/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	return append(all, migration{version: viewsVersion, name: fmt.Sprintf("%d_views", viewsVersion), files: views}), nil
}

// dialect fills the placeholders of the migrations for one warehouse.
//
// With a cluster every storage table is a replicated table named …_local on each
// node, with a Distributed table of the plain name on top; the rows of one
// business share a shard, so that FINAL is right shard by shard.
type dialect struct {
	database string
	cluster  string // empty: one server
	noCodec  bool   // the server does not know default_compression_codec
}

func (d dialect) raw() string { return d.database + "_raw" }

// quote makes an identifier of any text.
func quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// literal makes a string literal of any text.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`).Replace(s) + "'"
}

// table is the name by which a storage table is read and written.
func (d dialect) table(name string) string { return quote(d.raw()) + "." + quote(name) }

// view is the name of a view that people query.
func (d dialect) view(name string) string { return quote(d.database) + "." + quote(name) }

// local is the name of a storage table on its own node.
func (d dialect) local(name string) string {
	if d.cluster != "" {
		name += "_local"
	}
	return d.table(name)
}

func (d dialect) onCluster() string {
	if d.cluster == "" {
		return ""
	}
	return " ON CLUSTER " + quote(d.cluster)
}

func (d dialect) replacing(arguments string) string {
	if d.cluster == "" {
		return "ReplacingMergeTree(" + arguments + ")"
	}
	const replica = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
	if arguments != "" {
		arguments = ", " + arguments
	}
	return "ReplicatedReplacingMergeTree(" + replica + arguments + ")"
}

// distributed is the statement that lays the Distributed table over the local
// ones; on one server there is none.
func (d dialect) distributed(name, shardKey string) string {
	if d.cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s\nENGINE = Distributed(%s, %s, %s, cityHash64(%s));",
		d.table(name), d.onCluster(), d.local(name), literal(d.cluster), literal(d.raw()), literal(name+"_local"), shardKey)
}

// settings of the storage tables: what was acknowledged survives a power cut, and
// what one flush makes is one file a part instead of one a column, which halves
// the cost of an INSERT (23 to 11 CPU-seconds per million orders).
func (d dialect) settings() string {
	s := "fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728"
	if !d.noCodec {
		s += ", default_compression_codec = 'ZSTD(1)'"
	}
	return s
}

// databases are the statements that everything else needs.
func (d dialect) databases() []string {
	return []string{
		"CREATE DATABASE IF NOT EXISTS " + quote(d.raw()) + d.onCluster(),
		"CREATE DATABASE IF NOT EXISTS " + quote(d.database) + d.onCluster(),
	}
}

// statements are those of a migration, ready to run. A statement ends with a
// semicolon at the end of a line.
func (d dialect) statements(m migration) ([]string, error) {
	t, err := d.template()
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", m.name, err)
	}
	var all []string
	for _, file := range m.files {
		var filled bytes.Buffer
		if err := t.ExecuteTemplate(&filled, path.Base(file), nil); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
		for text := range strings.SplitSeq(withoutComments(filled.String()), ";\n") {
			if text = strings.TrimSuffix(strings.TrimSpace(text), ";"); text != "" {
				all = append(all, text)
			}
		}
	}
	return all, nil
}

func withoutComments(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if bare := strings.TrimSpace(line); bare != "" && !strings.HasPrefix(bare, "--") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
