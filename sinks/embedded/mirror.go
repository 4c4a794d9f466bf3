package embedded

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// MirrorOptions say how to open a mirror.
type MirrorOptions struct {
	Writer    string   // the data folder, which another process writes
	Scratch   string   // a folder of the mirror's own, see Prepare
	Databases []string // that readers may ask; the first is what those mean who name none
	Hidden    []string // that the views read, and readers need not see
	Memory    int64    // see Options
	Logger    *slog.Logger
}

// OpenMirror opens an engine that follows a data folder which another process writes, and
// cannot write it. Its tables are the writer's (see copyCatalogue) on a disk that is
// read-only; each looks for new parts once a second. Close it and open another when a
// table or a view has changed: what the columns are is read once.
func OpenMirror(ctx context.Context, o MirrorOptions) (*Engine, error) {
	process.Lock()
	defer process.Unlock()
	if process.open != nil {
		return nil, fmt.Errorf("%w, on %s", ErrOpen, process.open.path)
	}
	// On a disk that it can write, an engine does not look for new parts, and removes old ones.
	if file, err := os.OpenFile(filepath.Join(o.Writer, LockName), os.O_WRONLY, 0); err == nil {
		return nil, errors.Join(fmt.Errorf("mirror %s: this process can write it, and must not: see ExecConfined", o.Writer), file.Close())
	}
	limit, err := memory.Of(o.Memory)
	if err != nil {
		return nil, err
	}
	if err := loadLibrary(limit); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{
		path: o.data(), log: o.Logger, lib: process.lib, databases: o.Databases, settings: mirrorSettings(limit),
		args: []string{"clickhouse", "--path=" + o.data(), "--config-file=" + filepath.Join(o.conf(), mirrorConfigName)},
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if err := e.boot(); err != nil {
		return nil, err
	}
	e.stopper = &stopper{conn: e.anchor, log: e.log}
	e.pool = e.newPool(PoolOptions{Places: maxConns})
	e.stopped, e.stop = context.WithCancel(context.Background())
	if err := e.learn(nil); err != nil {
		e.quiet()
		e.disconnect()
		return nil, err
	}
	process.open = e
	return e, nil
}

// mirrorSettings are those of every connection of a mirror.
func mirrorSettings(limit memory.Limit) map[string]string {
	return Options{}.settings(limit)
}

// mirrorConfigName is the file of the engine's configuration.
const mirrorConfigName = "engine.xml"

// data is where a mirror's engine may write: what statements write aside, and its socket.
func (o MirrorOptions) data() string { return filepath.Join(o.Scratch, mirrorData) }

// conf is what a mirror's engine reads and cannot change: its rights among them.
func (o MirrorOptions) conf() string { return filepath.Join(o.Scratch, mirrorConf) }

// The parts of the scratch folder, see ExecConfined.
const (
	mirrorData = "data"
	mirrorConf = "conf"
)

// Prepare puts the configuration and the writer's catalogue into the scratch folder, which
// is empty. It comes before OpenMirror, and before the process is confined.
func (o MirrorOptions) Prepare() error {
	limit, err := memory.Of(o.Memory)
	if err != nil {
		return err
	}
	err = errors.Join(os.Mkdir(o.data(), 0o700), os.Mkdir(o.conf(), 0o700))
	for _, database := range append(o.Databases[:len(o.Databases):len(o.Databases)], o.Hidden...) {
		err = errors.Join(err, copyCatalogue(o.Writer, o.data(), database))
	}
	if err = errors.Join(err, o.writeConfig(limit)); err != nil {
		return fmt.Errorf("prepare the mirror of %s: %w", o.Writer, err)
	}
	return nil
}

// copyCatalogue gives a mirror a database of the writer: its file, and one for each table
// and view. The engine keeps them as ATTACH statements with the tables' UUIDs, so a copy
// names the same parts. A table becomes one on the mirror's disk, where it looks for new
// parts once a second.
func copyCatalogue(writer, scratch, database string) error {
	made, err := os.ReadFile(filepath.Join(writer, "metadata", database+".sql"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // it comes with the first migration
	}
	if err != nil {
		return err
	}
	_, rest, found := strings.Cut(string(made), "UUID '")
	uuid, _, ended := strings.Cut(rest, "'")
	if !found || !ended || len(uuid) < 3 {
		return fmt.Errorf("%s names no UUID: it is of another engine than this Larder needs", database+".sql")
	}
	within := filepath.Join("store", uuid[:3], uuid)
	for _, dir := range []string{filepath.Join(scratch, "metadata"), filepath.Join(scratch, within)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	tables, err := filepath.Glob(filepath.Join(writer, within, "*.sql"))
	if err != nil {
		return err
	}
	for _, table := range tables {
		text, err := os.ReadFile(table)
		if errors.Is(err, os.ErrNotExist) {
			continue // dropped meanwhile
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(scratch, within, filepath.Base(table)), []byte(mirrored(string(text))), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(scratch, "metadata", database+".sql"), made, 0o600)
}

// mirrored is the ATTACH statement of a table as a mirror has it. The engine writes each
// clause on a line of its own, and line ends within texts as \n.
func mirrored(attach string) string {
	if !strings.Contains(attach, "MergeTree") {
		return attach // a view
	}
	lines := strings.Split(strings.TrimSuffix(attach, "\n"), "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "SETTINGS "); ok {
			lines[i] = "SETTINGS storage_policy = 'mirror', refresh_parts_interval = 1, " + rest
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// mirrorConfig is the configuration of a mirror's engine. The disk is found read-only by
// the engine itself, once a second.
const mirrorConfig = `<clickhouse>
    <users_config>{users}</users_config>
    <logger>
        <console>false</console>
    </logger>
    <tmp_path>{scratch}/tmp/</tmp_path>
    <storage_configuration>
        <disks>
            <mirror>
                <type>local</type>
                <path>{writer}/</path>
            </mirror>
        </disks>
        <policies>
            <mirror><volumes><main><disk>mirror</disk></main></volumes></mirror>
        </policies>
    </storage_configuration>
    <local_disk_check_period_ms>1000</local_disk_check_period_ms>
    <max_temporary_data_on_disk_size>{temporary}</max_temporary_data_on_disk_size>
    <max_server_memory_usage>{memory}</max_server_memory_usage>
    <mark_cache_size>{cache}</mark_cache_size>
    <primary_index_cache_size>{cache}</primary_index_cache_size>
    <index_mark_cache_size>{cache}</index_mark_cache_size>
    <query_condition_cache_size>{cache}</query_condition_cache_size>
    <compiled_expression_cache_size>{cache}</compiled_expression_cache_size>
    <query_cache>
        <max_size_in_bytes>{cache}</max_size_in_bytes>
    </query_cache>
</clickhouse>
`

func (o MirrorOptions) writeConfig(limit memory.Limit) error {
	users := filepath.Join(o.conf(), "users.xml")
	if err := os.WriteFile(users, []byte(strings.Replace(usersConfig, "{grants}", o.grants(), 1)), 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(o.data(), "tmp"), 0o700); err != nil {
		return err
	}
	text := strings.NewReplacer(
		"{users}", escaped(users), "{scratch}", escaped(o.data()), "{writer}", escaped(o.Writer),
		"{memory}", number(int64(limit)), "{temporary}", number(TemporaryDisk/4), "{cache}", number(limit.Cache()),
	).Replace(mirrorConfig)
	return os.WriteFile(filepath.Join(o.conf(), mirrorConfigName), []byte(text), 0o600)
}

// grants let the mirror's user read, and stop its own statements.
func (o MirrorOptions) grants() string {
	list := []string{"GRANT SELECT ON system.*", "GRANT SELECT ON information_schema.*", "GRANT SELECT ON INFORMATION_SCHEMA.*", "GRANT KILL QUERY ON *.*"}
	for _, name := range o.Databases {
		list = append(list, "GRANT SHOW, SELECT ON `"+name+"`.*")
	}
	for _, name := range o.Hidden {
		list = append(list, "GRANT SELECT ON `"+name+"`.*")
	}
	var all strings.Builder
	for _, grant := range list {
		all.WriteString("\n                <query>" + escaped(grant) + "</query>")
	}
	return all.String()
}

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes everything
	return out.String()
}

// Vanished is a part that the mirror reads and that is not on the disk any more; empty when
// there is none. The engine notices parts that come, and those that another replaces. Of
// those that go without one (TRUNCATE, DROP PARTITION, DETACH) it learns only when it is
// started again: end the process then.
func (e *Engine) Vanished(ctx context.Context) (string, error) {
	var paths []byte
	err := e.pool.Use(ctx, Session{Database: "system"}, func(c *Conn) (err error) {
		paths, _, err = c.Query(ctx, "SELECT path FROM system.parts WHERE active", "TSVRaw")
		return err
	})
	if err != nil {
		return "", err
	}
	for path := range strings.Lines(string(paths)) {
		path = strings.TrimSuffix(path, "\n")
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return path, nil
		}
	}
	return "", nil
}
