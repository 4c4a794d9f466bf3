package check

import (
	"context"
	"fmt"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/internal/text"
	"github.com/larder-sync/larder/sinks"
	"github.com/larder-sync/larder/syncer"
)

// checkPersonal says of each source whose stored orders hold more of their customers than its
// personal_data keeps that the daemon will erase that.
func (c Checker) checkPersonal(ctx context.Context, sink sinks.Sink, report func(Finding)) error {
	businesses, err := sink.Businesses(ctx)
	if err != nil {
		return lifecycle.WarehouseError(fmt.Errorf("warehouse: %w", err))
	}
	for i := range c.Warehouse.Config.Sources {
		s := &c.Warehouse.Config.Sources[i]
		policy, err := c.Sources.Policy(s)
		if err != nil {
			report(bad(lifecycle.ExitUsage, "", "source %s: personal_data: %v", s.Name, err))
			continue
		}
		n, err := syncer.HoldingMore(ctx, sink, businesses[s.Name], s.Name, policy)
		if err != nil {
			return lifecycle.WarehouseError(fmt.Errorf("source %s: personal_data: %w", s.Name, err))
		}
		if n > 0 {
			advice := "It is erased when the source is next served; to keep it, set personal_data back before that."
			if !s.PersonalDataWritten {
				advice = "Nobody has set personal_data. Set it to drop to have that erased, or to what it was."
			}
			report(warn(advice, "source %s: %s more of the customer than personal_data: %s keeps", s.Name, text.Counted(n, "stored order", "holds", "hold"), policy.Mode()))
		}
	}
	return nil
}
