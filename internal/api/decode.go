package api

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/larder-sync/larder/internal/api/types"
)

// Decode reads one row or object as T. Fields that T does not know are ignored
// (api.md, "Conventions"). Names are told apart by case: "Scopes" is a field that the
// service may add beside "scopes". What is decoded keeps no reference to raw, and so no
// page in memory.
func Decode[T any](raw Raw) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v, lenient, numbers); err != nil {
		return v, plainly(err)
	}
	return v, nil
}

// numbers keeps each [types.Number] as it is written. Without it the library takes one for a text.
var numbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, n *types.Number) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case '0':
		*n = types.Number(raw)
	case 'n':
		*n = ""
	default:
		return &json.SemanticError{GoType: reflect.TypeFor[types.Number]()}
	}
	return nil
}))

// plainly names the field that does not fit, and does not print the row.
func plainly(err error) error {
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return errors.New(brief(err.Error()))
	}
	text := fmt.Sprintf("what stands at %q does not fit %s", e.JSONPointer, e.GoType)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return errors.New(brief(text))
}
