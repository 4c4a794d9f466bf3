package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// The outermost error that has a code says it, of joined ones the largest counts, and what was
// interrupted is a problem whatever it was doing.
func TestExitCode(t *testing.T) {
	plain := errors.New("x")
	usage, away := UsageError(plain), WarehouseError(plain)
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, ExitDone},
		{plain, ExitProblem},
		{fmt.Errorf("open: %w", away), ExitWarehouse},
		{errors.Join(plain, usage), ExitUsage},
		{errors.Join(away, usage), ExitWarehouse},
		{UsageError(away), ExitUsage},
		{errors.Join(away, context.Canceled), ExitProblem},
	} {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}
