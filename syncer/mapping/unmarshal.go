package mapping

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient has the last come of what comes twice, and what is no UTF-8 replaced.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Unmarshal reads what is known of a row of the service. Unlike encoding/json it tells
// names apart by case: "Date" is a field that the service may add beside "date".
func Unmarshal(raw []byte, v any) error { return json.Unmarshal(raw, v, lenient) }
