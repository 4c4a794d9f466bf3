package server

import "strings"

// chunked are the formats whose chunks, written one after the other, are the
// whole answer; how is what their header must be cut from all but the first.
var chunked = map[string]header{
	"native": noHeader, "rowbinary": noHeader, "null": noHeader, "msgpack": noHeader,
	"tabseparated": noHeader, "tsv": noHeader, "tabseparatedraw": noHeader, "tsvraw": noHeader, "raw": noHeader,
	"csv": noHeader, "lineasstring": noHeader, "rawblob": noHeader,
	"jsoneachrow": noHeader, "jsonlines": noHeader, "ndjson": noHeader, "jsonstringseachrow": noHeader,
	"jsoncompacteachrow": noHeader, "jsoncompactstringseachrow": noHeader,
	"tabseparatedwithnames": oneLine, "tsvwithnames": oneLine, "tabseparatedrawwithnames": oneLine, "tsvrawwithnames": oneLine,
	"tabseparatedwithnamesandtypes": twoLines, "tsvwithnamesandtypes": twoLines,
	"jsoncompacteachrowwithnames": oneLine, "jsoncompacteachrowwithnamesandtypes": twoLines,
	"csvwithnames": oneRecord, "csvwithnamesandtypes": twoRecords,
}

// header is what stands at the head of each chunk of a format.
type header int

const (
	noHeader header = iota
	oneLine
	twoLines
	oneRecord // a line of CSV, which may have line ends in quotes
	twoRecords
)

// streams is true when a format can be sent chunk by chunk.
func streams(format string) bool {
	_, ok := chunked[strings.ToLower(format)]
	return ok
}

// withoutHeader cuts the header that a chunk repeats.
func withoutHeader(chunk []byte, format string) []byte {
	switch chunked[strings.ToLower(format)] {
	case oneLine:
		return skipLines(chunk, 1, false)
	case twoLines:
		return skipLines(chunk, 2, false)
	case oneRecord:
		return skipLines(chunk, 1, true)
	case twoRecords:
		return skipLines(chunk, 2, true)
	}
	return chunk
}

func skipLines(chunk []byte, n int, quotes bool) []byte {
	inside := false
	for i, c := range chunk {
		switch {
		case quotes && c == '"':
			inside = !inside
		case c == '\n' && !inside:
			if n--; n == 0 {
				return chunk[i+1:]
			}
		}
	}
	return nil
}

// contentType of an answer, as ClickHouse gives it.
func contentType(format string) string {
	switch f := strings.ToLower(format); {
	case strings.HasPrefix(f, "json") && strings.Contains(f, "eachrow"), f == "jsonlines", f == "ndjson":
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(f, "json"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(f, "csv"):
		return "text/csv; charset=UTF-8; header=" + present(strings.Contains(f, "withnames"))
	case strings.HasPrefix(f, "tabseparated"), strings.HasPrefix(f, "tsv"):
		return "text/tab-separated-values; charset=UTF-8"
	case f == "xml":
		return "application/xml; charset=UTF-8"
	case f == "native", strings.HasPrefix(f, "rowbinary"), strings.HasPrefix(f, "arrow"), f == "parquet", f == "orc", f == "avro", f == "msgpack":
		return "application/octet-stream"
	}
	return "text/plain; charset=UTF-8"
}

func present(yes bool) string {
	if yes {
		return "present"
	}
	return "absent"
}
