//go:build long

package syncer

import (
	"testing"
	"time"

	"github.com/larder-sync/larder/internal/sandbox"
)

// TestManyAppliesEndWellForLong has pages as long as the service's.
func TestManyAppliesEndWellForLong(t *testing.T) {
	manyApplies(t, sandbox.Options{Orders: 4000, Pace: 10})
}

// TestManyProcessesComeAndGoForLong has pages as long as the service's.
func TestManyProcessesComeAndGoForLong(t *testing.T) {
	manyProcesses(t, sandbox.Options{Orders: 3000, Pace: 20})
}

// TestDeepRunsOfManySourcesAreSpreadForLong has the walks of all lists beside the deep runs.
func TestDeepRunsOfManySourcesAreSpreadForLong(t *testing.T) {
	deepRunsAreSpread(t, func(w *world) { w.schedule.Incremental = "@every 2m" })
}

// TestNoDayOfABusyRestaurantDiffersFalselyForLong has two busy hours.
func TestNoDayOfABusyRestaurantDiffersFalselyForLong(t *testing.T) { noDayDiffersFalsely(t, 2) }

// TestDamageToABusyRestaurantIsFoundAndHealedForLong has two nights.
func TestDamageToABusyRestaurantIsFoundAndHealedForLong(t *testing.T) { damageIsFoundAndHealed(t, 2) }

// TestADayOfDifferentLists has a day instead of hours.
func TestADayOfDifferentLists(t *testing.T) { ofDifferentLists(t, 24*time.Hour) }

// TestWeeksOfSharedSources has two weeks instead of days.
func TestWeeksOfSharedSources(t *testing.T) { ofSharedSources(t, 14*day) }
