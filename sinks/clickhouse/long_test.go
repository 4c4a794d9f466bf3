//go:build long

package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/clickhouse"
	"github.com/larder-sync/larder/sinks/clickhouse/schema"
	"github.com/larder-sync/larder/sinks/sinktest"
)

// TestReadsOverNative runs the other parts of the suite over the native protocol:
// TestSinkOverNative has run the part about writing.
func TestReadsOverNative(t *testing.T) {
	_, fresh := overNative(t)
	sinktest.RunProof(t, fresh)
	sinktest.RunReads(t, fresh)
}

// TestLiveRowsByEveryCombination reads live rows by all combinations of conditions.
func TestLiveRowsByEveryCombination(t *testing.T) {
	sinktest.RunConditions(t, overHTTP(t))
}

// TestStoredRowsOfAllTables reads extreme values of every table back.
func TestStoredRowsOfAllTables(t *testing.T) {
	sinktest.RunStored(t, overHTTP(t))
}

// TestEachSessionSettingLeavesViewsAlone reads every view with the settings that
// TestSessionsSettingsLeaveViewsAlone has together, and with none.
func TestEachSessionSettingLeavesViewsAlone(t *testing.T) {
	s, database := migrated(t, clickhouse.Options{})
	for _, settings := range append([]string{""}, analysts...) {
		readViews(t, s, database, settings)
	}
}

// TestKeysOfViewsAreAskedAlone reads the key of each view and nothing else.
func TestKeysOfViewsAreAskedAlone(t *testing.T) {
	s, _ := migrated(t, clickhouse.Options{})
	for view, g := range schema.Guides() {
		query(t, s, "SELECT "+strings.Join(g.Key, ", ")+" FROM "+view, "TSV")
	}
}
