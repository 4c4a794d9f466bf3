package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/sandbox/units"
)

// Spoil applies the faults on rows to one. It returns the row as it is to be served, and the
// faults that struck it.
func (b *Box) Spoil(row []byte, t Target, now int64) ([]byte, []Fault) {
	if b.active.Load() == 0 {
		return row, nil
	}
	var fields map[string]any
	parse := func() map[string]any {
		if fields == nil {
			fields = parseRow(row)
		}
		return fields
	}
	t.rowID = func() string { s, _ := parse()["id"].(string); return s }
	hits := b.Roll(Row, t)
	if len(hits) == 0 {
		return row, nil
	}
	b.mark(SpoiltRow{t.Business, t.Route, t.rowID()})
	duplicate := false
	for _, hit := range hits {
		if hit.Kind == DuplicateKeys {
			duplicate = true
			continue
		}
		spoil(hit.Kind, fields, now)
	}
	row = bytes.ReplaceAll(units.JSON(fields), []byte(halfMark), []byte(`\ud83c`))
	if duplicate {
		row = append([]byte(`{"updated_at":null,`), row[1:]...)
	}
	return row, hits
}

func (b *Box) mark(r SpoiltRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spoilt[r] = struct{}{}
}

// parseRow keeps numbers as they are written.
func parseRow(b []byte) map[string]any {
	row := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&row); err != nil {
		return map[string]any{"id": fmt.Sprintf("not an object: %v", err)}
	}
	return row
}

// spoil does to a row what a fault is named for, if the row has such a field.
func spoil(kind string, row map[string]any, now int64) {
	switch kind {
	case UnknownFields:
		addFields(row)
	case UnknownValues:
		newValues(row)
	case NoID:
		delete(row, "id")
	case PriceText:
		setAmount(row, "abc")
	case PriceDecimals:
		setAmount(row, "12.345")
	case NumberAsString:
		setFirst(row, 12345, "number", "name", "location_id")
	case YearOne:
		setFirst(row, "0001-01-01T00:00:00Z", "created_at", "deleted_at")
	case Future:
		ahead := time.UnixMicro(now).UTC().AddDate(10, 0, 0).Format(time.RFC3339)
		setFirst(row, ahead, "updated_at")
	case Null:
		setFirst(row, nil, "name", "location_id", "deleted")
	case HalfSurrogate:
		setFirst(row, "Pizza "+halfMark, "number", "name")
	}
}

// halfMark stands for half a surrogate pair until a row is JSON: no text of Go holds one.
const halfMark = "half of an emoji"

func setFirst(row map[string]any, value any, fields ...string) {
	for _, f := range fields {
		if _, ok := row[f]; ok {
			row[f] = value
			return
		}
	}
}

// setAmount sets the row's first amount or quantity.
func setAmount(row map[string]any, text string) {
	if totals, ok := row["totals"].(map[string]any); ok {
		totals["total"] = text
		return
	}
	setFirst(row, text, "price", "stock", "net_sales", "net")
}

// openMaps are the maps whose keys are data: another key there is no unknown
// field.
var openMaps = map[string]bool{"payments": true, "by_type": true, "by_channel": true, "channels": true}

func addFields(row map[string]any) {
	for name, v := range row {
		eachObject(v, func(o map[string]any) {
			if openMaps[name] {
				for _, inner := range o {
					eachObject(inner, addFields)
				}
				return
			}
			addFields(o)
		})
	}
	row["x_new_text"] = "nou"
	row["x_new_object"] = map[string]any{"deep": []any{1, "două", nil}}
}

// eachObject visits v if it is an object, or the objects of v if it is an array.
func eachObject(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
	case []any:
		for _, e := range v {
			eachObject(e, visit)
		}
	}
}

var enumFields = []string{"channel", "type", "unit", "method", "reason", "status"}

func newValues(row map[string]any) {
	for _, f := range enumFields {
		if _, ok := row[f].(string); ok {
			row[f] = "brand_new"
		}
	}
	for _, v := range row {
		eachObject(v, newValues)
	}
}
