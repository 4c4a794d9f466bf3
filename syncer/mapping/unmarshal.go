package mapping

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	// duplicateNames leaves names that come twice to the mapper, which refuses a known one; an
	// unknown one twice is as little a reason to lose the row as once (docs/rules.md R9).
	duplicateNames = jsontext.AllowDuplicateNames(true)
	// lenient has what is no UTF-8 replaced, too. [Unmarshal] reads the last of what comes twice.
	lenient = json.JoinOptions(duplicateNames, jsontext.AllowInvalidUTF8(true))
)

// Unmarshal reads what is known of a row of the service. Unlike encoding/json it tells
// names apart by case: "Date" is a field that the service may add beside "date".
func Unmarshal(raw []byte, v any) error { return json.Unmarshal(raw, v, lenient) }
