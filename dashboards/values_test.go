package dashboards

import (
	"fmt"
	"reflect"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// pointer is where a value of a column goes.
func pointer(c driver.ColumnType) any { return reflect.New(c.ScanType()).Interface() }

// plainText is a value as a test compares it; NULL is the word null.
func plainText(into any) string {
	v := reflect.ValueOf(into).Elem()
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "null"
		}
		v = v.Elem()
	}
	if at, ok := v.Interface().(time.Time); ok {
		return at.Format(time.RFC3339)
	}
	return fmt.Sprint(v.Interface())
}
