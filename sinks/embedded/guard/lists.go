package guard

import (
	_ "embed" // the lists are files
	"maps"
	"slices"
	"strings"
)

// What the read-only way in may do is said here; MayRead holds statements to it.

var readingKeywords = map[string]bool{
	"select": true, "with": true, "show": true, "describe": true,
	"desc": true, "explain": true, "exists": true,
}

// harmlessTableFunctions touch nothing but the warehouse; all others that the
// engine knows are refused. Not among them:
//
//   - merge, which names tables in strings
//   - format, which reads whatever the settings of a format name
//   - values, generateRandom and null, which read a string as declarations of columns, however
//     it is put together: 'a String ALIAS file(…)'
//   - primes, which looks for a large one for minutes, whoever cancels it
var harmlessTableFunctions = map[string]bool{
	"numbers": true, "numbers_mt": true, "zeros": true, "zeros_mt": true,
	"generateseries": true, "generate_series": true, "view": true,
}

// namesakes are refused table functions that share their name with a harmless
// function, format('{} of {}', a, b), or a keyword. The syntax tree tells the two
// apart.
var namesakes = map[string]bool{"format": true, "values": true}

// harmlessSystemTables show what there is and what goes on, but for what other readers ask
// (processes, query_cache): parameters stand in it as texts. Of the engine's other
// tables some start a program (models), signal every thread of the process
// (stack_trace) or read files (certificates, jemalloc_profile_text).
var harmlessSystemTables = map[string]bool{
	"one": true, "numbers": true, "numbers_mt": true, "zeros": true, "zeros_mt": true,
	"databases": true, "tables": true, "columns": true, "constraints": true, "parts": true, "parts_columns": true,
	"data_skipping_indices": true, "projections": true, "detached_parts": true, "dropped_tables": true,
	"functions": true, "aggregate_function_combinators": true, "table_functions": true, "table_engines": true,
	"database_engines": true, "data_type_families": true, "data_skipping_index_types": true, "formats": true,
	"codecs": true, "keywords": true, "documentation": true, "time_zones": true, "collations": true, "unicode": true,
	"completions": true, "dictionaries": true, "dictionary_layouts": true, "tokenizers": true,
	"settings": true, "settings_changes": true, "merge_tree_settings": true, "settings_profiles": true, "settings_profile_elements": true,
	"build_options": true, "contributors": true, "licenses": true, "macros": true, "clusters": true, "disks": true, "storage_policies": true,
	"merges": true, "mutations": true, "metrics": true, "events": true, "warnings": true,
	"users": true, "roles": true, "grants": true, "role_grants": true, "row_policies": true, "privileges": true,
	"current_roles": true, "enabled_roles": true, "quotas": true, "quota_limits": true, "quota_usage": true, "quotas_usage": true,
	"user_processes": true, "user_defined_functions": true, "view_refreshes": true, "dashboards": true,
}

// harmlessFormats are those that an answer may have. Others write files of their own
// (Protobuf makes a schema in /tmp, with the names of columns in it), read one that
// a setting names (Template, CapnProto), or reach a host (AvroConfluent). Avro keeps a row as a
// whole in memory that no limit counts, Npy an answer with each text as long as the longest.
var harmlessFormats = listed(`
		Native Null RowBinary RowBinaryWithNames RowBinaryWithNamesAndTypes RowBinaryWithDefaults RawBLOB LineAsString Hash
		TabSeparated TabSeparatedRaw TabSeparatedWithNames TabSeparatedWithNamesAndTypes TabSeparatedRawWithNames TabSeparatedRawWithNamesAndTypes
		TSV TSVRaw TSVWithNames TSVWithNamesAndTypes TSVRawWithNames TSVRawWithNamesAndTypes Raw RawWithNames RawWithNamesAndTypes
		CSV CSVWithNames CSVWithNamesAndTypes CustomSeparated CustomSeparatedWithNames CustomSeparatedWithNamesAndTypes
		JSON JSONStrings JSONCompact JSONCompactStrings JSONColumns JSONColumnsWithMetadata JSONCompactColumns JSONObjectEachRow
		JSONEachRow JSONStringsEachRow JSONEachRowWithProgress JSONStringsEachRowWithProgress JSONCompactEachRow JSONCompactEachRowWithNames
		JSONCompactEachRowWithNamesAndTypes JSONCompactStringsEachRow JSONCompactStringsEachRowWithNames JSONCompactStringsEachRowWithNamesAndTypes
		JSONCompactEachRowWithProgress JSONCompactStringsEachRowWithProgress JSONLines NDJSON JSONAsString JSONAsObject PrettyJSONEachRow PrettyJSONLines PrettyNDJSON BSONEachRow
		Pretty PrettyNoEscapes PrettyMonoBlock PrettyNoEscapesMonoBlock PrettyCompact PrettyCompactNoEscapes PrettyCompactMonoBlock PrettyCompactNoEscapesMonoBlock
		PrettySpace PrettySpaceNoEscapes PrettySpaceMonoBlock PrettySpaceNoEscapesMonoBlock
		Vertical Values SQLInsert TSKV XML Markdown MsgPack Parquet Arrow ArrowStream Buffers
		JSONL MD GeoJSON Prometheus LineAsStringWithNames LineAsStringWithNamesAndTypes`)

//go:embed reader-settings.txt
var readerSettings string

// maySet are the settings that may be changed from outside.
var maySet = listed(readerSettings)

// LimitsAnswer is true when a setting cuts answers short, or refuses long ones.
func LimitsAnswer(setting string) bool {
	for _, prefix := range []string{"max_result_", "max_rows_to_", "max_bytes_to_", "result_overflow_", "read_overflow_"} {
		if strings.HasPrefix(setting, prefix) {
			return true
		}
	}
	return setting == "limit" || setting == "offset"
}

// Settings are those that readers may change.
func Settings() []string { return slices.Sorted(maps.Keys(maySet)) }
