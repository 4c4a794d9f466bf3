package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-sync/larder/internal/lifecycle"
	"github.com/larder-sync/larder/syncer/schedule"
)

// walkTime is what a walk that brings little takes at most, until it is durable.
const walkTime = 30 * time.Second

// errServedNoMore ends a visit whose host has gone.
var errServedNoMore = errors.New("the process that served the source has ended while it was verified: verify again")

// othersWalk waits until the process that serves the source has begun a walk of its
// schedule and ended it. A turn may be skipped for a walk under way, hence two. There is none
// to wait for when the job is off.
func (v *verification) othersWalk(ctx context.Context, j schedule.Job) error {
	name, times := v.stream.Source.Name, v.stream.Source.Timetable()
	if times.Off(j) {
		return nil
	}
	wait := 2*times.Interval(j, time.Now()) + walkTime
	v.stream.Source.Log.Info("waiting for the process that serves the source to walk", "stream", v.stream.Def.Name, "wait", wait)
	if !lifecycle.Pause(ctx, wait) {
		return context.Cause(ctx)
	}
	if !v.pass.servedElsewhere(name) {
		return fmt.Errorf("%s: %w", name, errServedNoMore)
	}
	return nil
}
