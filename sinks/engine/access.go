package engine

import (
	"os"
	"slices"
	"strings"

	"github.com/larder-sync/larder/sinks/engine/sqltext"
)

// The engine's own access control still holds when every check of the server has been
// passed. The engine has one user. It may use the databases that the engine was opened
// for, and no other source of data. ACCESS_DENIED is the answer to file(), url(), remote(),
// tables with such an engine and the path tables of the database default. That holds on
// every connection, the daemon's own included, whatever its settings.
//
// No grant covers three things (docs/architecture/engine.md): the function file('…'), INTO OUTFILE, and
// settings that name files. The server's checks refuse those, and so does the kernel where
// it has Landlock (see ExecConfinedTo).
const usersConfig = `<clickhouse>
    <!-- Written by Larder at each start; changes made here are lost. -->
    <profiles><default>{constraints}</default></profiles>
    <quotas><default/></quotas>
    <users>
        <default>
            <password></password>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
            <grants>{grants}
            </grants>
        </default>
    </users>
</clickhouse>
`

// WritesFiles is the setting that has a SELECT write a file of any name. A mirror has the kernel
// for that. Elsewhere a statement cannot set it; a connection could, and the server does not let it.
const WritesFiles = "output_format_schema"

const writesNoFiles = "<constraints><" + WritesFiles + "><readonly/></" + WritesFiles + "></constraints>"

// everywhere are the grants that do not belong to a database.
var everywhere = []string{
	"GRANT SELECT ON system.*",
	"GRANT SELECT ON information_schema.*",
	"GRANT SELECT ON INFORMATION_SCHEMA.*",
	"GRANT KILL QUERY ON *.*",
}

const inDatabase = "GRANT SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, " +
	"DROP DATABASE, DROP TABLE, DROP VIEW, TRUNCATE, OPTIMIZE, CHECK, BACKUP ON "

func (o Options) databases() []string {
	if len(o.Databases) == 0 {
		return []string{"default"}
	}
	return o.Databases
}

// writeUsers writes the file that says what the engine's user may do.
func writeUsers(path string, grants []string, constraints string) error {
	var list strings.Builder
	for _, grant := range grants {
		list.WriteString("\n                <query>" + escaped(grant) + "</query>")
	}
	text := strings.NewReplacer("{grants}", list.String(), "{constraints}", constraints).Replace(usersConfig)
	return os.WriteFile(path, []byte(text), 0o600)
}

// grants are those of the engine's user on all of the databases.
func (o Options) grants() []string {
	all := append(slices.Clone(everywhere), "GRANT SYSTEM MERGES ON *.*")
	for _, name := range o.databases() {
		pattern := sqltext.QuoteIdentifier(name)
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			pattern = prefix + "*" // in quotes the star would be a letter of the name
		}
		all = append(all, inDatabase+pattern+".*")
	}
	return all
}
