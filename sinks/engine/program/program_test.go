package program

import (
	"os"
	"strings"
	"testing"
)

// Whoever calls it by hand is told so, and nothing is made.
func TestCalledByHand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, orders := range []string{"", "help", "[]", "null", "{}", `{"Role":"another"}`, `{"Writer":".","Scratch":"."}`} {
		if err := Main(orders); err == nil || !strings.Contains(err.Error(), "not by hand") {
			t.Errorf("larder engine %q: %v", orders, err)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("made is %v, %v", made, err)
	}
}
