package exit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/larder-sync/larder/internal/exit"
)

// The outermost error that has a code says it, of joined ones the largest counts, and what was
// interrupted is a problem whatever it was doing.
func TestCode(t *testing.T) {
	plain := errors.New("x")
	usage, away := exit.UsageError(plain), exit.WarehouseError(plain)
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, exit.Done},
		{plain, exit.Problem},
		{fmt.Errorf("open: %w", away), exit.Warehouse},
		{errors.Join(plain, usage), exit.Usage},
		{errors.Join(away, usage), exit.Warehouse},
		{exit.UsageError(away), exit.Usage},
		{errors.Join(away, context.Canceled), exit.Problem},
	} {
		if got := exit.Code(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}
