package schema

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// The schema: columns/ names the columns once, tables/ has the numbered migrations
// of the storage tables, views/ the views that are made anew when they change.
//
//go:embed columns/*.sql tables/*.sql views/*.sql
var schemaFiles embed.FS

// Zone is the restaurants' time zone (api.md, Dates): instants carry it in their type,
// and people's sessions are in it, so that today(), hours and weekdays are theirs.
const Zone = "Europe/Bucharest"

// ViewsVersion is the number under which the warehouse notes the text of its views.
const ViewsVersion = 1001

// Migration is a file of tables/: forward-only, and harmless when applied twice.
type Migration struct {
	Version int      // the number that its name begins with
	Name    string   // its file name without directory and extension
	files   []string // with placeholders, see dialect
}

// Migrations are all migrations of the storage tables, in order.
func Migrations() ([]Migration, error) {
	files, err := fs.Glob(schemaFiles, "tables/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]Migration, 0, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".sql")
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s: the name must begin with a number: %w", file, err)
		}
		all = append(all, Migration{Version: version, Name: name, files: []string{file}})
	}
	return all, nil
}

// Views are the views of one warehouse.
type Views struct {
	Migration           // its name has the hash of the statements
	Statements []string // they make the views, and have the histories fed as this program does
	Names      []string
}

// viewName finds the name of the view that a statement makes.
var viewName = regexp.MustCompile("^CREATE OR REPLACE VIEW `[^`]+`\\.`(\\w+)`")

// Views returns the views of this program.
func (d Dialect) Views() (v Views, err error) {
	if v.files, err = fs.Glob(schemaFiles, "views/*.sql"); err != nil {
		return v, fmt.Errorf("list views: %w", err)
	}
	if v.Statements, err = d.Statements(v.Migration); err != nil {
		return v, fmt.Errorf("views: %w", err)
	}
	for _, sql := range v.Statements {
		if name := viewName.FindStringSubmatch(sql); name != nil {
			v.Names = append(v.Names, name[1])
		}
	}
	hash := sha256.Sum256([]byte(strings.Join(v.Statements, ";\n")))
	v.Version, v.Name = ViewsVersion, fmt.Sprintf("%d_views_%x", ViewsVersion, hash[:8])
	return v, nil
}

// Dialect fills the placeholders of the migrations for one warehouse.
//
// With a cluster every storage table is a replicated table named …_local on each
// node, with a Distributed table of the plain name on top; the rows of one
// business share a shard, so that FINAL is right shard by shard.
type Dialect struct {
	Database string
	Cluster  string // empty: one server
	NoCodec  bool   // the server does not know default_compression_codec
}

// Raw is the database of the storage tables.
func (d Dialect) Raw() string { return d.Database + "_raw" }

var (
	identifierEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`")
	literalEscapes    = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`)
)

// Quote makes an identifier of any text.
func Quote(name string) string { return "`" + identifierEscapes.Replace(name) + "`" }

// Literal makes a string literal of any text.
func Literal(s string) string { return "'" + literalEscapes.Replace(s) + "'" }

// Table is the name by which a storage table is read and written.
func (d Dialect) Table(name string) string { return Quote(d.Raw()) + "." + Quote(name) }

// View is the name of a view that people query.
func (d Dialect) View(name string) string { return Quote(d.Database) + "." + Quote(name) }

// Local is the name of a storage table on its own node.
func (d Dialect) Local(name string) string {
	if d.Cluster != "" {
		name += "_local"
	}
	return d.Table(name)
}

// OnCluster is what a statement says that every node is to run; empty on one server.
func (d Dialect) OnCluster() string {
	if d.Cluster == "" {
		return ""
	}
	return " ON CLUSTER " + Quote(d.Cluster)
}

// Replacing is the engine of a storage table, with the arguments that one server's has.
func (d Dialect) Replacing(arguments string) string {
	if d.Cluster == "" {
		return "ReplacingMergeTree(" + arguments + ")"
	}
	const replica = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
	if arguments != "" {
		arguments = ", " + arguments
	}
	return "ReplicatedReplacingMergeTree(" + replica + arguments + ")"
}

// Distributed is the statement that lays the Distributed table over the local
// ones; on one server there is none.
func (d Dialect) Distributed(name, shardKey string) string {
	if d.Cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s\nENGINE = Distributed(%s, %s, %s, cityHash64(%s));",
		d.Table(name), d.OnCluster(), d.Local(name), Literal(d.Cluster), Literal(d.Raw()), Literal(name+"_local"), shardKey)
}

// settings of the storage tables: what was acknowledged survives a power cut, and
// what one flush makes is one file a part instead of one a column, which halves
// the cost of an INSERT (23 to 11 CPU-seconds per million orders).
func (d Dialect) settings() string {
	s := "fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728"
	if !d.NoCodec {
		s += ", default_compression_codec = 'ZSTD(1)'"
	}
	return s
}

// Databases are the statements that everything else needs.
func (d Dialect) Databases() []string {
	return []string{
		"CREATE DATABASE IF NOT EXISTS " + Quote(d.Raw()) + d.OnCluster(),
		"CREATE DATABASE IF NOT EXISTS " + Quote(d.Database) + d.OnCluster(),
	}
}

// Statements are those of a migration, ready to run. A statement ends with a
// semicolon at the end of a line.
func (d Dialect) Statements(m Migration) ([]string, error) {
	t, err := d.Template()
	if err != nil {
		return nil, fmt.Errorf("migration %s: %w", m.Name, err)
	}
	var all []string
	for _, file := range m.files {
		var filled bytes.Buffer
		if err := t.ExecuteTemplate(&filled, path.Base(file), nil); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.Name, err)
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

// StreamTables are the storage tables that hold rows of streams: those of schema/tables
// that have the columns "meta", in the order of the files.
var StreamTables = func() (names []string) {
	files, err := fs.Glob(schemaFiles, "tables/*.sql")
	if err != nil {
		panic(err) // the pattern is fixed
	}
	for _, file := range files {
		sql, err := schemaFiles.ReadFile(file)
		if err != nil {
			panic(err) // it is in the binary
		}
		for _, table := range storageTable.FindAllSubmatch(sql, -1) {
			if bytes.Contains(table[2], []byte(`"meta"}}`)) {
				names = append(names, string(table[1]))
			}
		}
	}
	return names
}()

// storageTable finds a table's name, and what follows up to its key.
var storageTable = regexp.MustCompile(`(?s)\{\{storage "(\w+)"\}\}(.*?)ORDER BY`)
