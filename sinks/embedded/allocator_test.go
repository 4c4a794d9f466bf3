package embedded

import (
	"os"
	"strings"
	"testing"

	"github.com/larder-sync/larder/sinks/embedded/memory"
)

// TestAllocatorKeepsNothingInASmallEngine: what queries freed is kept for a moment only
// where there is room for it, and a person's own options stand.
func TestAllocatorKeepsNothingInASmallEngine(t *testing.T) {
	for limit, decay := range map[memory.Limit]string{
		memory.Min: "dirty_decay_ms:0,", ampleMemory - 1: "dirty_decay_ms:0,", ampleMemory: "dirty_decay_ms:1000,", 64 << 30: "dirty_decay_ms:1000,",
	} {
		if got := optionsSeen(t, limit); !strings.Contains(got, decay) {
			t.Errorf("an engine of %d MiB is loaded with %q, want %s", limit>>20, got, decay)
		}
	}
	t.Setenv(allocatorEnv, "narenas:1")
	if got := optionsSeen(t, ampleMemory); got != "narenas:1" {
		t.Errorf("a person's own options are %q, want narenas:1", got)
	}
}

// optionsSeen are the options in the environment while the library is loaded.
func optionsSeen(t *testing.T, limit memory.Limit) (seen string) {
	t.Helper()
	if err := withAllocator(limit, func() error { seen = os.Getenv(allocatorEnv); return nil }); err != nil {
		t.Fatal(err)
	}
	return seen
}
