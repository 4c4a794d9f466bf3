package embedded

import (
	"slices"
	"strings"
	"unicode"
)

// rights are what a way in may do.
type rights int

const (
	full rights = iota
	reading
)

// What the read-only way in may do is said here; mayRead holds statements to it.

var readingKeywords = map[string]bool{
	"select": true, "with": true, "show": true, "describe": true,
	"desc": true, "explain": true, "exists": true,
}

// deniedFunctions reach files, programs or other machines although readonly=1 is
// set and the engine's user has no source: file('…') reads any file, catboostEvaluate
// starts a program, the AI functions and hasColumnInTable open connections. A name of
// theirs is refused wherever it stands, since APPLY(file) calls too. A test holds
// the engine's list of functions against the one this was made from.
var deniedFunctions = map[string]bool{
	"file": true, "catboostevaluate": true, "python": true, "showcertificate": true,
	"hascolumnintable": true, "reversednsquery": true,
	// These read a text as declarations of columns, which may have expressions.
	"structuretocapnprotoschema": true, "structuretoprotobufschema": true,
	// These take the name of a format as a text: see harmlessFormats.
	"formatrow": true, "formatrownonewline": true,
	// These take the name of an aggregate function as a text, or read the state of one
	// from a text that names its type.
	"arrayreduce": true, "arrayreduceinranges": true, "initializeaggregation": true, "finalizeaggregation": true, "runningaccumulate": true,
	// Nested text ends the process: their reader of JSON looks at no stack.
	"jsonmergepatch": true, "prettyprintjson": true,
	// A single call of these goes on for minutes, whoever cancels it.
	"arraylevenshteindistance": true, "arraylevenshteindistanceweighted": true, "arraysimilarity": true,
	"levenshteindistance": true, "levenshteindistanceutf8": true, "editdistance": true, "editdistanceutf8": true,
	"dameraulevenshteindistance": true, "seriesdecomposestl": true, "seriesoutliersdetecttukey": true,
	"polygonsunioncartesian": true, "polygonsunionspherical": true, "polygonsintersectioncartesian": true, "polygonsintersectionspherical": true,
	"polygonssymdifferencecartesian": true, "polygonssymdifferencespherical": true, "polygonswithincartesian": true, "polygonswithinspherical": true,
	"polygonsdistancecartesian": true, "polygonsdistancespherical": true, "polygonsequalscartesian": true, "polygonconvexhullcartesian": true,
	"polygonsintersectcartesian": true, "polygonsintersectspherical": true, "geometryintersectcartesian": true, "geometryintersectspherical": true,
	"h3polygontocells": true, "h3polygontocellswithcontainment": true, "countsubstringscaseinsensitiveutf8": true, "extracttextfromhtml": true,
	// And these for ever: a path [0,0][0,0]… goes every way twice, and [0 to 1e19] counts.
	"json_query": true, "json_value": true, "json_exists": true,
	// These read a text as a statement, as slowly as its author likes.
	"formatquery": true, "formatqueryornull": true, "formatquerysingleline": true, "formatquerysinglelineornull": true,
	"highlightquery": true, "obfuscatequery": true, "obfuscatequerywithseed": true,
	"sleep": true, "sleepeachrow": true,
	// printf takes what a width says before anyone counts it. ICU takes the name of a
	// character set for that of a file.
	"printf": true, "convertcharset": true,
	// These make several values of one, or name a part of a value by its type.
	"untuple": true, "getsubcolumn": true,
	"aiclassify": true, "aiembed": true, "aiextract": true, "aigenerate": true, "aitranslate": true,
}

// deniedPrefixes are refused with whatever follows: the combinators of an aggregate
// function (groupFormatIf), and the other functions of a family. joinGet, classifiers and
// dictionaries take the name of a table for a path, and ask for no right. The parsers of
// Joda's patterns take time zones out of the data. groupFormat takes the name of a format as a text;
// kolmogorovSmirnovTest looks at nothing else for minutes; estimateCompressionRatio takes
// gigabytes that no limit counts, as many as the codec that it names wants.
var deniedPrefixes = []string{"groupformat", "kolmogorovsmirnovtest", "estimatecompressionratio", "dictget", "dicthas", "dictis", "joinget", "naivebayes", "catboost",
	"parsedatetimeinjodasyntax", "parsedatetime64injodasyntax"}

// deniedFunction says whether a name may stand nowhere in a statement.
func deniedFunction(name string) bool {
	lower := strings.ToLower(name)
	return deniedFunctions[lower] || slices.ContainsFunc(deniedPrefixes, func(denied string) bool { return strings.HasPrefix(lower, denied) })
}

// harmlessTableFunctions touch nothing but the warehouse; all others that the
// engine knows are refused. Not among them: merge, which names tables in strings;
// format, which reads whatever the settings of a format name; values,
// generateRandom and null, which read a string, however it is put together, as
// declarations of columns: 'a String ALIAS file(…)'; primes, which looks for a large one
// for minutes, whoever cancels it.
var harmlessTableFunctions = map[string]bool{
	"numbers": true, "numbers_mt": true, "zeros": true, "zeros_mt": true,
	"generateseries": true, "generate_series": true, "view": true,
}

// namesakes are refused table functions that share their name with a harmless
// function, format('{} of {}', a, b), or a keyword. The syntax tree tells the two
// apart.
var namesakes = map[string]bool{"format": true, "values": true}

// harmlessSystemTables tell what there is and what goes on, but for what other readers ask
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
// a setting names (Template, CapnProto), or reach a host (AvroConfluent).
var harmlessFormats = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`
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
		Vertical Values SQLInsert TSKV XML Markdown MsgPack Parquet Arrow ArrowStream Avro Npy Buffers
		JSONL MD GeoJSON Prometheus LineAsStringWithNames LineAsStringWithNamesAndTypes`) {
		all[strings.ToLower(name)] = true
	}
	return all
}()

// readingSetting says whether a setting may be changed from outside: such a one
// shapes an answer or makes its limits stricter, and names no file.
func readingSetting(name string) bool {
	if name == "join_algorithm" || strings.HasPrefix(name, "join_on_disk") {
		return false // some of the algorithms write to the disk, with no limit
	}
	if strings.HasPrefix(name, "output_format_orc_") || name == "output_format_parquet_row_group_size" || name == "output_format_parquet_geometadata" {
		return false // these name a file, make a row group of each row, and end the process
	}
	for _, prefix := range []string{"output_format_", "max_result_", "max_rows_to_", "max_bytes_to_", "join_", "date_time_"} {
		if strings.HasPrefix(name, prefix) && !strings.Contains(name, "schema") {
			return true
		}
	}
	switch name {
	case "max_execution_time", "timeout_overflow_mode", "result_overflow_mode", "read_overflow_mode",
		"max_threads", "max_block_size", "extremes", "final", "limit", "offset", "session_timezone",
		"readonly", "log_comment", "transform_null_in", "any_join_distinct_right_table_keys",
		"prefer_column_name_to_alias", "aggregate_functions_null_for_empty", "union_default_mode",
		"select_sequential_consistency", // which Metabase sends; it is about replicas
		"group_by_use_nulls", "data_type_default_nullable", "allow_experimental_analyzer", "enable_analyzer":
		return true
	}
	return false
}

func readonlyError(format string, args ...any) error {
	return refuse(codeReadonly, "READONLY", format, args...)
}

// restrict makes a request one of the read-only way in.
func (q *request) restrict() error {
	for name := range q.settings {
		if !readingSetting(name) {
			return readonlyError("Cannot modify '%s' setting in readonly mode", name)
		}
		if strings.ContainsFunc(q.settings[name], unicode.IsControl) {
			return refuse(codeBadArguments, "BAD_ARGUMENTS", "The value of setting '%s' cannot be read", name)
		}
	}
	q.settings["readonly"] = "1"
	return nil
}
