package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MirrorOptions say how to open a mirror.
type MirrorOptions struct {
	Writer    string       // the data folder, which another process writes
	Scratch   string       // a folder of the mirror's own, see Prepare
	Databases []string     // that readers may ask; the first is what those mean who name none
	Hidden    []string     // that the views of those read, and readers neither see nor ask
	Memory    int64        // see Options
	Catalogue string       // of the writer as Prepare has copied it, see Changed
	Logger    *slog.Logger `json:"-"`
}

// OpenMirror opens an engine that follows a data folder which another process writes, and
// cannot write it. Its tables are the writer's (see copyCatalogue) on a disk that is
// read-only; each looks for new parts once a second. It ends with its process, and another
// process's takes its place when a table or a view has changed: what the columns are is read once.
func OpenMirror(o *MirrorOptions) (*Engine, error) {
	// On a disk that it can write, an engine does not look for new parts, and removes old ones.
	if file, err := os.OpenFile(filepath.Join(o.Writer, LockName), os.O_WRONLY, 0); err == nil {
		return nil, errors.Join(fmt.Errorf("mirror %s: this process can write it, and must not: see ExecConfined", o.Writer), file.Close())
	}
	limit, err := MemoryLimitOf(o.Memory)
	if err != nil {
		return nil, err
	}
	lib, err := library()
	if err != nil {
		return nil, err
	}
	e := &Engine{path: o.data(), spare: spareOfReaders, log: o.Logger, lib: lib, databases: o.Databases}
	if err := e.start(filepath.Join(o.conf(), mirrorConfigName), limit); err != nil {
		return nil, err
	}
	return e, nil
}

// mirrorConfigName is the file of the engine's configuration.
const mirrorConfigName = "engine.xml"

// data is where a mirror's engine may write: what statements write aside, and its socket.
func (o *MirrorOptions) data() string { return filepath.Join(o.Scratch, mirrorData) }

// conf is what a mirror's engine reads and cannot change: its rights among them.
func (o *MirrorOptions) conf() string { return filepath.Join(o.Scratch, mirrorConf) }

// The parts of the scratch folder, see ExecConfined.
const (
	mirrorData = "data"
	mirrorConf = "conf"
)

// Prepare puts the configuration and the writer's catalogue into the scratch folder, which
// is empty. It comes before OpenMirror, and before the process is confined.
func (o *MirrorOptions) Prepare() error {
	limit, err := MemoryLimitOf(o.Memory)
	if err != nil {
		return err
	}
	o.Catalogue, err = o.catalogue() // before it is copied: what changes meanwhile is a change
	err = errors.Join(err, os.Mkdir(o.data(), 0o700), os.Mkdir(o.conf(), 0o700))
	for _, database := range o.all() {
		err = errors.Join(err, copyCatalogue(o.Writer, o.data(), database))
	}
	err = errors.Join(err, writeDatabase(o.data(), partsDatabase, "ATTACH DATABASE _ UUID '"+partsUUID+"'\nENGINE = Atomic\n", partsUUID, map[string]string{"parts.sql": partsView}))
	if err = errors.Join(err, o.writeConfig(limit)); err != nil {
		return fmt.Errorf("prepare the mirror of %s: %w", o.Writer, err)
	}
	return nil
}

func (o *MirrorOptions) all() []string { return slices.Concat(o.Databases, o.Hidden) }

// catalogue is a text that changes with the writer's tables and views.
func (o *MirrorOptions) catalogue() (string, error) {
	sum := fnv.New128a()
	for _, database := range o.all() {
		files, err := catalogueOf(o.Writer, database)
		if err != nil {
			return "", err
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", err
			}
			fmt.Fprintln(sum, file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// catalogueOf are the files of a database and of its tables and views, the database's first;
// none when there is no such database.
func catalogueOf(writer, database string) ([]string, error) {
	attach := filepath.Join(writer, "metadata", database+".sql")
	text, err := os.ReadFile(attach)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it comes with the first migration
	}
	if err != nil {
		return nil, err
	}
	uuid, err := uuidOf(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", attach, err)
	}
	tables, err := filepath.Glob(filepath.Join(writer, storeOf(uuid), "*.sql"))
	return append([]string{attach}, tables...), err
}

func uuidOf(attach string) (string, error) {
	_, rest, found := strings.Cut(attach, "UUID '")
	uuid, _, ended := strings.Cut(rest, "'")
	if !found || !ended || len(uuid) < 3 {
		return "", errors.New("it names no UUID: it is of another engine than this Larder needs")
	}
	return uuid, nil
}

// copyCatalogue gives a mirror a database of the writer: its file, and one for each table
// and view. The engine keeps them as ATTACH statements with the tables' UUIDs, so a copy
// names the same parts. A table becomes one on the mirror's disk, where it looks for new
// parts once a second.
func copyCatalogue(writer, scratch, database string) error {
	files, err := catalogueOf(writer, database)
	if err != nil || len(files) == 0 {
		return err
	}
	made, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	uuid, err := uuidOf(string(made))
	if err != nil {
		return err
	}
	tables := map[string]string{}
	for _, file := range files[1:] {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // dropped meanwhile
		}
		if err != nil {
			return err
		}
		if text, ok := mirrored(string(text)); ok {
			tables[filepath.Base(file)] = text
		}
	}
	return writeDatabase(scratch, database, string(made), uuid, tables)
}

// storeOf is where the engine keeps what belongs to a database or table.
func storeOf(uuid string) string { return filepath.Join("store", uuid[:3], uuid) }

// writeDatabase writes the files of a database and its tables as the engine keeps them.
func writeDatabase(data, database, attach, uuid string, tables map[string]string) error {
	within := filepath.Join(data, storeOf(uuid))
	err := errors.Join(os.MkdirAll(filepath.Join(data, "metadata"), 0o700), os.MkdirAll(within, 0o700))
	for name, text := range tables {
		err = errors.Join(err, os.WriteFile(filepath.Join(within, name), []byte(text), 0o600))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(data, "metadata", database+".sql"), []byte(attach), 0o600))
}

// partsDatabase holds the view that Vanished asks: of hidden tables, system.parts itself
// shows readers nothing.
const (
	partsDatabase = "larder_reader"
	partsUUID     = "1a4de400-0000-4000-8000-000000000001"
	partsView     = "ATTACH VIEW _ UUID '1a4de400-0000-4000-8000-000000000002'\n(\n    `path` String\n)\nSQL SECURITY NONE\nAS SELECT path\nFROM system.parts\nWHERE active\n"
)

// mirrored is the ATTACH statement of a table or view as a mirror has it. The engine writes each
// clause on a line of its own, and line ends within texts as \n. A view may be asked by who
// may not ask the tables that it reads. (A row filter on those would not hold for it: a
// reader with one needs its grants on the tables, and views as they are.) Only tables of the
// MergeTree family can be followed: ok is false for others, which a mirror does not have.
func mirrored(attach string) (text string, ok bool) {
	if strings.HasPrefix(attach, "ATTACH VIEW ") {
		return strings.Replace(attach, "\n)\n", "\n)\nSQL SECURITY NONE\n", 1), true
	}
	lines := strings.Split(strings.TrimSuffix(attach, "\n"), "\n")
	for i, line := range lines {
		if engine, found := strings.CutPrefix(line, "ENGINE = "); found {
			name, _, _ := strings.Cut(engine, "(")
			ok = strings.HasSuffix(strings.TrimSpace(name), "MergeTree") && strings.HasPrefix(attach, "ATTACH TABLE ")
		}
		if rest, found := strings.CutPrefix(line, "SETTINGS "); found {
			lines[i] = "SETTINGS storage_policy = 'mirror', refresh_parts_interval = 1, " + rest
		}
	}
	return strings.Join(lines, "\n") + "\n", ok
}

// mirrorConfig is the configuration of a mirror's engine. The disk is found read-only by
// the engine itself, once a second.
const mirrorConfig = `<clickhouse>
    <users_config>{users}</users_config>
    <logger>
        <console>false</console>
    </logger>
    <tmp_policy>scratch</tmp_policy>
    <storage_configuration>
        <disks>
            <mirror>
                <type>local</type>
                <path>{writer}/</path>
            </mirror>
            <scratch>
                <type>local</type>
                <path>{scratch}/tmp/</path>
                <keep_free_space_bytes>{spare}</keep_free_space_bytes>
            </scratch>
        </disks>
        <policies>
            <mirror><volumes><main><disk>mirror</disk></main></volumes></mirror>
            <scratch><volumes><main><disk>scratch</disk></main></volumes></scratch>
        </policies>
    </storage_configuration>
    <local_disk_check_period_ms>1000</local_disk_check_period_ms>
    <max_temporary_data_on_disk_size>{temporary}</max_temporary_data_on_disk_size>
` + memoryConfig + `</clickhouse>
`

func (o *MirrorOptions) writeConfig(limit MemoryLimit) error {
	users := filepath.Join(o.conf(), "users.xml")
	if err := writeUsers(users, o.grants(), ""); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(o.data(), "tmp"), 0o700); err != nil {
		return err
	}
	text := strings.NewReplacer(
		"{users}", escaped(users), "{scratch}", escaped(o.data()), "{writer}", escaped(o.Writer),
		"{memory}", number(int64(limit)), "{temporary}", number(TemporaryDisk/4), "{cache}", number(limit.Cache()), "{spare}", number(spareOfReaders),
	).Replace(mirrorConfig)
	return os.WriteFile(filepath.Join(o.conf(), mirrorConfigName), []byte(text), 0o600)
}

// grants let the mirror's user read, and stop its own statements.
func (o *MirrorOptions) grants() []string {
	all := append(slices.Clone(everywhere), "GRANT SELECT ON "+partsDatabase+".parts")
	for _, name := range o.Databases {
		all = append(all, "GRANT SHOW, SELECT ON `"+name+"`.*")
	}
	return all
}

// Changed is true when the writer's tables or views are not those any more that Prepare has
// copied.
func (o *MirrorOptions) Changed() (bool, error) {
	now, err := o.catalogue()
	return now != o.Catalogue, err
}

// Written is how many bytes are in the part of the scratch folder that statements reach.
func (o *MirrorOptions) Written() (total int64, err error) {
	err = filepath.WalkDir(o.data(), func(_ string, file fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil && file.Type().IsRegular() {
			info, err = file.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone meanwhile
		}
		if info != nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// Vanished is a part that the mirror reads and that is not on the disk any more; empty when
// there is none. The engine notices parts that come, and those that another replaces. Of
// those that go without one (TRUNCATE, DROP PARTITION, DETACH) it learns only when it is
// opened again.
func (e *Engine) Vanished(ctx context.Context) (string, error) {
	var paths []byte
	err := e.pool.Use(ctx, "system", nil, func(c *Conn) (err error) {
		paths, _, err = c.Query(ctx, "SELECT path FROM "+partsDatabase+".parts", "TSVRaw")
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
