package engine

import (
	"encoding/xml"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Options says how to open an engine.
type Options struct {
	Path   string       // the data folder; created when it is not there
	Logger *slog.Logger // nil for none

	// Databases are those that statements may use beside the engine's own, the first
	// being what a reader means who names none. A name that ends in * stands for all
	// that begin so. None means the database default alone.
	Databases []string

	// Memory is the most that the engine may use, in bytes; 0 means 2 GiB, and less
	// than [MinMemory] is refused. A query that would need more than its part fails,
	// alone; see [MemoryLimit].
	Memory int64
}

// What is left free on the disk, by inserts and merges, and by what readers' statements put aside:
// these end first.
const (
	spareDisk      = 128 << 20
	spareOfReaders = 512 << 20
)

// BackupFolder is where, in the data folder, the engine writes backups and reads them: it
// may be confined to that folder. What a finished backup consists of is moved out of it.
const BackupFolder = "backup-tmp"

// TemporaryDisk is what statements may write aside, all together, when they sort or
// group more than fits into memory.
const TemporaryDisk = 4 << 30

// defaultSettings are what docs/architecture/engine.md measured as worth setting. The session's
// time zone is fixed so that a DateTime reads the same on every machine.
var defaultSettings = map[string]string{
	"optimize_on_insert":                 "0",
	"optimize_move_to_prewhere_if_final": "1",
	"session_timezone":                   "UTC",
	"allow_introspection_functions":      "0",
	"implicit_select":                    "0", // a mistyped word is no expression
	"output_format_parquet_geometadata":  "0", // with it a column of type Geometry ends the process
}

// settingsOf are those of every connection.
func settingsOf(limit MemoryLimit) map[string]string {
	all := maps.Clone(defaultSettings)
	all["max_memory_usage"] = number(limit.Statement())
	all["max_untracked_memory"] = number(limit.Untracked())
	return all
}

// serverConfig is the engine's own configuration. It goes into a file because
// the engine ignores settings of MergeTree on its command line, without a word.
// Caches are cut from gigabytes to what a warehouse of this size can use. Parts are merged
// when there are some ten of a size, not five: the engine takes all below 5 MiB for alike, so that a
// table of a few megabytes that gets a row a second was written anew, whole, every few seconds. The
// space kept free makes inserts and merges fail before the disk is full; see
// guardWrites for why that matters. A part that cannot be loaded never keeps a table
// from being opened: it is reported, see package damage. The engine's own console log, which it writes
// whenever it finds itself on a terminal, is off: failures come back as answers,
// and each insert would print "<Fatal> ThreadStatus: current_thread contains
// invalid address". That is the engine's own mistake, and harmless. It hands the data of
// an insert stream to a thread of its pool, which registers itself twice: the pool's
// object, and the stream's inside it. The inner one clears the registration when it ends.
// The outer one ends next, misses it and says so. The memory of a process stayed the same
// over 100,000 inserts.
const serverConfig = `<clickhouse>
    <!-- Written by Larder at each start; changes made here are lost. -->
    <users_config>{users}</users_config>
    <logger>
        <console>false</console>
    </logger>
    <merge_tree>
        <default_compression_codec>ZSTD(1)</default_compression_codec>
        <fsync_after_insert>1</fsync_after_insert>
        <fsync_part_directory>1</fsync_part_directory>
        <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
        <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
        <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
        <merge_selector_base>10</merge_selector_base>
        <merge_max_block_size_bytes>{block}</merge_max_block_size_bytes>
        <max_suspicious_broken_parts>1000000</max_suspicious_broken_parts>
        <max_suspicious_broken_parts_bytes>1000000000000000</max_suspicious_broken_parts_bytes>
    </merge_tree>
    <storage_configuration>
        <disks>
            <default>
                <keep_free_space_bytes>{spare}</keep_free_space_bytes>
            </default>
        </disks>
    </storage_configuration>
    <backups>
        <allowed_path>{backups}</allowed_path>
    </backups>
    <max_temporary_data_on_disk_size>{temporary}</max_temporary_data_on_disk_size>
    <merges_mutations_memory_usage_soft_limit>{merges}</merges_mutations_memory_usage_soft_limit>
    <background_pool_size>{threads}</background_pool_size>
    <background_merges_mutations_concurrency_ratio>1</background_merges_mutations_concurrency_ratio>
` + memoryConfig + `</clickhouse>
`

// memoryConfig bounds an engine and each of its caches, see [MemoryLimit]. Against its bound it
// counts what it allocates. By default it looks every 50 ms at how much its control group holds,
// and takes that for its own: in a container, and under systemd, that is what the daemon and the
// other engine hold as well, and statements are refused that have room.
const memoryConfig = `    <max_server_memory_usage>{memory}</max_server_memory_usage>
    <memory_worker_use_cgroup>0</memory_worker_use_cgroup>
    <memory_worker_period_ms>1000000000</memory_worker_period_ms>
    <mark_cache_size>{cache}</mark_cache_size>
    <primary_index_cache_size>{cache}</primary_index_cache_size>
    <index_mark_cache_size>{cache}</index_mark_cache_size>
    <query_condition_cache_size>{cache}</query_condition_cache_size>
    <compiled_expression_cache_size>{cache}</compiled_expression_cache_size>
    <query_cache>
        <max_size_in_bytes>{cache}</max_size_in_bytes>
    </query_cache>
`

func (o Options) writeConfig(folder string, limit MemoryLimit) (string, error) {
	users := filepath.Join(folder, "larder-engine-users.xml")
	if err := writeUsers(users, o.grants(), writesNoFiles); err != nil {
		return "", Unwritable(folder, err)
	}
	path := filepath.Join(folder, "larder-engine.xml")
	text := strings.NewReplacer(
		"{users}", escaped(users), "{backups}", escaped(filepath.Join(folder, BackupFolder)),
		"{memory}", number(int64(limit)), "{merges}", number(limit.Merges()), "{threads}", number(limit.MergeThreads()),
		"{block}", number(limit.MergeBlock()), "{temporary}", number(TemporaryDisk), "{cache}", number(limit.Cache()), "{spare}", number(spareDisk),
	).Replace(serverConfig)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", Unwritable(folder, err)
	}
	return path, nil
}

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes everything
	return out.String()
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// settingArgs turns settings into arguments of a connection, in order. readonly
// comes last: the engine takes no other setting after it.
func settingArgs(settings map[string]string) []string {
	args := make([]string, 0, len(settings))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if name != "readonly" {
			args = append(args, "--"+name+"="+settings[name])
		}
	}
	if value, ok := settings["readonly"]; ok {
		args = append(args, "--readonly="+value)
	}
	return args
}
