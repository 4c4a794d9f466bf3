package mapping

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal reads what is known of a row of the service. Unlike encoding/json it tells
// names apart by case: "Date" is a field that the service may add beside "date". What
// comes twice comes last, and what is no UTF-8 is replaced, as in package compare.
func Unmarshal(raw []byte, v any) error {
	return json.Unmarshal(raw, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}
