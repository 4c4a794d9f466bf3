//go:build long

package budget

import (
	"testing"
	"time"
)

// TestHoursOfBackfillForLong has four hours instead of one.
func TestHoursOfBackfillForLong(t *testing.T) { backfilled(t, 4*time.Hour) }

// TestHoursOfEverythingForLong has three hours instead of one.
func TestHoursOfEverythingForLong(t *testing.T) { everythingAtOnce(t, 3*time.Hour) }

// TestKeysOfABusinessShareFairlyForLong has an hour instead of 20 minutes.
func TestKeysOfABusinessShareFairlyForLong(t *testing.T) { shareFairly(t, time.Hour) }

// TestKilledAgainAndAgainForLong has four seeds and half an hour of each.
func TestKilledAgainAndAgainForLong(t *testing.T) { killedAgainAndAgain(t, 4, 30*minute) }

// TestKilledAgainAndAgainUnderOtherLimitsForLong kills five times as many processes.
func TestKilledAgainAndAgainUnderOtherLimitsForLong(t *testing.T) { killedUnderOtherLimits(t, 5) }
