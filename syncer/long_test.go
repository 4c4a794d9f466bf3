//go:build long

package syncer

import (
	"testing"
	"time"
)

// TestNoDayOfABusyRestaurantDiffersFalselyForLong has two busy hours.
func TestNoDayOfABusyRestaurantDiffersFalselyForLong(t *testing.T) { noDayDiffersFalsely(t, 2) }

// TestDamageToABusyRestaurantIsFoundAndHealedForLong has two nights.
func TestDamageToABusyRestaurantIsFoundAndHealedForLong(t *testing.T) { damageIsFoundAndHealed(t, 2) }

// TestADayOfDifferentLists has a day instead of hours.
func TestADayOfDifferentLists(t *testing.T) { ofDifferentLists(t, 24*time.Hour) }

// TestWeeksOfSharedSources has two weeks instead of days.
func TestWeeksOfSharedSources(t *testing.T) { ofSharedSources(t, 14*day) }
