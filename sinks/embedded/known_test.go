package embedded

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The lists in readonly.go were made by someone who went through all that this
// version of the engine has. What a newer one adds is nobody's yet: look whether it
// reaches files, programs or other machines, put it on the list it belongs to, and
// then into testdata/engine-names.txt.
func TestEveryNameOfTheEngineWasLookedAt(t *testing.T) {
	content, err := os.ReadFile("testdata/engine-names.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(strings.TrimSpace(string(content)), "\n")
	out, _, err := openWarehouse(t).anchor.query(`SELECT what || ' ' || name FROM (
		SELECT 'function' AS what, name FROM system.functions
		UNION ALL SELECT 'table function', name FROM system.table_functions
		UNION ALL SELECT 'system table', name FROM system.tables WHERE database = 'system'
		UNION ALL SELECT 'format', name FROM system.formats WHERE is_output
		UNION ALL SELECT 'setting', name FROM system.settings
			WHERE match(name, '^(output_format_|max_result_|max_rows_to_|max_bytes_to_|join_|date_time_)')
		) ORDER BY what, name`, "TSVRaw")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); !slices.Contains(known, name) {
			t.Errorf("nobody has looked at the engine's %s", name)
		}
	}
	if len(known) < 1500 {
		t.Errorf("the list has %d names", len(known))
	}
}
