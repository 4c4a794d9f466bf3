package schema

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// The statements: migrations.sql makes the table that notes what was applied, tables/ has the
// numbered migrations of the storage tables, views/ the views that are made anew when they change.
//
//go:embed migrations.sql tables views
var schemaFiles embed.FS

// Zone is the restaurants' time zone (docs/openapi.yaml, Values): instants carry it in their type,
// and people's sessions are in it, so that today(), hours and weekdays are theirs.
const Zone = "Europe/Bucharest"

// ViewsVersion is the number under which the warehouse notes the text of its views.
const ViewsVersion = 1001

// Migration is a file of tables/, or a folder with a file for each table: forward-only, and
// harmless when applied twice. The text of a released one is never edited.
type Migration struct {
	Version int      // the number that its name begins with
	Name    string   // its name without directory and extension
	files   []string // in order
}

// Migrations are all migrations of the storage tables, in order.
func Migrations() ([]Migration, error) {
	entries, err := fs.Glob(schemaFiles, "tables/*")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	all := make([]Migration, 0, len(entries))
	for _, entry := range entries {
		m := Migration{Name: strings.TrimSuffix(path.Base(entry), ".sql"), files: []string{entry}}
		number, _, _ := strings.Cut(m.Name, "_")
		if m.Version, err = strconv.Atoi(number); err != nil {
			return nil, fmt.Errorf("migration %s: the name must begin with a number: %w", entry, err)
		}
		if path.Ext(entry) != ".sql" {
			if m.files, err = fs.Glob(schemaFiles, entry+"/*.sql"); err != nil {
				return nil, fmt.Errorf("list migration %s: %w", m.Name, err)
			}
		}
		all = append(all, m)
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

// Dialect fills the placeholders of the statements for one warehouse.
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

// localSuffix ends the name of a storage table of one node of a cluster.
const localSuffix = "_local"

// Local is the name of a storage table on its own node.
func (d Dialect) Local(name string) string {
	if d.Cluster != "" {
		name += localSuffix
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

// Databases are the statements that everything else needs.
func (d Dialect) Databases() []string {
	return []string{
		"CREATE DATABASE IF NOT EXISTS " + Quote(d.Raw()) + d.OnCluster(),
		"CREATE DATABASE IF NOT EXISTS " + Quote(d.Database) + d.OnCluster(),
	}
}

// MigrationsTable are the statements that make the table of the applied migrations.
func (d Dialect) MigrationsTable() ([]string, error) {
	return d.Statements(Migration{Name: "migrations", files: []string{"migrations.sql"}})
}

// Statements returns the statements of a migration, ready to run.
func (d Dialect) Statements(m Migration) ([]string, error) {
	var all []string
	for _, file := range m.files {
		text, err := schemaFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.Name, err)
		}
		statements, err := d.Fill(string(text))
		if err != nil {
			return nil, fmt.Errorf("migration %s: %s: %w", m.Name, file, err)
		}
		all = append(all, statements...)
	}
	return all, nil
}

// Fill returns the statements of a text with the placeholders filled in. A statement ends with
// a semicolon at the end of a line.
func (d Dialect) Fill(text string) ([]string, error) {
	local := ""
	if d.Cluster != "" {
		local = localSuffix
	}
	filled := strings.NewReplacer(
		"{{db}}", identifierEscapes.Replace(d.Database), "{{raw}}", identifierEscapes.Replace(d.Raw()), "{{zone}}", Zone,
		"{{local}}", local, "{{on_cluster}}", d.OnCluster(),
	).Replace(withoutComments(text))
	if _, unknown, found := strings.Cut(filled, "{{"); found {
		name, _, _ := strings.Cut(unknown, "}}")
		return nil, fmt.Errorf("unknown placeholder {{%s}}", name)
	}
	if d.NoCodec {
		filled = strings.ReplaceAll(filled, ", default_compression_codec = 'ZSTD(1)'", "")
	}
	var all []string
	for sql := range strings.SplitSeq(filled, ";\n") {
		if sql = strings.TrimSuffix(strings.TrimSpace(sql), ";"); sql == "" {
			continue
		}
		statements, err := d.replicated(sql)
		if err != nil {
			return nil, err
		}
		all = append(all, statements...)
	}
	return all, nil
}

var (
	createTable = regexp.MustCompile("^CREATE TABLE IF NOT EXISTS `[^`]+`\\.`(\\w+)" + localSuffix + "`")
	engine      = regexp.MustCompile(`\nENGINE = ReplacingMergeTree\((.*)\)\nORDER BY \(?(\w+)`)
)

// replicated returns the statements of a cluster in place of one that makes a storage table on a
// single server: the table of each node, which is replicated, and the Distributed table over
// them. The first column of the sort key chooses the shard. Other statements stay as they are.
func (d Dialect) replicated(sql string) ([]string, error) {
	if d.Cluster == "" || !strings.HasPrefix(sql, "CREATE TABLE ") {
		return []string{sql}, nil
	}
	table, key := createTable.FindStringSubmatch(sql), engine.FindStringSubmatch(sql)
	if table == nil || key == nil {
		head, _, _ := strings.Cut(sql, "\n")
		return nil, fmt.Errorf("no storage table with {{local}}, ReplacingMergeTree and ORDER BY: %s", head)
	}
	const replica = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'"
	arguments := strings.TrimSuffix(replica+", "+key[1], ", ")
	return []string{
		strings.Replace(sql, "ReplacingMergeTree("+key[1]+")", "ReplicatedReplacingMergeTree("+arguments+")", 1),
		fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s\nENGINE = Distributed(%s, %s, %s, cityHash64(%s))",
			d.Table(table[1]), d.OnCluster(), d.Local(table[1]), Literal(d.Cluster), Literal(d.Raw()), Literal(table[1]+localSuffix), key[2]),
	}, nil
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

// StreamTables are the storage tables that hold rows of streams, in the order of the migrations:
// the tables whose rows can be tombstones.
var StreamTables = func() (names []string) {
	all, err := Migrations()
	if err != nil {
		panic(err) // they are in the binary
	}
	for _, m := range all {
		for _, file := range m.files {
			text, err := schemaFiles.ReadFile(file)
			if err != nil {
				panic(err) // it is in the binary
			}
			for sql := range strings.SplitSeq(string(text), ";\n") {
				if table := storageTable.FindStringSubmatch(sql); table != nil && strings.Contains(sql, "\n    `_deleted` UInt8 ") {
					names = append(names, table[1])
				}
			}
		}
	}
	return names
}()

// storageTable finds the name of a storage table in its statement.
var storageTable = regexp.MustCompile("(?m)^CREATE TABLE IF NOT EXISTS `{{raw}}`\\.`(\\w+){{local}}`")
