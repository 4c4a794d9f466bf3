package damage_test

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/engine/damage"
)

func TestAPartSaysHowManyRowsAreMissing(t *testing.T) {
	for rows, want := range map[uint64]string{
		0:      "set aside: rows that cannot be counted are missing",
		1:      "set aside: 1 row is missing",
		20_000: "set aside: 20,000 rows are missing",
	} {
		if text := (damage.Part{Database: "larder_raw", Table: "locations", Part: "all_1_1_0", Rows: rows}).String(); !strings.HasSuffix(text, want) {
			t.Errorf("%d rows: %q", rows, text)
		}
	}
}
